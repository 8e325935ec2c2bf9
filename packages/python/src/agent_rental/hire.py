"""From a task to its answer in one call: find an agent, rent it within budget and policy, run it."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, assert_never

from . import _flows as flows
from ._input import check_input
from .errors import AgentRentalError, ApiError, SpendingRefusedError
from .generated.api.listings import search_listings
from .generated.api.runs import get_receipt
from .generated.models import ListingPage, Run
from .generated.models.credential_verification_status import CredentialVerificationStatus as Status
from .generated.models.listing import Listing
from .generated.models.rental_model import RentalModel
from .solana.spend import DecodedQuote

_MOST_CANDIDATES = 5
"""Number of found agents that are examined: each costs two requests."""
_MAX_WORDS = 8
_PAGE = 25
_DAYS_30_SECONDS = 2_592_000
_COMMON = frozenset(
    """
    about after all also and any are been before but can could does find for from get give had has have help her here
    him his how into its just list make more most need not one our out over please she should show some such tell than
    that the their them then there these they this use using want was were what when where which who will with would
    you your
    """.split()  # noqa: SIM905
)
"""Words that say nothing about an agent's abilities."""


@dataclass(frozen=True)
class Quoted:
    """The chosen agent and its cost."""

    listing: Listing
    payment: DecodedQuote | None
    """The cost of the rental, decoded from its transaction; None where the agent is rented already."""
    run_lamports: int
    """The most that one run draws from the balance."""
    needed_lamports: int
    """Lamports that the budget must cover: the payment, and the run's draw beyond its deposit."""
    passed_over: Mapping[str, str]
    """Why agents before it were not chosen, by their ids."""


@dataclass(frozen=True)
class Hired:
    """The answer of a hired agent."""

    run: Run
    listing: Listing
    receipt: dict[str, Any] | None
    """As JSON, for :func:`agent_rental.verify_receipt`."""
    paid_lamports: int
    """The most that left the wallet for the rental; 0 where the agent was rented already."""


def hire(
    client: flows.ClientTerms,
    task: str,
    given: flows.Input,
    budget_lamports: int,
    query: str | None,
    agent_id: str | None,
    terms: flows.RunTerms,
) -> flows.Flow[Hired]:
    """Hires an agent. :raises SpendingRefusedError: ``budget``, where no found agent can do it."""
    quoted, request = yield from choose(client, task, given, budget_lamports, query, agent_id)
    listing, paid = quoted.listing, 0
    if quoted.payment is not None and request is not None:
        most = quoted.payment

        def approve(cost: DecodedQuote) -> bool:
            return cost.total_lamports <= most.total_lamports

        yield from flows.pay(client, request, approve)
        paid = most.total_lamports
    run = yield from flows.run(client, listing.id, task, given, terms)
    receipt: dict[str, Any] | None = None
    try:
        receipt = yield from flows.whole(get_receipt, run_id=run.run_id)
    except AgentRentalError:
        # The answer is worth more than its receipt, which can be had later.
        receipt = None
    return Hired(run, listing, receipt, paid)


def choose(
    client: flows.ClientTerms,
    task: str,
    given: flows.Input,
    budget_lamports: int,
    query: str | None,
    agent_id: str | None,
) -> flows.Flow[tuple[Quoted, dict[str, Any] | None]]:
    """The most likely agent that takes the input within the budget, and the request that rents it.

    :raises ApiError: ``invalid_request``, where the marketplace takes no such input; before anything is paid
    """
    check_input(given)
    ids = [agent_id] if agent_id is not None else (yield from _found(query or task))
    passed_over: dict[str, str] = {}
    for one in ids[:_MOST_CANDIDATES]:
        try:
            listing, payment, request = yield from _quoted(client, one)
        except ApiError as error:
            if error.status >= 500 or error.status == 401:
                raise
            passed_over[one] = error.reason
            continue
        misfit = misfit_of(listing.input_schema.to_dict(), given)
        if misfit is not None:
            passed_over[one] = misfit
            continue
        told = flows.price_of_run(listing)
        if payment is None:
            per_run = client.policy.most_of_run(one, told) if client.policy else told
            needed = per_run
        else:
            per_run = payment.max_run_lamports or 0
            needed = payment.total_lamports + max(per_run - payment.price_lamports, 0)
        if needed > budget_lamports:
            passed_over[one] = f"needs {needed} lamports, which is above the budget"
            continue
        return Quoted(listing, payment, per_run, needed, passed_over), request
    why = "; ".join(f"{one} {reason}" for one, reason in passed_over.items()) or "No agent was found. Try a query."
    raise SpendingRefusedError("budget", f"No agent takes this input within the budget: {why}")


def _quoted(
    client: flows.ClientTerms, agent_id: str
) -> flows.Flow[tuple[Listing, DecodedQuote | None, dict[str, Any] | None]]:
    """A listing, and the cost and request of its payment where it needs one."""
    listing = yield from flows.about_listing(agent_id)
    credential = yield from flows.credential_of(agent_id)
    if credential.valid:
        return listing, None, None
    if credential.status == Status.LOW_BALANCE:
        balance = credential.balance_lamports or 0
        amount = 0 if balance >= listing.price_lamports else listing.min_deposit_lamports
        request = flows.request_of("topup", agent_id, amount_lamports=amount)
    elif credential.status == Status.EXPIRED:
        request = flows.request_of("renew", agent_id, duration_seconds=_DAYS_30_SECONDS)
    else:
        match listing.rental_model:
            case RentalModel.SUBSCRIPTION:
                request = flows.request_of("rent", agent_id, duration_seconds=_DAYS_30_SECONDS)
            case RentalModel.ONE_TIME | RentalModel.PER_QUERY:
                request = flows.request_of("rent", agent_id)
            case model:
                assert_never(model)
    checked = yield from flows.inspect(client, request)
    cost = checked.quote
    # With all amounts fixed, no higher amount can be signed.
    fixed = {**request, "max_price_lamports": cost.max_price_lamports}
    if request["action"] == "rent" and cost.max_run_lamports is not None:
        fixed["deposit_lamports"] = cost.price_lamports
    return listing, cost, fixed


def _found(text: str) -> flows.Flow[list[str]]:
    """Ids of agents for a task, the most likely first.

    A search requires every word, but a task is a sentence: it searches the whole sentence first, then each word. An
    agent's score is the sum of the words that find it. Rare words count more.
    """
    asked = text[:400]
    whole = yield from flows.call(search_listings, ListingPage, q=asked, limit=_PAGE)
    if whole.listings:
        return [listing.id for listing in whole.listings]
    scores: dict[str, float] = {}
    for word in _words_of(asked):
        page = yield from flows.call(search_listings, ListingPage, q=word, limit=_PAGE)
        for rank, listing in enumerate(page.listings):
            score = 1 / math.log2(page.total + 2) + 0.1 * (1 - rank / _PAGE)
            scores[listing.id] = scores.get(listing.id, 0.0) + score
    return sorted(scores, key=lambda one: -scores[one])


def _words_of(text: str) -> list[str]:
    words = dict.fromkeys(word for word in re.findall(r"[^\W_]{3,}", text.lower()) if word not in _COMMON)
    return sorted(words, key=len, reverse=True)[:_MAX_WORDS]


_TYPES: dict[str, type | tuple[type, ...]] = {
    "string": str,
    "object": Mapping,
    "array": list,
    "boolean": bool,
    "integer": int,
    "number": (int, float),
}


def misfit_of(schema: Mapping[str, Any], given: flows.Input) -> str | None:
    """Why an input is not for an agent, by the outermost names and types of its schema. The service checks the rest.

    It looks no deeper, and at no pattern: a stranger wrote the schema.
    """
    if given is None:
        return "requires an input" if schema.get("required") else None
    expected = _TYPES.get(str(schema.get("type")))
    if expected is not None and not isinstance(given, expected):
        return f"takes an input of the type {schema['type']}"
    if isinstance(given, str):
        return None
    properties, required = schema.get("properties"), schema.get("required")
    known = properties if isinstance(properties, Mapping) else {}
    missing = [name for name in required if name not in given] if isinstance(required, list) else []
    if missing:
        return f"requires {missing[0]}"
    strange = [name for name in given if name not in known] if schema.get("additionalProperties") is False else []
    if strange:
        return f"knows no {strange[0]}"
    for name, value in given.items():
        part = known.get(name)
        kind = _TYPES.get(str(part.get("type"))) if isinstance(part, Mapping) else None
        if kind is not None and (not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool)):
            return f"takes {name} of the type {known[name]['type']}"
    return None
