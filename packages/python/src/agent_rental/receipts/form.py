"""The forms of a receipt's evidence, as strict as the contract's."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints


def _whole(value: Any) -> Any:
    """JSON has one kind of numbers: 1.0 is 1."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _dated(value: Any) -> Any:
    """Refuses days that no calendar has."""
    if isinstance(value, str):
        datetime.fromisoformat(value)
    return value


def _true(value: bool) -> bool:
    """The member is absent where it would be false."""
    if not value:
        raise ValueError("false")
    return value


Whole = Annotated[int, BeforeValidator(_whole)]
Lamports = Annotated[Whole, Field(ge=0, le=2**53 - 1)]
Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
Base58Signature = Annotated[str, StringConstraints(pattern=r"^[1-9A-HJ-NP-Za-km-z]{64,88}$")]
WalletAddress = Annotated[str, StringConstraints(pattern=r"^[1-9A-HJ-NP-Za-km-z]{32,44}$")]
ListingId = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(?:-[a-z0-9]+)*-[a-z2-7]{6}$", max_length=32)]
Timestamp = Annotated[
    str,
    StringConstraints(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?Z$"),
    BeforeValidator(_dated),
]


class _Strict(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True)


class Receipt(_Strict):
    """The service's statement of a run."""

    version: Annotated[Literal[1, 2, 3], BeforeValidator(_whole)]
    run_id: str
    wallet: WalletAddress
    listing_id: ListingId
    status: Literal["completed", "failed", "undelivered"]
    cost_lamports: Lamports
    """The charge to the Per-Task balance."""
    charge_signature: Base58Signature | None
    credited: bool
    network: Literal["localnet", "devnet", "mainnet"]
    program_id: str
    input_digest: Sha256 | None
    output_digest: Sha256 | None
    started_at: Timestamp
    finished_at: Timestamp
    agent_version: Annotated[Whole, Field(ge=1)] = 0
    """The version of the agent that ran; 0 in receipts that do not say it."""
    version_change: Literal["compatible", "breaking"] | None = None
    trial: Annotated[bool, AfterValidator(_true)] = False
    """The run needed no rental and was free."""


class Charged(_Strict):
    """The charging transaction is the run's entry in the log."""

    status: Literal["charged"]
    signature: Base58Signature


class Pending(_Strict):
    """The run's batch is not final yet."""

    status: Literal["pending"]
    expected_at: Timestamp


class Logged(_Strict):
    """The run is in a final batch."""

    status: Literal["logged"]
    batch: Annotated[Whole, Field(ge=1)]
    count: Annotated[Whole, Field(ge=1)]
    leaf_index: Annotated[Whole, Field(ge=0)]
    proof: list[Sha256]
    root: Sha256
    previous_root: Sha256
    signature: Base58Signature


class Evidence(_Strict):
    """The service's word about the transaction, which a verification does not read."""

    transaction: str | None
    authorities: list[WalletAddress]


class SignedReceipt(_Strict):
    """The answer of ``GET /v1/runs/{run_id}/receipt``."""

    receipt: Receipt
    salt: Annotated[str, StringConstraints(pattern=r"^([0-9a-f]{32})?$")]
    jws: str
    log: Annotated[Charged | Pending | Logged, Field(discriminator="status")]
    evidence: Evidence = Field(default_factory=lambda: Evidence(transaction=None, authorities=[]))


class JwsHeader(_Strict):
    """The header of a receipt's JWS."""

    alg: Literal["EdDSA"]
    typ: Literal["agent-rental-receipt"]
    kid: str


class Jwk(_Strict):
    """A key of the service."""

    kty: Literal["OKP"]
    crv: Literal["Ed25519"]
    x: str
    kid: str
    exp: int | float = float("inf")
    """The Unix second after which it signed nothing."""


_Byte = Annotated[Whole, Field(ge=0, le=255)]
_Text = Annotated[str, StringConstraints(max_length=2_000)]
"""Longer than any text of a transaction: a packet holds 1,232 bytes."""
_MAX_ITEMS = 256


class MessageHeader(_Strict):
    """The counts of a message's accounts."""

    numRequiredSignatures: _Byte
    numReadonlySignedAccounts: _Byte
    numReadonlyUnsignedAccounts: _Byte


class JsonInstruction(_Strict):
    """An instruction of the encoding ``json``."""

    programIdIndex: _Byte
    accounts: Annotated[list[_Byte], Field(max_length=_MAX_ITEMS)]
    data: _Text


class JsonMessage(_Strict):
    """A message of the encoding ``json``."""

    header: MessageHeader
    accountKeys: Annotated[list[_Text], Field(max_length=_MAX_ITEMS)]
    recentBlockhash: _Text
    instructions: Annotated[list[JsonInstruction], Field(max_length=_MAX_ITEMS)]
    addressTableLookups: Annotated[list[Any], Field(max_length=0)] | None = None


class JsonTransaction(_Strict):
    """A transaction of the encoding ``json``."""

    signatures: Annotated[list[_Text], Field(max_length=_MAX_ITEMS)]
    message: JsonMessage


class Landed(_Strict):
    """The used part of the result of ``getTransaction``."""

    meta: dict[str, Any]
    transaction: Annotated[list[_Text], Field(min_length=2, max_length=2)] | JsonTransaction
    version: Literal["legacy", 0] | None = None
