"""The lamports that a transaction can take from a wallet, decoded from its bytes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from solders.pubkey import Pubkey

from ..errors import UntrustedTransactionError
from .program import ACCOUNT_SIZES, DecodedInstruction
from .wire import WireInstruction, WireTransaction

COMPUTE_BUDGET_ID = Pubkey.from_string("ComputeBudget111111111111111111111111111111")
DEFAULT_MAX_PRIORITY_FEE_LAMPORTS = 100_000

_SIGNATURE_FEE_LAMPORTS = 5_000
_ACCOUNT_OVERHEAD_BYTES = 128
_MOST_RENT_LAMPORTS_PER_BYTE = 6_960
"""The highest rent exemption on Solana's networks: two years at 3,480 lamports a year."""
_MAX_COMPUTE_UNITS = 1_400_000
_MAX_SAFE_INTEGER = 2**53 - 1
_UNIT_LIMIT, _UNIT_PRICE = 2, 3
_LENGTHS = {1: 5, _UNIT_LIMIT: 5, _UNIT_PRICE: 9, 4: 5}
"""ComputeBudget's instructions by their first byte, with their lengths. Deprecated ones are left out."""

_CREATED = {
    "create_listing": ("LISTING", "ESCROW"),
    "purchase_one_time": ("ACCESS_CREDENTIAL",),
    "purchase_subscription": ("ACCESS_CREDENTIAL",),
    "purchase_per_query": ("ACCESS_CREDENTIAL", "PER_QUERY_BALANCE"),
}
_PRICES = {
    "purchase_one_time": "max_price_lamports",
    "purchase_subscription": "max_price_lamports",
    "renew_subscription": "max_price_lamports",
    "purchase_per_query": "deposit_lamports",
    "topup_balance": "amount_lamports",
}
_PER_RUN = ("purchase_per_query", "topup_balance")


@dataclass(frozen=True)
class DecodedQuote:
    """A transaction's maximum cost for the paying wallet, in lamports, decoded from its bytes."""

    price_lamports: int
    """Agreed price, deposit or top-up."""
    rent_lamports: int
    network_fee_lamports: int
    total_lamports: int
    """The sum of all costs: price, rent and fees."""
    max_price_lamports: int | None = None
    max_run_lamports: int | None = None
    """Per-Task rental or top-up: the most that each later run may draw from the balance."""
    new_expires_at: str | None = None
    """Of a renewal; the marketplace's word."""
    added_seconds: int | None = None
    returned_lamports: int | None = None


def is_compute_budget(instruction: WireInstruction) -> bool:
    """Whether an instruction only sets limits and fees."""
    return instruction.program_id == COMPUTE_BUDGET_ID


def priority_fee_lamports(instructions: Iterable[WireInstruction]) -> int:
    """The highest priority fee that ComputeBudget instructions can add.

    :raises UntrustedTransactionError: ``network_fee`` for unknown ones
    """
    given: dict[int, int] = {}
    for one in instructions:
        tag = one.data[0] if one.data else 0
        if _LENGTHS.get(tag) != len(one.data) or one.keys or tag in given:
            raise UntrustedTransactionError("network_fee", "has a ComputeBudget instruction of an unknown form")
        given[tag] = int.from_bytes(one.data[1:], "little")
    units = min(given.get(_UNIT_LIMIT, _MAX_COMPUTE_UNITS), _MAX_COMPUTE_UNITS)
    return -(-units * given.get(_UNIT_PRICE, 0) // 1_000_000)


def quote_of(transaction: WireTransaction, decoded: Sequence[DecodedInstruction]) -> DecodedQuote:
    """The cost of a checked transaction, with the highest rent on any of Solana's networks.

    :raises UntrustedTransactionError: ``price`` for amounts that no wallet can hold
    """
    price = sum(one.args[_PRICES[one.name]] for one in decoded if one.name in _PRICES)
    paying = next((one for one in decoded if one.name in _PRICES), None)
    most = None if paying is None else _exact(paying.args["max_price_lamports"])
    rent = sum(
        (ACCOUNT_SIZES[account] + _ACCOUNT_OVERHEAD_BYTES) * _MOST_RENT_LAMPORTS_PER_BYTE
        for one in decoded
        for account in _CREATED.get(one.name, ())
    )
    fee = len(transaction.signers) * _SIGNATURE_FEE_LAMPORTS + priority_fee_lamports(
        filter(is_compute_budget, transaction.instructions)
    )
    return DecodedQuote(
        price_lamports=_exact(price),
        rent_lamports=rent,
        network_fee_lamports=_exact(fee),
        total_lamports=_exact(price + rent + fee),
        max_price_lamports=most,
        max_run_lamports=most if paying is not None and paying.name in _PER_RUN else None,
    )


def _exact(lamports: int) -> int:
    if lamports > _MAX_SAFE_INTEGER:
        raise UntrustedTransactionError("price", f"agrees to {lamports} lamports, more than there are to spend")
    return lamports


def require_true_quote(told: Mapping[str, Any], decoded: DecodedQuote, is_price_open: bool) -> None:
    """Compares the marketplace's quote with the decoded cost.

    :param is_price_open: whether the caller named no price; then both must have the same price
    :raises UntrustedTransactionError: ``quote``
    """
    price, rent, fee = told["price_lamports"], told["rent_lamports"], told["network_fee_lamports"]
    is_exact = is_price_open or decoded.max_run_lamports is not None
    if (
        (is_exact and price != decoded.price_lamports)
        or price > decoded.price_lamports
        or fee != decoded.network_fee_lamports
        # The network's present rent may be below the highest rent.
        or rent > decoded.rent_lamports
    ):
        raise UntrustedTransactionError(
            "quote",
            f"can take {decoded.total_lamports} lamports from the wallet, "
            f"and the marketplace's quote says {price + rent + fee}",
        )
    if told.get("max_price_lamports") != decoded.max_price_lamports:
        raise UntrustedTransactionError(
            "quote",
            f"agrees to a price of up to {decoded.max_price_lamports} lamports, "
            f"and the marketplace's quote says {told.get('max_price_lamports')}",
        )
