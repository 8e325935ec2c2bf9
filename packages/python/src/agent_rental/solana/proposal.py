"""Checks a marketplace's transaction before a wallet signs it."""

from __future__ import annotations

import base64
import binascii
import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from solders.pubkey import Pubkey

from ..errors import ApiError, UntrustedTransactionError
from ..generated.models.error_details import ErrorDetails
from ..generated.models.error_details_code import ErrorDetailsCode
from .program import (
    MARKETPLACE_PROGRAM_ID,
    SYSTEM_PROGRAM_ID,
    BuiltInstruction,
    DecodedInstruction,
    build_instruction,
    decode_instruction,
    find_balance_address,
    find_credential_address,
    find_escrow_address,
    find_listing_address,
    find_protocol_address,
)
from .spend import (
    DEFAULT_MAX_PRIORITY_FEE_LAMPORTS,
    DecodedQuote,
    is_compute_budget,
    priority_fee_lamports,
    quote_of,
    require_true_quote,
)
from .wire import WireInstruction, WireTransaction, read_wire_transaction

Request: TypeAlias = Mapping[str, Any]
"""The body of ``POST /v1/transactions``: the action, the listing id and the terms."""

LIGHTHOUSE_PROGRAM_ID = Pubkey.from_string("L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95")
_ASSERTIONS = range(2, 18)
"""Lighthouse's assertions by their first byte. They read accounts; the bytes below write to memory accounts."""

_SHAPES: dict[str, tuple[tuple[str, ...], ...]] = {
    "publish": (("create_listing",),),
    "rent": (("purchase_one_time",), ("purchase_subscription",), ("purchase_per_query",)),
    "renew": (("renew_subscription",),),
    "topup": (("topup_balance",),),
    "reclaim": (("revoke_per_query_access",),),
    "update": (("update_listing",),),
    "pause": (("update_listing",),),
    "resume": (("update_listing",),),
    "close": (("withdraw_earnings", "close_listing"), ("close_listing",)),
    "withdraw": (("withdraw_earnings",),),
    "revoke": (("revoke_per_query_access",),),
    "moderate": (("moderate_listing",),),
}
"""The allowed instructions of each action."""


@dataclass(frozen=True)
class Agreement:
    """The caller's agreed terms. A transaction that needs an absent term is refused."""

    max_price_lamports: int | None = None
    deposit_lamports: int | None = None
    is_approved: bool = False
    """Absent amounts come from the transaction, and the caller judges them before the signature."""
    max_priority_fee_lamports: int = DEFAULT_MAX_PRIORITY_FEE_LAMPORTS
    treasury: Pubkey | None = None
    authorities: tuple[Pubkey, ...] | None = None
    """The protocol's treasury and hot keys, if known."""


@dataclass(frozen=True)
class CheckedProposal:
    """A transaction that does exactly the requested action, and its maximum cost."""

    wire: bytes
    transaction: WireTransaction
    quote: DecodedQuote


def inspect_proposal(
    proposal: Mapping[str, Any], request: Request, wallet: str, *, program_id: str | None = None, **known: Any
) -> CheckedProposal:
    """Checks a proposal, for callers that judge the amounts themselves. Open amounts come from the transaction.

    :param known: fields of :class:`Agreement`
    :raises UntrustedTransactionError: with the first fault
    """
    return check_proposal(proposal, request, wallet, program_id=program_id, is_approved=True, **known)


def check_proposal(
    proposal: Mapping[str, Any], request: Request, wallet: str, *, program_id: str | None = None, **known: Any
) -> CheckedProposal:
    """Checks a marketplace's transaction before it is signed.

    It does exactly the requested action, the wallet pays, it calls only the marketplace program, ComputeBudget and
    Lighthouse's assertions, and the quote is true. A renewal adds at least half of its window, unless ``early``.

    :param proposal: the answer of ``POST /v1/transactions``, as JSON
    :param known: fields of :class:`Agreement`
    :raises UntrustedTransactionError: with the first fault
    :raises ApiError: ``invalid_request`` for a renewal that adds too little
    """
    program = MARKETPLACE_PROGRAM_ID if program_id is None else Pubkey.from_string(program_id)
    agreement = _agreement_of(request, Agreement(**known))
    try:
        wire = base64.b64decode(proposal["transaction"], validate=True)
    except (binascii.Error, ValueError):
        raise UntrustedTransactionError("malformed", "is not base64") from None
    checked = check_transaction(wire, request, Pubkey.from_string(wallet), program, agreement)
    require_true_quote(proposal["quote"], checked.quote, request.get("max_price_lamports") is None)
    return dataclasses.replace(checked, quote=_with_effect(request, proposal["quote"], checked.quote))


def check_transaction(
    wire: bytes, request: Request, wallet: Pubkey, program_id: Pubkey, agreement: Agreement
) -> CheckedProposal:
    """Builds the instructions again from wallet, listing id and request, and compares all accounts and values.

    Values that only the chain knows come from the transaction, within the agreed terms.

    :raises UntrustedTransactionError: with the first fault
    """
    transaction = read_wire_transaction(wire)
    if transaction.payer != wallet:
        raise UntrustedTransactionError("payer", "is paid by another wallet")
    proposed = _decode_ours(transaction, program_id)
    fee = priority_fee_lamports(filter(is_compute_budget, transaction.instructions))
    if fee > agreement.max_priority_fee_lamports:
        raise UntrustedTransactionError("network_fee", f"has a priority fee of up to {fee} lamports")
    expected = _expected(request, wallet, program_id, proposed, agreement)
    for built, theirs in zip(expected, proposed, strict=True):
        ours = decode_instruction(built.data, [key.address for key in built.keys])
        if ours is None or ours.name != theirs.name:
            raise AssertionError(f"{request['action']} is built in another form than proposed.")
        _compare(ours, theirs)

    keys = [key for built in expected for key in built.keys]
    if not set(transaction.signers) <= {wallet, *(key.address for key in keys if key.signer)}:
        raise UntrustedTransactionError("signer", "asks for the signature of a stranger")
    if not set(transaction.writable) <= {wallet, *(key.address for key in keys if key.writable)}:
        raise UntrustedTransactionError("account", "may write to an account that it should only read")
    used = {wallet, *(key.address for key in keys), *(one.program_id for one in transaction.instructions)}
    used.update(key for one in transaction.instructions if _is_wallet_guard(one) for key in one.keys)
    if not set(transaction.accounts) <= used:
        raise UntrustedTransactionError("account", "names an account that has no part in it")
    for signer in transaction.signers:
        # Every signer except the wallet must already have signed.
        if signer != wallet and not transaction.is_signed_by(signer):
            raise UntrustedTransactionError("signature", "lacks the valid signature of the marketplace")
    return CheckedProposal(wire, transaction, quote_of(transaction, proposed))


def _is_wallet_guard(instruction: WireInstruction) -> bool:
    """Whether an instruction is an assertion that a wallet may add. It moves no lamports and writes to no account."""
    return (
        instruction.program_id == LIGHTHOUSE_PROGRAM_ID
        and instruction.data[:1] != b""
        and instruction.data[0] in _ASSERTIONS
    )


def _decode_ours(transaction: WireTransaction, program_id: Pubkey) -> list[DecodedInstruction]:
    """Decodes the marketplace's instructions. Besides them, there may be only ComputeBudget instructions and guards."""
    called = [one for one in transaction.instructions if not (is_compute_budget(one) or _is_wallet_guard(one))]
    if called and all(one.program_id != program_id for one in called):
        raise UntrustedTransactionError(
            "program",
            f"calls the program {called[0].program_id}, not the client's marketplace program {program_id}. "
            "If the marketplace's operator confirms the former, set it as program_id",
        )
    decoded = []
    for one in called:
        if one.program_id != program_id:
            raise UntrustedTransactionError("program", f"calls {one.program_id}")
        read = decode_instruction(one.data, one.keys)
        if read is None:
            raise UntrustedTransactionError("instruction", "has an instruction that cannot be read")
        if read.others:
            raise UntrustedTransactionError("account", f"passes {read.name} more accounts than it takes")
        decoded.append(read)
    return decoded


def _compare(ours: DecodedInstruction, theirs: DecodedInstruction) -> None:
    for role, account in ours.accounts.items():
        if theirs.accounts[role] != account:
            raise UntrustedTransactionError("account", f"names another {role} than {account}")
    for name, value in ours.args.items():
        if theirs.args[name] != value:
            raise UntrustedTransactionError("argument", f"has another {name} than the request")


def _expected(
    request: Request,
    wallet: Pubkey,
    program_id: Pubkey,
    proposed: Sequence[DecodedInstruction],
    agreement: Agreement,
) -> list[BuiltInstruction]:
    """Exactly the instructions of the request, with the particulars of the proposal within the agreed terms."""
    action, names = request["action"], tuple(one.name for one in proposed)
    if names not in _SHAPES[action]:
        raise UntrustedTransactionError("instruction", f"calls {', '.join(names) or 'nothing'} to {action}")
    first = proposed[0]
    listing = find_listing_address(request["listing_id"], program_id)
    accounts = {
        "creator": wallet,
        "buyer": wallet,
        "revoker": wallet,
        "admin": wallet,
        "protocol": find_protocol_address(program_id),
        "listing": listing,
        "escrow": find_escrow_address(listing, program_id),
        "access_credential": find_credential_address(wallet, listing, program_id),
        "per_query_balance": find_balance_address(wallet, listing, program_id),
        "system_program": SYSTEM_PROGRAM_ID,
    }
    if action == "revoke":
        buyer = Pubkey.from_string(request["buyer"])
        accounts["buyer"] = buyer
        accounts["access_credential"] = find_credential_address(buyer, listing, program_id)
        accounts["per_query_balance"] = find_balance_address(buyer, listing, program_id)
    if "treasury" in first.accounts:
        accounts["treasury"] = _treasury_of(first.accounts["treasury"], accounts, wallet, program_id, agreement)

    def build(name: str, **args: Any) -> BuiltInstruction:
        return build_instruction(name, accounts, args, program_id)

    match action:
        case "publish":
            accounts["authority"], terms = _published_of(request, first, agreement)
            return [build("create_listing", listing_id=request["listing_id"], **terms)]
        case "rent":
            return [build(first.name, **_rental_args(request, first, agreement))]
        case "renew":
            price = _price_of(first, agreement.max_price_lamports, agreement)
            return [build(first.name, duration_seconds=request["duration_seconds"], max_price_lamports=price)]
        case "topup":
            price = _price_of(first, agreement.max_price_lamports, agreement)
            return [build(first.name, amount_lamports=request["amount_lamports"], max_price_lamports=price)]
        case "update":
            names_of = ("price_lamports", "min_deposit_lamports", "metadata_uri")
            return [build(first.name, **{name: request.get(name) for name in names_of})]
        case "pause" | "resume":
            return [build(first.name, paused=action == "pause")]
        case "withdraw":
            return [build(first.name, amount_lamports=request.get("amount_lamports"))]
        case "moderate":
            return [build(first.name, suspended=request["suspended"])]
        case _:
            # Closing, reclaiming and revoking have no values.
            return [build(name) for name in names]


def _rental_args(request: Request, first: DecodedInstruction, agreement: Agreement) -> dict[str, int]:
    duration, deposit = request.get("duration_seconds"), request.get("deposit_lamports")

    def refuse(terms: str) -> UntrustedTransactionError:
        return UntrustedTransactionError("instruction", f"calls {first.name}, and the terms had {terms}")

    if first.name == "purchase_per_query":
        if duration is not None:
            raise refuse("duration_seconds")
        agreed = agreement.deposit_lamports
        if agreed is None and not agreement.is_approved:
            raise UntrustedTransactionError(
                "price", "prepays a deposit, and none was agreed to: name deposit_lamports, or approve the quote"
            )
        # An agreed deposit may be lost completely, and no run can cost more than the deposit.
        cap = agreed if agreement.max_price_lamports is None else agreement.max_price_lamports
        return {
            "deposit_lamports": first.args["deposit_lamports"] if agreed is None else agreed,
            "max_price_lamports": _price_of(first, cap, agreement),
        }
    if first.name == "purchase_one_time":
        if duration is not None:
            raise refuse("duration_seconds")
    elif duration is None:
        raise refuse("no duration_seconds")
    if deposit is not None:
        raise refuse("deposit_lamports")
    price = _price_of(first, agreement.max_price_lamports, agreement)
    return (
        {"max_price_lamports": price}
        if duration is None
        else {"duration_seconds": duration, "max_price_lamports": price}
    )


def _price_of(first: DecodedInstruction, cap: int | None, agreement: Agreement) -> int:
    """The transaction's highest price. It must not be above the caller's, if there is one."""
    price: int = first.args["max_price_lamports"]
    if cap is None and not agreement.is_approved:
        raise UntrustedTransactionError(
            "price", "pays a price, and none was agreed to: name max_price_lamports, or approve the quote"
        )
    if cap is not None and price > cap:
        raise UntrustedTransactionError("price", f"agrees to {price} lamports, above the agreed {cap}")
    return price


def _treasury_of(
    proposed: Pubkey, accounts: Mapping[str, Pubkey], wallet: Pubkey, program_id: Pubkey, agreement: Agreement
) -> Pubkey:
    """The treasury: the known one, else any account without another role. The program checks it against its own."""
    if agreement.treasury is not None:
        return agreement.treasury
    roles = ("listing", "protocol", "escrow", "access_credential")
    if proposed in (wallet, program_id, SYSTEM_PROGRAM_ID, *(accounts[role] for role in roles)):
        raise UntrustedTransactionError("account", "names an account with another role as the treasury")
    return proposed


def _published_of(request: Request, first: DecodedInstruction, agreement: Agreement) -> tuple[Pubkey, dict[str, Any]]:
    authority = first.accounts["authority"]
    if agreement.authorities is not None and authority not in agreement.authorities:
        raise UntrustedTransactionError("account", "is co-signed by another key than the protocol's")
    terms = {name: value for name, value in first.args.items() if name != "listing_id"}
    listing = request.get("listing")
    if listing is None:
        return authority, terms
    model, price = listing.get("rental_model"), listing.get("price_lamports")
    # A request with model and price has the whole terms. Otherwise the missing terms are stored already.
    deposit = listing.get("min_deposit_lamports", price if model is not None else None)
    if (model or terms["rental_model"]) != "per_query":
        deposit = 0
    asked = {"rental_model": model, "price_lamports": price, "min_deposit_lamports": deposit}
    # The caller compares these values with the proposal's arguments.
    return authority, terms | {name: value for name, value in asked.items() if value is not None}


def _agreement_of(request: Request, known: Agreement) -> Agreement:
    """The caller's agreement: the terms, and for open amounts the caller's judgement."""
    action, price = request["action"], request.get("max_price_lamports")
    if action == "rent":
        return dataclasses.replace(known, max_price_lamports=price, deposit_lamports=request.get("deposit_lamports"))
    if action == "topup" and price is None and not known.is_approved:
        # A top-up should pay for at least one run.
        price = request["amount_lamports"]
    return dataclasses.replace(known, max_price_lamports=price) if action in ("renew", "topup") else known


def _with_effect(request: Request, told: Mapping[str, Any], quote: DecodedQuote) -> DecodedQuote:
    """Adds the effect of a transaction beside its costs, which is the marketplace's word."""
    if request["action"] != "renew":
        return dataclasses.replace(quote, returned_lamports=told.get("returned_lamports"))
    end, added = told.get("new_expires_at"), told.get("added_seconds")
    if end is None or added is None:
        raise UntrustedTransactionError("quote", "renews, and the quote does not say the added time")
    is_little = 2 * added < request["duration_seconds"] and not request.get("early", False)
    if added <= 0 or is_little:
        text = f"This renewal would add {max(added, 0) // 86_400} of {request['duration_seconds'] // 86_400} days."
        raise ApiError(ErrorDetails(ErrorDetailsCode.INVALID_REQUEST, text, 400))
    return dataclasses.replace(quote, new_expires_at=end, added_seconds=added)


__all__ = ["Agreement", "CheckedProposal", "check_proposal", "check_transaction", "inspect_proposal"]
