"""The answers to the vectors of the TypeScript sdk, and proofs of the run log."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from agent_rental.receipts import InvalidReceiptError, verify_receipt
from agent_rental.receipts.verify import root_of

VECTORS = [
    json.loads(line) for line in (Path(__file__).parent / "vectors/receipts.jsonl").read_text("utf-8").splitlines()
]


def answer_to(evidence: dict[str, Any]) -> dict[str, str]:
    try:
        verified = verify_receipt(
            evidence["answer"],
            jwks=evidence["jwks"],
            transaction=evidence["transaction"],
            authorities=evidence["authorities"],
            program_id=evidence["programId"],
        )
    except InvalidReceiptError as error:
        return {"part": error.part}
    return {"by": "charge" if verified.log.status == "charged" else "run_log"}


def test_the_answers_are_those_of_the_typescript_sdk() -> None:
    assert len(VECTORS) > 100
    wrong = {
        number: (answer_to(one["evidence"]), one["answer"])
        for number, one in enumerate(VECTORS)
        if answer_to(one["evidence"]) != one["answer"]
    }
    assert wrong == {}
    parts = {one["answer"].get("part", one["answer"].get("by")) for one in VECTORS}
    wanted = {"answer", "jws", "program", "log", "transaction", "authority", "memo", "proof", "charge", "run_log"}
    assert parts == wanted


@pytest.mark.parametrize("count", [1, 2, 3, 7, 8, 9, 64, 100])
def test_a_proof_leads_from_each_leaf_to_the_root_and_nowhere_else(count: int) -> None:
    leaves = [f"run {number}".encode() for number in range(count)]

    def tree(some: list[bytes]) -> bytes:
        if len(some) == 1:
            return hashlib.sha256(b"\0" + some[0]).digest()
        left = 1 << (len(some) - 1).bit_length() - 1
        return hashlib.sha256(b"\1" + tree(some[:left]) + tree(some[left:])).digest()

    def path(some: list[bytes], index: int) -> list[str]:
        if len(some) == 1:
            return []
        left = 1 << (len(some) - 1).bit_length() - 1
        if index < left:
            return [*path(some[:left], index), tree(some[left:]).hex()]
        return [*path(some[left:], index - left), tree(some[:left]).hex()]

    root = tree(leaves).hex()
    for index, leaf in enumerate(leaves):
        proof = path(leaves, index)
        assert root_of(leaf, index, count, proof) == root
        assert root_of(leaf + b"x", index, count, proof) != root
        assert root_of(leaf, index, count, [*proof, "a" * 64]) is None
        assert root_of(leaf, count, count, proof) is None


def test_evidence_of_any_form_is_an_invalid_receipt() -> None:
    good = VECTORS[0]["evidence"]
    deep: Any = []
    for _ in range(5_000):
        deep = [deep]
    for hostile in [None, 7, "x", [], {}, {"keys": [{}]}, deep, {"transaction": deep, "meta": {"err": None}}, True]:
        for part in ("answer", "jwks", "transaction"):
            assert "part" in answer_to({**good, part: hostile})


def test_a_wrong_argument_of_the_caller_is_a_value_error() -> None:
    with pytest.raises(ValueError):
        answer_to({**VECTORS[0]["evidence"], "authorities": ["0"]})
