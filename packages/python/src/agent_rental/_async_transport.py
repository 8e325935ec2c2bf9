"""Retries and login below the client. ``hatch_build.py`` makes the transport for threads from it."""

from __future__ import annotations

import anyio
import httpx

from ._exchange import Pause, Start, Step, is_stream, whole


class AsyncTransport(httpx.AsyncBaseTransport):
    """Carries out exchanges over another transport."""

    def __init__(self, inner: httpx.AsyncBaseTransport, start: Start) -> None:
        """Makes the transport; ``start`` begins the exchange of a request."""
        self._inner, self._start = inner, start

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Sends one request of a client."""
        steps = self._start(request)
        try:
            step = next(steps)
            while True:
                step = steps.send(await self._carry_out(step))
        except StopIteration as ended:
            response: httpx.Response = ended.value
            return response

    async def _carry_out(self, step: Step) -> httpx.Response | httpx.TransportError | None:
        if isinstance(step, Pause):
            await anyio.sleep(step.seconds)
            return None
        try:
            response = await self._inner.handle_async_request(step)
            if is_stream(response):
                return response
            await response.aread()
            await response.aclose()
            return whole(response)
        except httpx.TransportError as error:
            return error

    async def aclose(self) -> None:
        """Closes the connections."""
        await self._inner.aclose()
