"""Verifies a run's receipt offline: its signature, and its record on-chain."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from pydantic import ValidationError
from solders.pubkey import Pubkey

from .._ed25519 import verify_signature
from ..errors import AgentRentalError
from ..solana.program import DecodedInstruction, decode_instruction, find_balance_address, find_listing_address
from ..solana.wire import WireTransaction
from .form import Charged, Jwk, JwsHeader, Logged, Pending, Receipt, SignedReceipt
from .landed import landed_transaction

ReceiptPart = Literal["answer", "jws", "program", "log", "transaction", "authority", "memo", "proof", "charge"]
"""The first wrong part of a receipt's evidence."""

MEMO_PROGRAM_ID = Pubkey.from_string("MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr")
_MEMO = re.compile(
    r"agent-rental run log v1 batch=([1-9][0-9]{0,15}) count=([1-9][0-9]{0,4})"
    r" previous=([0-9a-f]{64}) root=([0-9a-f]{64})"
)
_MAX_JWS_CHARACTERS = 65_536
_MAX_KEYS = 1_000
_MAX_BATCH_NUMBER = 2**53 - 1
_MAX_RUNS_OF_BATCH = 65_536


class InvalidReceiptError(AgentRentalError):
    """A receipt or its evidence is wrong; ``part`` names the first wrong part."""

    code = "invalid_receipt"

    def __init__(self, part: ReceiptPart, reason: str) -> None:
        """Makes the error of a part."""
        super().__init__(f"{part}: {reason}")
        self.part: ReceiptPart = part
        self.reason = reason


@dataclass(frozen=True)
class VerifiedReceipt:
    """A receipt that holds, and the run's place on-chain."""

    receipt: Receipt
    log: Charged | Logged
    authority: str
    """The authority that signed the transaction, in base58."""


def verify_receipt(
    answer: object, *, jwks: object, transaction: object, authorities: Sequence[str], program_id: str
) -> VerifiedReceipt:
    """Verifies a run's receipt. Sends no request.

    The record on-chain is the run's charge, or a Merkle proof of its place in a batch of the run log. The transaction's
    signature is checked, so an RPC cannot invent one. Only the RPC says whether it landed.

    :param answer: the answer of ``GET /v1/runs/{run_id}/receipt``, as JSON
    :param jwks: the answer of ``GET /.well-known/jwks.json``, from a time when the reader trusted it
    :param transaction: the ``result`` of Solana's ``getTransaction`` for the log's signature, of encoding ``base64``
        or ``json``
    :param authorities: the accepted authorities of the protocol, in base58
    :param program_id: the address of the marketplace's program, in base58
    :raises InvalidReceiptError: with the first wrong part
    :raises ValueError: if ``authorities`` or ``program_id`` are no addresses
    """
    accepted = [Pubkey.from_string(one) for one in authorities]
    program = Pubkey.from_string(program_id)
    try:
        given = SignedReceipt.model_validate(answer)
    except (ValidationError, RecursionError):
        raise InvalidReceiptError("answer", "It is no answer of GET /v1/runs/:run_id/receipt.") from None
    payload, key = _verified_payload(given.jws, jwks)
    try:
        receipt = Receipt.model_validate(_json_of(payload))
    except ValidationError:
        raise InvalidReceiptError("jws", "Its payload is no receipt.") from None
    if datetime.fromisoformat(receipt.finished_at).timestamp() > key.exp:
        raise InvalidReceiptError("jws", "Its key had expired before the run ended.")
    if receipt != given.receipt or receipt.model_fields_set != given.receipt.model_fields_set:
        raise InvalidReceiptError("answer", "Its receipt is not the one that was signed.")
    if receipt.program_id != str(program):
        raise InvalidReceiptError("program", f"The receipt is of the program {receipt.program_id}.")
    log = given.log
    if isinstance(log, Pending):
        raise InvalidReceiptError("log", f"The run is not final on-chain yet; expected at {log.expected_at}.")
    try:
        wire = landed_transaction(transaction, log.signature)
    except ValueError as error:
        raise InvalidReceiptError("transaction", str(error)) from None
    authority = next((one for one in accepted if wire.is_signed_by(one)), None)
    if authority is None:
        raise InvalidReceiptError("authority", "None of the given authorities has signed the transaction.")
    if isinstance(log, Charged):
        _verify_charge(receipt, log, wire, authority, program)
    else:
        _verify_batch(receipt, payload, log, wire, authority)
    return VerifiedReceipt(receipt, log, str(authority))


def _verified_payload(jws: str, jwks: object) -> tuple[bytes, Jwk]:
    parts = [] if len(jws) > _MAX_JWS_CHARACTERS else jws.split(".")
    decoded = [_from_base64_url(part) for part in parts]
    if len(decoded) != 3 or not all(decoded):
        raise InvalidReceiptError("jws", "It is no compact JWS.")
    header, payload, signature = (part or b"" for part in decoded)
    said = _json_of(header)
    try:
        kid = JwsHeader.model_validate(said).kid
        # A reader must refuse critical members that it does not know (RFC 7515, section 4.1.11).
        if isinstance(said, dict) and "crit" in said:
            raise ValueError
    except ValueError:
        raise InvalidReceiptError("jws", "Its header is no receipt header.") from None
    keys = jwks.get("keys") if isinstance(jwks, dict) else None
    if not isinstance(keys, list) or len(keys) > _MAX_KEYS:
        raise InvalidReceiptError("jws", "The keys are no JWK set.")
    for each in keys:
        try:
            key = Jwk.model_validate(each)
        except (ValidationError, RecursionError):
            continue
        if key.kid == kid:
            break
    else:
        raise InvalidReceiptError("jws", "None of the keys is the one that it names.")
    public_key = _from_base64_url(key.x)
    if public_key is None or len(public_key) != 32:
        raise InvalidReceiptError("jws", "None of the keys is the one that it names.")
    if "revoked" in each:
        raise InvalidReceiptError("jws", "Its key has leaked, and is revoked. Ask for the receipt again.")
    if not verify_signature(signature, jws.rpartition(".")[0].encode(), public_key):
        raise InvalidReceiptError("jws", "Its signature is not right.")
    return payload, key


def _verify_charge(receipt: Receipt, log: Charged, wire: WireTransaction, authority: Pubkey, program: Pubkey) -> None:
    """The charging instruction has the receipt's run, price, wallet and listing."""
    if receipt.charge_signature != log.signature:
        raise InvalidReceiptError("log", "It names another transaction than the receipt does.")
    digits = receipt.run_id.replace("-", "")
    run_id = bytes.fromhex(digits) if re.fullmatch(r"[0-9a-f]{32}", digits) else b""
    listing = find_listing_address(receipt.listing_id, program)
    balance = find_balance_address(Pubkey.from_string(receipt.wallet), listing, program)
    for one in wire.instructions:
        read = decode_instruction(one.data, one.keys) if one.program_id == program else None
        for charge, charged in _charges_of(read):
            if charge["run_id"] != run_id:
                continue
            accounts = read.accounts if read else {}
            if charge["price_lamports"] != receipt.cost_lamports or (
                accounts["authority"],
                accounts["listing"],
                charged,
            ) != (authority, listing, balance):
                raise InvalidReceiptError("charge", "It charges another price, wallet or listing.")
            return
    raise InvalidReceiptError("charge", "It charges no run of this id.")


def _charges_of(read: DecodedInstruction | None) -> list[tuple[dict[str, Any], Pubkey]]:
    """The charges of an instruction, with the charged balances. The program refuses too few accounts."""
    if read is not None and read.name == "consume_query":
        return [(read.args, read.accounts["per_query_balance"])]
    if read is None or read.name != "consume_queries" or len(read.others) < 2 * len(read.args["charges"]):
        return []
    return [(charge, read.others[2 * place + 1]) for place, charge in enumerate(read.args["charges"])]


def _verify_batch(receipt: Receipt, payload: bytes, log: Logged, wire: WireTransaction, authority: Pubkey) -> None:
    """The proof leads to the root in a memo of the authority."""
    if receipt.charge_signature is not None:
        raise InvalidReceiptError("log", "The receipt names a charge, but a batch has only runs without one.")
    memo = next((one for one in wire.instructions if one.program_id == MEMO_PROGRAM_ID and authority in one.keys), None)
    said = _MEMO.fullmatch(memo.data.decode("utf-8", "replace")) if memo else None
    if said is None or int(said[1]) > _MAX_BATCH_NUMBER or int(said[2]) > _MAX_RUNS_OF_BATCH:
        raise InvalidReceiptError("memo", "It has no memo of the authority with a batch of the run log.")
    if (int(said[1]), int(said[2]), said[3], said[4]) != (log.batch, log.count, log.previous_root, log.root):
        raise InvalidReceiptError("memo", "It says another batch, count or root than the log.")
    if root_of(payload, log.leaf_index, log.count, log.proof) != log.root:
        raise InvalidReceiptError("proof", "It does not lead from the receipt to the root of the batch.")


def root_of(content: bytes, leaf_index: int, count: int, proof: Sequence[str]) -> str | None:
    """The Merkle root of a leaf's content and its proof (RFC 6962, section 2.1), in hexadecimal digits.

    :returns: None for a malformed proof, or one with a wrong number of hashes
    """
    if not 0 <= leaf_index < count:
        return None
    node, hashes = hashlib.sha256(b"\0" + content).digest(), list(proof)
    index, size = leaf_index, count
    while size > 1:
        is_right = index % 2 == 1
        if is_right or index + 1 < size:
            if not hashes or not re.fullmatch(r"[0-9a-f]{64}", hashes[0]):
                return None
            neighbour = bytes.fromhex(hashes.pop(0))
            node = hashlib.sha256(b"\1" + (neighbour + node if is_right else node + neighbour)).digest()
        index, size = index // 2, (size + 1) // 2
    return None if hashes else node.hex()


def _json_of(data: bytes) -> Any:
    """The JSON value of UTF-8 bytes; None for other bytes."""

    def refuse(name: str) -> None:
        raise ValueError(name)

    try:
        return json.loads(data.decode("utf-8").removeprefix("\ufeff"), parse_constant=refuse)
    except (ValueError, RecursionError):
        return None


def _from_base64_url(text: str) -> bytes | None:
    """Bytes of base64url without padding, in the one form that encodes them; None for other text."""
    if not re.fullmatch(r"[A-Za-z0-9_-]*", text) or len(text) % 4 == 1:
        return None
    decoded = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    return decoded if base64.urlsafe_b64encode(decoded).decode().rstrip("=") == text else None


__all__ = ["InvalidReceiptError", "VerifiedReceipt", "root_of", "verify_receipt"]
