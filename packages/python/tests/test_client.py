"""Renting, paying and running against a real marketplace."""

import inspect

import anyio
import httpx
import pytest
from market import DEPOSIT, SOL, Market, until

from agent_rental import (
    ApiError,
    ApprovalRequiredError,
    AsyncClient,
    Client,
    ConnectionFailedError,
    DecodedQuote,
    InvalidReceiptError,
    Run,
    SpendingPolicy,
    SpendingRefusedError,
    UntrustedChallengeError,
    UntrustedTransactionError,
    Wallet,
    verify_receipt,
)
from agent_rental.errors import NEXT_STEPS
from agent_rental.generated.api.listings import search_listings
from agent_rental.generated.api.runs import list_runs
from agent_rental.generated.models.error_details_code import ErrorDetailsCode


def price_of(market: Market, client: Client) -> int:
    return client.get_listing(market.agent_id).price_lamports


def test_a_wallet_finds_an_agent_and_a_generated_method_has_the_same_login(market: Market, renter: Client) -> None:
    page = renter.search_listings("expenses", rental_model="per_query")
    assert market.agent_id in [listing.id for listing in page.listings]
    run = renter.run(market.agent_id, market.task, market.input)
    runs = list_runs.sync(client=renter.api)
    assert runs is not None
    assert run.run_id in [one.run_id for one in runs.runs]


def test_a_search_takes_each_filter_of_the_generated_method() -> None:
    own = set(inspect.signature(AsyncClient.search_listings).parameters) - {"self"}
    assert own == set(inspect.signature(search_listings.asyncio).parameters) - {"client"}


def test_a_run_is_charged_once_and_its_receipt_holds_offline(market: Market, renter: Client) -> None:
    run = renter.run(market.agent_id, market.task, market.input, idempotency_key="one-run")
    again = renter.run(market.agent_id, market.task, market.input, idempotency_key="one-run")
    assert (run.status, run.cost_lamports) == ("completed", price_of(market, renter))
    assert again.run_id == run.run_id

    signed = renter.get_receipt(run.run_id)
    asked = {"encoding": "base64", "commitment": "finalized", "maxSupportedTransactionVersion": 0}
    transaction = until(lambda: market.rpc("getTransaction", signed["log"]["signature"], asked))
    authority = transaction_signer(transaction)
    evidence = {"jwks": renter.get_receipt_keys(), "transaction": transaction, "authorities": [authority]}
    verified = verify_receipt(signed, program_id=market.program_id, **evidence)
    assert (verified.receipt.run_id, verified.receipt.cost_lamports) == (run.run_id, run.cost_lamports)
    lie = {**signed, "receipt": {**signed["receipt"], "cost_lamports": 1}}
    with pytest.raises(InvalidReceiptError) as refused:
        verify_receipt(lie, program_id=market.program_id, **evidence)
    assert refused.value.part == "answer"


def transaction_signer(transaction: dict[str, list[str]]) -> str:
    import base64

    from solders.transaction import VersionedTransaction

    return str(VersionedTransaction.from_bytes(base64.b64decode(transaction["transaction"][0])).message.account_keys[0])


def test_a_stream_has_pieces_and_then_the_run(market: Market, renter: Client) -> None:
    *pieces, run = renter.stream(market.own["streaming"], "Count.", {"text": "one two three"})
    assert isinstance(run, Run)
    assert (run.status, run.output) == ("completed", "one two three ")
    assert "".join(str(piece) for piece in pieces) == run.output


def test_leaving_a_stream_cancels_the_run(market: Market, renter: Client) -> None:
    stream = renter.stream(market.own["slow"], "Take your time.", {"text": "left"})
    assert next(stream) == "started "
    stream.close()
    until(lambda: stopped(renter, market.own["slow"]))


def stopped(client: Client, agent_id: str) -> bool:
    """Whether the newest run has ended, and was not completed."""
    page = list_runs.sync(client=client.api)
    assert page is not None
    newest = next(run for run in page.runs if run.agent_id == agent_id)
    return newest.status not in ("running", "completed")


def test_cancelling_a_coroutine_cancels_the_run(market: Market, renter: Client) -> None:
    async def leave() -> None:
        async with AsyncClient(market.base_url, wallet=renter.wallet) as client:
            with anyio.move_on_after(2):
                await client.run(market.own["slow"], "Take your time.", {"text": "cancelled"})
                raise AssertionError("The run ended.")

    anyio.run(leave)
    until(lambda: stopped(renter, market.own["slow"]))


def test_coroutines_rent_and_run_and_share_nothing_with_threads(market: Market) -> None:
    async def go() -> None:
        async with AsyncClient(market.base_url, wallet=market.new_wallet()) as client:
            await client.rent(market.own["streaming"], deposit_lamports=DEPOSIT)
            pieces = [piece async for piece in client.stream(market.own["streaming"], "Count.", {"text": "one two"})]
            run = await client.run(market.own["streaming"], "Count.", {"text": "one two"})
            assert isinstance(pieces[-1], Run)
            assert run.output == pieces[-1].output == "one two "

    anyio.run(go)


class LosesFirstAnswers(httpx.BaseTransport):
    """The network, without the first answers to executions: they reach the service."""

    def __init__(self, lost: int) -> None:
        self._inner = httpx.HTTPTransport()
        self._lost = lost
        self.sent = 0

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        answer = self._inner.handle_request(request)
        if request.url.path != "/v1/execute":
            return answer
        self.sent += 1
        if self.sent <= self._lost:
            answer.read()
            raise httpx.ReadError("The connection broke.", request=request)
        return answer


def test_a_lost_answer_is_asked_for_again_and_charged_once(market: Market, renter: Client) -> None:
    network = LosesFirstAnswers(2)
    balance = renter.verify_credential(market.agent_id).balance_lamports or 0
    with Client(market.base_url, wallet=renter.wallet, transport=network) as client:
        run = client.run(market.agent_id, market.task, market.input)
    assert network.sent == 3
    spent = balance - run.cost_lamports
    until(lambda: (renter.verify_credential(market.agent_id).balance_lamports or 0) <= spent)
    assert renter.verify_credential(market.agent_id).balance_lamports == spent
    with Client(market.base_url, wallet=renter.wallet, transport=LosesFirstAnswers(9)) as client:
        with pytest.raises(ConnectionFailedError) as lost:
            client.run(market.agent_id, market.task, market.input)
        assert lost.value.next_step


def test_errors_have_a_code_and_a_next_step(market: Market, renter: Client) -> None:
    assert {code.value for code in ErrorDetailsCode} <= NEXT_STEPS.keys()
    with Client(market.base_url, wallet=market.new_wallet()) as stranger, pytest.raises(ApiError) as unrented:
        stranger.run(market.agent_id, market.task, market.input)
    assert (unrented.value.code, unrented.value.status) == ("credential_not_found", 403)
    assert "client.rent" in unrented.value.next_step
    with pytest.raises(ApiError) as unknown:
        renter.get_listing("no-such-agent-aaaaaa")
    assert unknown.value.code == "listing_not_found"
    with Client(market.base_url, api_key="ark_dev_wrong") as wrong, pytest.raises(ApiError) as refused:
        wrong.run(market.agent_id, market.task, market.input)
    assert refused.value.code == "invalid_api_key"
    with Client("http://127.0.0.1:9", api_key="x", retries=0) as away, pytest.raises(ConnectionFailedError):
        away.search_listings()
    with pytest.raises(ValueError):
        Client(market.base_url)


def test_a_wallet_signs_in_to_no_other_domain(market: Market) -> None:
    client = Client(market.base_url, wallet=Wallet.generate(), domain="market.example")
    with client, pytest.raises(UntrustedChallengeError):
        client.verify_credential(market.agent_id)


def test_a_price_without_an_agreement_is_not_signed(market: Market) -> None:
    wallet = market.new_wallet()
    shown: list[DecodedQuote] = []

    def refuse(quote: DecodedQuote) -> bool:
        shown.append(quote)
        return False

    with Client(market.base_url, wallet=wallet) as client:
        with pytest.raises(UntrustedTransactionError) as open_price:
            client.rent(market.agent_id)
        with pytest.raises(UntrustedTransactionError) as declined:
            client.rent(market.agent_id, approve=refuse)
    assert (open_price.value.reason, declined.value.reason) == ("price", "declined")
    assert shown[0].total_lamports > shown[0].price_lamports > 0
    assert market.balance(wallet) == SOL


def test_a_policy_judges_the_decoded_cost_of_rentals_and_the_price_of_runs(market: Market) -> None:
    wallet = market.new_wallet()
    for policy, kind in [
        (SpendingPolicy(max_day=1_000), SpendingRefusedError),
        (SpendingPolicy(max_run=1), SpendingRefusedError),
        (SpendingPolicy(listing_ids=["another-agent-aaaaaa"]), SpendingRefusedError),
        (SpendingPolicy(ask_above=1_000), ApprovalRequiredError),
        (SpendingPolicy(ask_above=1_000, approve=lambda _: False), SpendingRefusedError),
    ]:
        with Client(market.base_url, wallet=wallet, policy=policy) as client, pytest.raises(kind):
            client.rent(market.agent_id)
    assert market.balance(wallet) == SOL
    allowing = SpendingPolicy(max_day=100_000_000, ask_above=1_000_000, approve=lambda spend: spend.kind == "rental")
    with Client(market.base_url, wallet=wallet, policy=allowing) as client:
        assert client.rent(market.agent_id).valid
        price = price_of(market, client)
        allowing.max_day = 2 * price
        for _ in range(2):
            assert client.run(market.agent_id, market.task, market.input).status == "completed"
        with pytest.raises(SpendingRefusedError) as third:
            client.run(market.agent_id, market.task, market.input)
    assert third.value.rule == "max_day"


def test_hire_quotes_rents_within_the_budget_runs_and_has_a_receipt(market: Market) -> None:
    wallet = market.new_wallet()
    with Client(market.base_url, wallet=wallet) as client:
        with pytest.raises(SpendingRefusedError) as poor:
            client.hire(market.task, market.input, budget_lamports=1_000, agent_id=market.agent_id)
        with pytest.raises(SpendingRefusedError) as misfit:
            client.hire(market.task, {"no such": 1}, budget_lamports=SOL, agent_id=market.agent_id)
        assert poor.value.rule == misfit.value.rule == "budget"
        quoted = client.quote_hire(market.task, market.input, budget_lamports=SOL, query="expenses")
        assert market.balance(wallet) == SOL
        assert quoted.payment is not None
        hired = client.hire(market.task, market.input, budget_lamports=SOL, agent_id=market.agent_id)
        assert (hired.run.status, hired.listing.id) == ("completed", market.agent_id)
        assert hired.receipt is not None
        assert hired.receipt["receipt"]["run_id"] == hired.run.run_id
        assert SOL - market.balance(wallet) <= hired.paid_lamports
        again = client.hire(market.task, market.input, budget_lamports=SOL, agent_id=market.agent_id)
        assert again.paid_lamports == 0
