"""The answers to the vectors of the TypeScript sdk, which its own test gives, too."""

import dataclasses
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from solders.keypair import Keypair
from solders.pubkey import Pubkey

from agent_rental import ApiError, UntrustedTransactionError
from agent_rental.solana import check_proposal, inspect_proposal
from agent_rental.solana.proposal import CheckedProposal

VECTORS = [
    json.loads(line) for line in (Path(__file__).parent / "vectors/proposals.jsonl").read_text("utf-8").splitlines()
]


def seeded(name: str) -> Pubkey:
    return Keypair.from_seed(hashlib.sha256(name.encode()).digest()).pubkey()


def checked(vector: dict[str, Any]) -> CheckedProposal:
    options = vector["options"]
    known: dict[str, Any] = {}
    if options["known"]:
        known = {"treasury": seeded("treasury"), "authorities": (seeded("authority"),)}
    if "max_priority_fee_lamports" in options:
        known["max_priority_fee_lamports"] = options["max_priority_fee_lamports"]
    check = inspect_proposal if options["inspect"] else check_proposal
    return check(vector["proposal"], vector["request"], str(seeded("wallet")), **known)


def answer_to(vector: dict[str, Any]) -> dict[str, Any]:
    try:
        quote = dataclasses.asdict(checked(vector).quote)
    except UntrustedTransactionError as error:
        return {"refused": error.reason}
    except ApiError as error:
        return {"refused": error.code}
    return {"quote": {name: value for name, value in quote.items() if value is not None}}


def test_there_are_a_thousand_vectors_of_every_answer() -> None:
    assert len(VECTORS) == 1000
    reasons = {vector["answer"].get("refused") for vector in VECTORS}
    assert reasons >= {None, "malformed", "payer", "signer", "program", "instruction", "account", "argument", "price"}
    assert reasons >= {"network_fee", "quote", "signature", "lookup_table"}


@pytest.mark.parametrize("start", range(0, 1000, 100))
def test_the_answers_are_those_of_the_typescript_sdk(start: int) -> None:
    for number, vector in enumerate(VECTORS[start : start + 100], start):
        assert answer_to(vector) == vector["answer"], f"vector {number}"
