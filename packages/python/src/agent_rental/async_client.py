"""The client. ``hatch_build.py`` makes the one for threads from it, so that both have the same methods."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Self, TypeVar, Unpack

import httpx
from httpx_sse import EventSource

from . import _flows as flows
from . import hire as hiring
from ._async_transport import AsyncTransport
from ._exchange import ApiKey, Authentication, Exchange, exchange, shielded
from ._flows import Approve, Flow, Input, Json, RunTerms
from .errors import ApiError, ConnectionFailedError
from .generated.api.listings import search_listings
from .generated.api.runs import cancel_run, get_receipt, get_run
from .generated.api.service import get_receipt_keys
from .generated.client import AuthenticatedClient
from .generated.models import (
    Cancellation,
    Category,
    CredentialVerification,
    EndedRun,
    Listing,
    ListingPage,
    RentalModel,
    Run,
    RunProgress,
    SearchListingsSort,
)
from .generated.types import UNSET
from .hire import Hired, Quoted
from .login import WalletLogin
from .spending import SpendingPolicy
from .wallet import Wallet

T = TypeVar("T")

_CONNECT_SECONDS = 10.0
_ABANDON_SECONDS = 5.0
"""Longest wait for the cancellation of an abandoned run. The service later stops runs without a caller."""


class AsyncClient:
    """A marketplace's API for renters. Every method raises the errors of :mod:`agent_rental.errors`."""

    def __init__(
        self,
        base_url: str,
        *,
        api_key: str | None = None,
        wallet: Wallet | None = None,
        policy: SpendingPolicy | None = None,
        domain: str | None = None,
        program_id: str | None = None,
        retries: int = 2,
        timeout_seconds: float | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        """Makes a client of a marketplace.

        :param base_url: for instance ``http://127.0.0.1:8787``
        :param api_key: an API key; without it the wallet logs in by a signature
        :param wallet: signs logins and payments
        :param policy: the limits of what this client may spend
        :param domain: the host and port that the wallet signs in to, where ``base_url`` has another one
        :param program_id: the marketplace program, from its operator; default: the published one
        :param retries: of a repeatable request
        :param timeout_seconds: the longest wait for an answer; default: none, since a run takes as long as it takes
        :raises ValueError: without an API key and a wallet
        """
        self.base_url = base_url.rstrip("/")
        authentication: Authentication
        if api_key is not None:
            authentication = ApiKey(api_key)
        elif wallet is not None:
            host = httpx.URL(self.base_url).netloc.decode()
            authentication = WalletLogin(wallet, self.base_url, domain or host)
        else:
            raise ValueError("A client needs an api_key or a wallet.")
        self.wallet, self.policy = wallet, policy
        self._terms = flows.ClientTerms(wallet, policy, program_id)

        def start(request: httpx.Request) -> Exchange:
            return exchange(request, authentication, retries)

        self._http = httpx.AsyncClient(
            base_url=self.base_url,
            transport=AsyncTransport(transport or httpx.AsyncHTTPTransport(), start),
            timeout=httpx.Timeout(timeout_seconds, connect=_CONNECT_SECONDS),
        )
        # The transport sets the authorization, so the generated client's own is never sent.
        self.api = AuthenticatedClient(base_url=self.base_url, token="", raise_on_unexpected_status=True)
        """Takes the generated methods, with the login, retries and errors of this client."""
        self.api.set_async_httpx_client(self._http)

    async def _drive(self, flow: Flow[T]) -> T:
        """Carries out a flow's calls."""
        try:
            call = next(flow)
            while True:
                try:
                    with flows.readable():
                        answer = await call.method.asyncio_detailed(client=self.api, **call.arguments)
                except BaseException as error:
                    call = flow.throw(error)
                else:
                    call = flow.send(answer)
        except StopIteration as ended:
            result: T = ended.value
            return result

    async def search_listings(
        self,
        q: str | None = None,
        *,
        category: Category | str | None = None,
        rental_model: RentalModel | str | None = None,
        min_price: float | None = None,
        max_price: float | None = None,
        min_rating: float | None = None,
        sort: SearchListingsSort | str = SearchListingsSort.RELEVANCE,
        limit: int = 20,
        offset: int = 0,
    ) -> ListingPage:
        """Searches agents. Prices are in SOL."""
        flow = flows.call(
            search_listings,
            ListingPage,
            q=UNSET if q is None else q,
            category=UNSET if category is None else Category(category),
            rental_model=UNSET if rental_model is None else RentalModel(rental_model),
            min_price=UNSET if min_price is None else min_price,
            max_price=UNSET if max_price is None else max_price,
            min_rating=UNSET if min_rating is None else min_rating,
            sort=SearchListingsSort(sort),
            limit=limit,
            offset=offset,
        )
        return await self._drive(flow)

    async def get_listing(self, agent_id: str) -> Listing:
        """A listing in its latest version."""
        return await self._drive(flows.about_listing(agent_id))

    async def verify_credential(self, agent_id: str) -> CredentialVerification:
        """The caller's rental of a listing."""
        return await self._drive(flows.credential_of(agent_id))

    async def rent(
        self,
        agent_id: str,
        *,
        deposit_lamports: int | None = None,
        max_price_lamports: int | None = None,
        duration_seconds: int | None = None,
        approve: Approve | None = None,
    ) -> CredentialVerification:
        """Rents a listing. The price must be agreed to: by the terms, by the client's policy, or by ``approve``.

        :param deposit_lamports: Per-Task: the deposit
        :param max_price_lamports: the highest price: in total, or Per-Task for each run
        :param duration_seconds: Subscription: 2592000, 7776000 or 31536000
        :param approve: gets the cost, decoded from the transaction that is to be signed; only ``True`` approves
        """
        request = flows.request_of(
            "rent",
            agent_id,
            deposit_lamports=deposit_lamports,
            max_price_lamports=max_price_lamports,
            duration_seconds=duration_seconds,
        )
        return await self._drive(flows.pay(self._terms, request, approve))

    async def top_up(
        self,
        agent_id: str,
        amount_lamports: int,
        *,
        max_price_lamports: int | None = None,
        approve: Approve | None = None,
    ) -> CredentialVerification:
        """Adds to a prepaid balance; 0 only accepts a new price."""
        request = flows.request_of(
            "topup", agent_id, amount_lamports=amount_lamports, max_price_lamports=max_price_lamports
        )
        return await self._drive(flows.pay(self._terms, request, approve))

    async def renew(
        self,
        agent_id: str,
        duration_seconds: int,
        *,
        max_price_lamports: int | None = None,
        early: bool | None = None,
        approve: Approve | None = None,
    ) -> CredentialVerification:
        """Extends a subscription, expired or not, to now and the duration."""
        request = flows.request_of(
            "renew",
            agent_id,
            duration_seconds=duration_seconds,
            max_price_lamports=max_price_lamports,
            early=early,
        )
        return await self._drive(flows.pay(self._terms, request, approve))

    async def run(
        self,
        agent_id: str,
        task: str,
        input: Input = None,  # noqa: A002
        **terms: Unpack[RunTerms],
    ) -> Run:
        """Runs a task and waits for its end. A ``failed`` run is a value, not an error.

        An interrupt cancels the run.
        """
        given = flows.with_key(terms)
        async with self._abandoning(given):
            return await self._drive(flows.run(self._terms, agent_id, task, input, given))

    async def stream(
        self,
        agent_id: str,
        task: str,
        input: Input = None,  # noqa: A002
        **terms: Unpack[RunTerms],
    ) -> AsyncGenerator[str | Run, None]:
        """Runs a task and yields its output in pieces, then the run. Leaving the loop early cancels the run."""
        given = flows.with_key(terms)
        settle = await self._drive(flows.reserve_run(self._terms, agent_id))
        request = flows.stream_request(agent_id, task, input, given)
        async with (
            self._abandoning(given),
            self._http.stream("POST", "/v1/execute/stream", **request) as answer,
        ):
            events = EventSource(answer).aiter_sse()
            while True:
                with flows.readable():
                    piece = flows.piece_of(await anext(events, None), agent_id)
                if piece is None:
                    continue
                if isinstance(piece, Run):
                    settle(piece.cost_lamports)
                    yield piece
                    return
                yield piece

    async def hire(
        self,
        task: str,
        input: Input = None,  # noqa: A002
        *,
        budget_lamports: int,
        query: str | None = None,
        agent_id: str | None = None,
    ) -> Hired:
        """From a task to its answer: finds an agent, rents it within the policy and the budget, and runs it.

        :raises SpendingRefusedError: ``budget``, where no agent that takes the input stays within it
        """
        given = flows.with_key({})
        flow = hiring.hire(self._terms, task, input, budget_lamports, query, agent_id, given)
        async with self._abandoning(given):
            return await self._drive(flow)

    async def quote_hire(
        self,
        task: str,
        input: Input = None,  # noqa: A002
        *,
        budget_lamports: int,
        query: str | None = None,
        agent_id: str | None = None,
    ) -> Quoted:
        """The agent that :meth:`hire` would take, and its cost. Spends nothing."""
        flow = hiring.choose(self._terms, task, input, budget_lamports, query, agent_id)
        quoted, _ = await self._drive(flow)
        return quoted

    async def get_run(self, run_id: str, wait_seconds: int = 0) -> EndedRun | RunProgress:
        """The state of a run; waits up to ``wait_seconds``, at most 60, for its end."""
        return await self._drive(flows.state_of(get_run, run_id, wait_seconds))

    async def cancel_run(self, run_id: str) -> Cancellation:
        """Stops a run."""
        return await self._drive(flows.call(cancel_run, Cancellation, run_id=run_id))

    async def get_receipt(self, run_id: str) -> dict[str, Json]:
        """The signed receipt of a run as JSON, for :func:`agent_rental.verify_receipt`."""
        return await self._drive(flows.whole(get_receipt, run_id=run_id))

    async def get_receipt_keys(self) -> dict[str, Json]:
        """The service's public keys of receipts as JSON, for :func:`agent_rental.verify_receipt`."""
        return await self._drive(flows.whole(get_receipt_keys))

    @asynccontextmanager
    async def _abandoning(self, given: RunTerms) -> AsyncIterator[None]:
        """Cancels the run of an interrupted request. A broken stream does not: the same key gives the run's answer."""
        try:
            yield
        except Exception:
            raise
        except BaseException:
            with shielded():
                await self._cancel(given["idempotency_key"])
            raise

    async def _cancel(self, key: str) -> None:
        """Cancels by the key, so that the service also refuses a request that arrives later."""
        try:
            body = {"idempotency_key": key}
            await self._http.post("/v1/runs/cancel", json=body, timeout=_ABANDON_SECONDS)
        except (ApiError, ConnectionFailedError, httpx.HTTPError):
            # The service later stops runs without a caller.
            return

    async def close(self) -> None:
        """Closes the connections."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        """The client, which closes with the block."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Closes the connections."""
        await self.close()
