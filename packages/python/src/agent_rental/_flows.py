"""The steps of each method. A flow does no input and output: it yields calls of generated methods."""

from __future__ import annotations

import base64
import json
import time
import uuid
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import Any, TypeAlias, TypedDict, TypeVar, assert_never

import httpx
from httpx_sse import ServerSentEvent, SSEError

from ._input import check_input
from .errors import ApiError, ConnectionFailedError, UntrustedTransactionError
from .generated.api.listings import get_listing
from .generated.api.rentals import create_transaction, submit_transaction, verify_credential
from .generated.api.runs import execute
from .generated.errors import UnexpectedStatus
from .generated.models import (
    CredentialVerification,
    DoneEvent,
    EndedRun,
    ErrorDetails,
    Listing,
    OutputEvent,
    RentalModel,
    Run,
    RunProgress,
    SubmittedTransaction,
    TransactionProposal,
)
from .generated.models.error_details_code import ErrorDetailsCode
from .generated.models.run_status import RunStatus
from .generated.types import Unset
from .solana.proposal import CheckedProposal, check_proposal
from .solana.spend import DecodedQuote
from .spending import SpendingPolicy, SpendingRequest
from .wallet import Wallet

T = TypeVar("T")

Json: TypeAlias = Any
"""A JSON value."""
Input: TypeAlias = str | Mapping[str, Json] | None
"""The input of a task, in the form of the agent's input_schema."""
Approve: TypeAlias = Callable[[DecodedQuote], bool]
"""Gets a transaction's cost, decoded from its bytes. Only ``True`` approves."""

_MAX_TRANSACTIONS = 5
"""How often a transaction is made for a slow person."""


@dataclass(frozen=True)
class Call:
    """A call of a generated method."""

    method: ModuleType
    arguments: dict[str, Any]


Flow: TypeAlias = Generator[Call, Any, T]
"""Yields a call, and gets the generated method's response."""


class Body(dict[str, Any]):
    """A request's body, in place of a generated model."""

    def to_dict(self) -> dict[str, Any]:
        """The body without absent members."""
        return {name: value for name, value in self.items() if value is not None}


@dataclass(frozen=True)
class ClientTerms:
    """The client's parts that flows use."""

    wallet: Wallet | None
    policy: SpendingPolicy | None
    program_id: str | None


class RunTerms(TypedDict, total=False):
    """The terms of one run."""

    idempotency_key: str
    """Two requests with the same key are one run, paid once. Default: a new key, which retries share."""
    input_uri: str
    """A file as the input, in place of a value."""
    timeout_seconds: int
    version: int
    """Of the agent; default: the latest."""


def with_key(terms: RunTerms) -> RunTerms:
    """The terms, with a new key where they have none."""
    return {"idempotency_key": str(uuid.uuid4()), **terms}


def _body_of(agent_id: str, task: str, given: Input, terms: RunTerms) -> Body:
    check_input(given)
    rest = {name: value for name, value in terms.items() if name != "idempotency_key"}
    return Body(agent_id=agent_id, task=task, input=given, **rest)


@contextmanager
def readable() -> Iterator[None]:
    """A break of an answer, or an answer of another form, is a lost connection."""
    try:
        yield
    except (httpx.TransportError, SSEError, UnexpectedStatus, AttributeError, KeyError, ValueError, TypeError) as error:
        raise ConnectionFailedError("The answer broke off, or could not be read.") from error


def call(method: ModuleType, kind: type[T], **arguments: Any) -> Flow[T]:
    """One call, with an answer of that type."""
    answer = (yield Call(method, arguments)).parsed
    if not isinstance(answer, kind):
        raise ConnectionFailedError("The answer is of another kind than the request.")
    return answer


def whole(method: ModuleType, **arguments: Any) -> Flow[dict[str, Json]]:
    """One call, with the answer's JSON as it came: a model would lose signed details."""
    answer = yield Call(method, arguments)
    with readable():
        return dict(json.loads(answer.content))


def about_listing(agent_id: str) -> Flow[Listing]:
    """A listing, which is the requested one."""
    listing = yield from call(get_listing, Listing, id=agent_id)
    if listing.id != agent_id:
        raise ConnectionFailedError(f"The marketplace answered about another listing than {agent_id}.")
    return listing


def credential_of(agent_id: str) -> Flow[CredentialVerification]:
    """The caller's rental of a listing, which is the requested one."""
    credential = yield from call(verify_credential, CredentialVerification, listing_id=agent_id)
    if credential.listing_id != agent_id:
        raise ConnectionFailedError(f"The marketplace answered about another listing than {agent_id}.")
    return credential


def inspect(client: ClientTerms, request: Mapping[str, Any], is_approved: bool = True) -> Flow[CheckedProposal]:
    """A marketplace's transaction for a request, checked. Its cost is decoded from its bytes.

    :raises ValueError: for a client without a wallet
    """
    wallet = wallet_of(client)
    proposal = yield from call(create_transaction, TransactionProposal, body=Body(request))
    checked = check_proposal(
        proposal.to_dict(), request, wallet.address, program_id=client.program_id, is_approved=is_approved
    )
    return checked


def wallet_of(client: ClientTerms) -> Wallet:
    """The wallet that pays. :raises ValueError: for a client without one."""
    if client.wallet is None:
        raise ValueError("The client has no wallet to pay with.")
    return client.wallet


def spending_of(agent_id: str, cost: DecodedQuote) -> SpendingRequest:
    """A payment as a spend, for the policy."""
    return SpendingRequest("rental", agent_id, cost.total_lamports, cost.max_run_lamports or 0)


def pay(client: ClientTerms, request: Mapping[str, Any], approve: Approve | None) -> Flow[CredentialVerification]:
    """Gets a transaction, checks it, has its cost approved, signs and submits it.

    A signed payment stays counted by the policy, also where the marketplace reports a refusal: it may still land.

    :raises UntrustedTransactionError, SpendingRefusedError, ApprovalRequiredError: nothing was signed
    :raises ConnectionFailedError: it may have been paid
    """
    wallet, policy = wallet_of(client), client.policy
    agreed: DecodedQuote | None = None
    settle: Callable[[int], None] = _nothing
    for _ in range(_MAX_TRANSACTIONS):
        asked_at = time.monotonic()
        proposal = yield from call(create_transaction, TransactionProposal, body=Body(request))
        try:
            checked = check_proposal(
                proposal.to_dict(),
                request,
                wallet.address,
                program_id=client.program_id,
                is_approved=policy is not None or approve is not None,
            )
            if checked.quote != agreed:
                settle(0)
                settle = _nothing
                if policy is not None:
                    settle = policy.reserve(spending_of(request["listing_id"], checked.quote))
                if approve is not None and approve(checked.quote) is not True:
                    raise UntrustedTransactionError("declined", "was not approved")
                agreed = checked.quote
        except BaseException:
            settle(0)
            raise
        # A blockhash lives some 30 s: a late transaction is made anew, with a new approval where its cost differs.
        if time.monotonic() - asked_at >= proposal.sign_within_seconds:
            continue
        signed = base64.b64encode(wallet.sign_transaction(checked.wire)).decode()
        if policy is not None and checked.quote.max_run_lamports is not None:
            policy.note_agreed(request["listing_id"], checked.quote.max_run_lamports)
        submitted = yield from call(
            submit_transaction, SubmittedTransaction, body=Body(transaction=signed, request=dict(request))
        )
        if policy is not None and checked.quote.max_run_lamports is not None:
            policy.confirm_agreed(request["listing_id"], checked.quote.max_run_lamports)
        if isinstance(submitted.credential, Unset):
            return (yield from credential_of(request["listing_id"]))
        return submitted.credential
    settle(0)
    text = f"The approval came too late {_MAX_TRANSACTIONS} times. Nothing was sent. Approve within 20 s."
    raise ApiError(ErrorDetails(ErrorDetailsCode.INVALID_REQUEST, text, 400))


def _nothing(_: int) -> None:
    """Settles a spend that no policy counts."""


def request_of(action: str, agent_id: str, **terms: Any) -> dict[str, Any]:
    """The body of ``POST /v1/transactions``."""
    return Body(action=action, listing_id=agent_id, **terms).to_dict()


def reserve_run(client: ClientTerms, agent_id: str) -> Flow[Callable[[int], None]]:
    """Counts a run by the policy, at the higher of the told and the agreed price.

    :returns: records the run's cost
    """
    policy = client.policy
    if policy is None:
        return _nothing
    listing = yield from about_listing(agent_id)
    return policy.reserve(SpendingRequest("run", agent_id, policy.most_of_run(agent_id, price_of_run(listing))))


def price_of_run(listing: Listing) -> int:
    """The told price of one run of a rental."""
    match listing.rental_model:
        case RentalModel.PER_QUERY:
            return listing.price_lamports
        case RentalModel.ONE_TIME | RentalModel.SUBSCRIPTION:
            return 0
        case model:
            assert_never(model)


def run(client: ClientTerms, agent_id: str, task: str, given: Input, terms: RunTerms) -> Flow[Run]:
    """Runs a task and waits for its end. A run that the API refuses before its start costs nothing."""
    settle = yield from reserve_run(client, agent_id)
    try:
        body, key = _body_of(agent_id, task, given, terms), terms["idempotency_key"]
        ended = yield from call(execute, Run, body=body, idempotency_key=key)
    except ApiError as error:
        if error.run_id is None and error.status < 500:
            settle(0)
        raise
    settle(ended.cost_lamports)
    return ended


def stream_request(agent_id: str, task: str, given: Input, terms: RunTerms) -> dict[str, Any]:
    """The request of a stream, for httpx."""
    headers = {"accept": "text/event-stream", "idempotency-key": terms["idempotency_key"]}
    return {"json": _body_of(agent_id, task, given, terms).to_dict(), "headers": headers}


def state_of(method: ModuleType, run_id: str, wait_seconds: int) -> Flow[EndedRun | RunProgress]:
    """The state of a run."""
    state = (yield Call(method, {"run_id": run_id, "prefer": f"wait={wait_seconds}"})).parsed
    if not isinstance(state, EndedRun | RunProgress):
        raise ConnectionFailedError("The answer is of another kind than the request.")
    return state


def piece_of(event: ServerSentEvent | None, agent_id: str) -> str | Run | None:
    """The piece of an event: text, or the run at its end. None for an event of a later API.

    :raises ValueError, KeyError, TypeError: for an unreadable event, or the end of the stream
    """
    if event is None:
        raise ValueError("The stream ended before the run was done.")
    if event.event == "output":
        return OutputEvent.from_dict(json.loads(event.data)).delta
    if event.event != "done":
        return None
    done = DoneEvent.from_dict(json.loads(event.data))
    return Run(
        run_id=done.run_id,
        agent_id=agent_id,
        status=RunStatus(done.status.value),
        output=None if isinstance(done.output, Unset) else done.output,
        cost_lamports=done.cost_lamports,
        duration_ms=done.duration_ms,
        joined=done.joined,
        trial=done.trial,
    )
