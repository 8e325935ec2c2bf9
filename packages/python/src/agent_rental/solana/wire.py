"""Wire transactions, and the strict check of their signatures."""

from __future__ import annotations

from dataclasses import dataclass

from solders.message import MessageV0, to_bytes_versioned
from solders.pubkey import Pubkey
from solders.transaction import VersionedTransaction

from .._ed25519 import verify_signature
from ..errors import UntrustedTransactionError

PACKET_BYTES = 1232


@dataclass(frozen=True)
class WireInstruction:
    """An instruction with resolved accounts."""

    program_id: Pubkey
    keys: tuple[Pubkey, ...]
    data: bytes


@dataclass(frozen=True)
class WireTransaction:
    """A decoded wire transaction."""

    payer: Pubkey
    signers: tuple[Pubkey, ...]
    """The required signers, payer first."""
    writable: tuple[Pubkey, ...]
    accounts: tuple[Pubkey, ...]
    instructions: tuple[WireInstruction, ...]
    signatures: tuple[bytes, ...]
    """In the order of ``signers``; zeros for a missing signature."""
    message: bytes
    """The signed bytes."""

    def is_signed_by(self, signer: Pubkey) -> bool:
        """Whether one signer's signature is there and right."""
        if signer not in self.signers:
            return False
        signature = self.signatures[self.signers.index(signer)]
        return verify_signature(signature, self.message, bytes(signer))


def read_wire_transaction(wire: bytes) -> WireTransaction:
    """Reads a wire transaction of at most one network packet.

    :raises UntrustedTransactionError: ``malformed`` or ``lookup_table``
    """
    malformed = UntrustedTransactionError("malformed", "is not a valid wire transaction")
    if len(wire) > PACKET_BYTES:
        raise malformed
    try:
        transaction = VersionedTransaction.from_bytes(wire)
        # Other readers may understand bytes differently that do not serialise back to themselves.
        if bytes(transaction) != wire:
            raise malformed
    except UntrustedTransactionError:
        raise
    except Exception:
        # solders raises errors of several kinds for bytes of strangers.
        raise malformed from None
    message = transaction.message
    if isinstance(message, MessageV0) and message.address_table_lookups:
        raise UntrustedTransactionError("lookup_table", "uses address lookup tables, which hide accounts")
    accounts, header = tuple(message.account_keys), message.header
    required = header.num_required_signatures
    if not accounts or len(transaction.signatures) != required:
        raise malformed

    def is_writable(index: int) -> bool:
        if index < required:
            return index < required - header.num_readonly_signed_accounts
        return index < len(accounts) - header.num_readonly_unsigned_accounts

    try:
        instructions = tuple(
            WireInstruction(
                accounts[one.program_id_index], tuple(accounts[at] for at in bytes(one.accounts)), bytes(one.data)
            )
            for one in message.instructions
        )
    except IndexError:
        raise malformed from None
    return WireTransaction(
        payer=accounts[0],
        signers=accounts[:required],
        writable=tuple(account for index, account in enumerate(accounts) if is_writable(index)),
        accounts=accounts,
        instructions=instructions,
        signatures=tuple(bytes(signature) for signature in transaction.signatures),
        message=to_bytes_versioned(message),
    )
