"""One request with its retries. It does no input and output: httpx's two kinds of transports carry it out."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import anyio
import httpx

from .errors import ApiError, ConnectionFailedError
from .generated.models.error_details import ErrorDetails
from .generated.models.error_envelope import ErrorEnvelope

_RETRIED_STATUS = {429, 500, 503}
_FIRST_BACKOFF_SECONDS = 0.25
_MOST_BACKOFF_SECONDS = 8.0
_RETRY_AFTER_MOST_SECONDS = 60.0
"""The caller decides on longer waits."""

_REPEATABLE = re.compile(
    r"POST /v1/(execute|execute/stream|transactions|transactions/submit|runs/cancel|runs/[^/]+/cancel"
    r"|listings/[^/]+/(reviews|reports))"
    r"|PUT .*|DELETE /v1/api-keys/.*"
)
"""Requests that have the same effect once and twice. A run has its key, and a transaction lands at most once."""


@dataclass(frozen=True)
class Pause:
    """A wait before the next try."""

    seconds: float


Step: TypeAlias = httpx.Request | Pause
Exchange: TypeAlias = Generator[Step, "httpx.Response | httpx.TransportError | None", httpx.Response]
"""Yields a request or a pause, and gets the request's answer, read unless it is a successful stream, or its failure."""


class Authentication(Protocol):
    """Gives the value of the ``Authorization`` header."""

    def header(self) -> Generator[httpx.Request, httpx.Response | httpx.TransportError | None, str]:
        """Yields the requests of a login, if one is needed."""

    def renew(self) -> bool:
        """Called after a refused token; true where another try makes sense."""


class ApiKey:
    """Authenticates with an API key."""

    def __init__(self, api_key: str) -> None:
        """Makes the authentication of a key."""
        self._header = f"Bearer {api_key}"

    def header(self) -> Generator[httpx.Request, httpx.Response | httpx.TransportError | None, str]:
        """The key as a bearer."""
        return self._header
        yield  # Without a request it is a generator all the same.

    def renew(self) -> bool:
        """A refused key stays refused."""
        return False


def exchange(request: httpx.Request, authentication: Authentication | None, retries: int) -> Exchange:
    """Sends a request, again after a 429, 500, 503 or a lost connection where that is safe.

    :raises ApiError, ConnectionFailedError:
    """
    repeatable = request.method in ("GET", "HEAD") or bool(
        _REPEATABLE.fullmatch(f"{request.method} {request.url.path}")
    )
    renewed = False
    # The error of the first try that started a run. It must not be lost: the run may have been charged.
    first: ApiError | None = None
    attempt = 0
    while True:
        failure: ApiError | ConnectionFailedError
        try:
            if authentication is not None:
                request.headers["authorization"] = yield from authentication.header()
            response = yield request
            if isinstance(response, httpx.Response) and response.is_success:
                return response
            failure = failure_of(response)
        except (ApiError, ConnectionFailedError) as error:
            failure = error
        if isinstance(failure, ApiError):
            if failure.code == "jwt_expired" and not renewed and authentication is not None:
                renewed = True
                if authentication.renew():
                    continue
            if failure.run_id is not None and first is None:
                first = failure
        temporary = isinstance(failure, ConnectionFailedError) or failure.status in _RETRIED_STATUS
        asked = failure.retry_after_seconds if isinstance(failure, ApiError) else None
        too_long = asked is not None and asked > _RETRY_AFTER_MOST_SECONDS
        if not repeatable or not temporary or attempt >= retries or too_long:
            raise _after_retries(failure, first)
        yield Pause(_backoff_seconds(attempt) if asked is None else asked)
        attempt += 1


def failure_of(answer: httpx.Response | httpx.TransportError | None) -> ApiError | ConnectionFailedError:
    """The error of an unsuccessful answer. The answer of another server gives a general one."""
    if not isinstance(answer, httpx.Response):
        return ConnectionFailedError(
            "The marketplace could not be reached, or its answer not read "
            f"({type(answer).__name__ if answer else 'no answer'})."
        )
    try:
        envelope = ErrorEnvelope.from_dict(answer.json())
        if not isinstance(envelope.error, ErrorDetails):
            raise ValueError
    except (ValueError, KeyError, TypeError, AttributeError):
        return ConnectionFailedError(f"The answer (HTTP {answer.status_code}) is not from the marketplace's API.")
    try:
        retry_after: float | None = float(answer.headers["retry-after"])
    except (KeyError, ValueError):
        retry_after = None
    return ApiError(envelope.error, retry_after_seconds=retry_after)


def _after_retries(last: ApiError | ConnectionFailedError, first: ApiError | None) -> ApiError | ConnectionFailedError:
    """The last error of a request, with the first run of the request and that run's error."""
    if first is None or first is last or first.run_id is None:
        return last
    earlier = f" The first try began run {first.run_id}: {first.reason}"
    last.message += earlier
    last.args = (last.message,)
    last.run_id = first.run_id
    return last


def _backoff_seconds(attempt: int) -> float:
    """Exponential with full jitter, so that many clients do not retry at the same time."""
    return random.uniform(0, min(_MOST_BACKOFF_SECONDS, _FIRST_BACKOFF_SECONDS * 2.0**attempt))


def is_stream(response: httpx.Response) -> bool:
    """Whether an answer is a successful stream, which its reader reads."""
    return response.is_success and response.headers.get("content-type", "").startswith("text/event-stream")


def whole(response: httpx.Response) -> httpx.Response:
    """A read answer, as a transport gives it."""
    headers = [
        (name, value)
        for name, value in response.headers.multi_items()
        if name not in ("content-encoding", "content-length", "transfer-encoding")
    ]
    return httpx.Response(response.status_code, headers=headers, content=response.content)


Start: TypeAlias = Callable[[httpx.Request], Exchange]


def shielded() -> anyio.CancelScope:
    """Lets a cancelled coroutine finish a short work."""
    return anyio.CancelScope(shield=True)


def unshielded() -> AbstractContextManager[None]:
    """As :func:`shielded`, for threads."""
    return nullcontext()
