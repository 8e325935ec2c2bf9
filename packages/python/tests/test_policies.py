"""The answers to the policies of the TypeScript tools, whose own test gives them, too."""

import json
from pathlib import Path
from typing import Any

import pytest
from test_proposals import VECTORS as PROPOSALS
from test_proposals import checked

from agent_rental import ApprovalRequiredError, SpendingPolicy, SpendingRefusedError
from agent_rental._flows import spending_of
from agent_rental.spending import SpendingRequest

VECTORS = [
    json.loads(line) for line in (Path(__file__).parent / "vectors/policies.jsonl").read_text("utf-8").splitlines()
]


def request_of(policy: SpendingPolicy, step: dict[str, Any]) -> SpendingRequest:
    """The spend of a run, or of a rental, whose cost is decoded from its transaction."""
    if "proposal" not in step:
        return SpendingRequest("run", step["listing"], policy.most_of_run(step["listing"], step["price"]))
    return spending_of(step["listing"], checked(PROPOSALS[step["proposal"]]).quote)


def answer_to(policy: SpendingPolicy, step: dict[str, Any]) -> dict[str, Any]:
    asked: dict[str, bool] = {}

    def approve(_: SpendingRequest) -> Any:
        asked["asked"] = True
        return step["says"]

    policy.now = lambda: step["at"]
    policy.approve = approve if "says" in step else None
    request = request_of(policy, step)
    try:
        settle = policy.reserve(request)
    except SpendingRefusedError as error:
        return {"refused": error.rule, **asked}
    except ApprovalRequiredError:
        return {"refused": "approval_required", **asked}
    end = step.get("end")
    if end == "unsigned":
        settle(0)
    elif isinstance(end, int):
        settle(end)
    elif end is not None and request.max_run_lamports:
        policy.note_agreed(request.agent_id, request.max_run_lamports)
        if end == "landed":
            policy.confirm_agreed(request.agent_id, request.max_run_lamports)
    return {"counted": request.lamports, **asked}


def test_there_are_a_thousand_policies_with_every_answer() -> None:
    assert len(VECTORS) == 1000
    answers = {answer.get("refused") for vector in VECTORS for answer in vector["answers"]}
    assert answers == {None, "listing_ids", "max_run", "max_day", "max_listing", "ask_above", "approval_required"}


@pytest.mark.parametrize("start", range(0, 1000, 250))
def test_the_answers_are_those_of_the_typescript_tools(start: int) -> None:
    for number, vector in enumerate(VECTORS[start : start + 250], start):
        policy = SpendingPolicy(**vector["policy"])
        assert [answer_to(policy, step) for step in vector["steps"]] == vector["answers"], f"policy {number}"


def test_a_folder_gives_the_same_answers(tmp_path: Path) -> None:
    for number, vector in enumerate(VECTORS[:30]):
        policy = SpendingPolicy(**vector["policy"], folder=tmp_path / str(number))
        assert [answer_to(policy, step) for step in vector["steps"]] == vector["answers"], f"policy {number}"
