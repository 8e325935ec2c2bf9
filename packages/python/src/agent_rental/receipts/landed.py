"""The transaction of a receipt's log, from the answer of an RPC."""

from __future__ import annotations

import base64
import binascii

from pydantic import ValidationError
from solders.hash import Hash
from solders.instruction import CompiledInstruction
from solders.message import Message, MessageHeader, MessageV0
from solders.pubkey import Pubkey
from solders.signature import Signature
from solders.transaction import VersionedTransaction

from ..errors import UntrustedTransactionError
from ..solana.wire import WireTransaction, read_wire_transaction
from .form import JsonTransaction, Landed

_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"


def landed_transaction(given: object, signature: str) -> WireTransaction:
    """Reads the result of ``getTransaction`` for a successful transaction, and rebuilds its bytes.

    :raises ValueError: with the fault
    """
    try:
        landed = Landed.model_validate(given)
    except (ValidationError, RecursionError):
        raise ValueError(
            "It is no result of getTransaction of encoding base64 or json without lookup tables."
        ) from None
    if landed.meta.get("err", False) is not None:
        raise ValueError("It failed on-chain, or the result does not say that it did not.")
    try:
        if isinstance(landed.transaction, JsonTransaction):
            wire = _serialized(landed.transaction, landed.version == 0)
        else:
            text, encoding = landed.transaction
            if encoding != "base64":
                raise ValueError(encoding)
            wire = base64.b64decode(text, validate=True)
        transaction = read_wire_transaction(wire)
    except (ValueError, binascii.Error, UntrustedTransactionError, OverflowError):
        raise ValueError("Its bytes are no transaction.") from None
    if str(Signature.from_bytes(transaction.signatures[0])) != signature:
        raise ValueError("It is not the one that the log names.")
    return transaction


def _serialized(given: JsonTransaction, is_version_0: bool) -> bytes:
    message = given.message
    counts = message.header
    header = MessageHeader(
        counts.numRequiredSignatures, counts.numReadonlySignedAccounts, counts.numReadonlyUnsignedAccounts
    )
    keys = [Pubkey.from_string(key) for key in message.accountKeys]
    blockhash = Hash.from_string(message.recentBlockhash)
    instructions = [
        CompiledInstruction(one.programIdIndex, _base58(one.data), bytes(one.accounts)) for one in message.instructions
    ]
    built: Message | MessageV0
    if is_version_0:
        built = MessageV0(header, keys, blockhash, instructions, [])
    else:
        built = Message.new_with_compiled_instructions(
            counts.numRequiredSignatures,
            counts.numReadonlySignedAccounts,
            counts.numReadonlyUnsignedAccounts,
            keys,
            blockhash,
            instructions,
        )
    signatures = [Signature.from_string(one) for one in given.signatures]
    return bytes(VersionedTransaction.populate(built, signatures))


def _base58(text: str) -> bytes:
    number = 0
    for character in text:
        number = number * 58 + _BASE58.index(character)
    zeros = len(text) - len(text.lstrip("1"))
    return b"\0" * zeros + number.to_bytes((number.bit_length() + 7) // 8, "big")
