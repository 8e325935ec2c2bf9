"""The counts in a folder, which processes share; and inputs that are refused before anything is paid."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agent_rental import ApiError, Client, SpendingPolicy, SpendingRefusedError, SpendingRequest
from agent_rental._input import check_input

SPEND = """
import os, sys
from agent_rental import SpendingPolicy, SpendingRefusedError, SpendingRequest
try:
    SpendingPolicy(max_day=100, folder=sys.argv[1]).reserve(SpendingRequest("rental", "a-aaaaaa", int(sys.argv[2])))
    print("spent", flush=True)
except SpendingRefusedError as error:
    print(error.rule, flush=True)
os._exit(9)
"""


def spend_and_die(folder: Path, lamports: int) -> "subprocess.Popen[str]":
    """Another process, which ends before it can record the result."""
    command = [sys.executable, "-c", SPEND, str(folder), str(lamports)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def said(process: "subprocess.Popen[str]") -> str:
    return process.communicate(timeout=30)[0].strip()


def test_a_folder_remembers_the_day_of_a_killed_process(tmp_path: Path) -> None:
    folder = tmp_path / "spending"
    assert said(spend_and_die(folder, 60)) == "spent"
    again = SpendingPolicy(max_day=100, folder=folder)
    settle = again.reserve(SpendingRequest("rental", "a-aaaaaa", 40))
    settle(10)
    with pytest.raises(SpendingRefusedError):
        again.reserve(SpendingRequest("rental", "a-aaaaaa", 31))
    again.reserve(SpendingRequest("rental", "a-aaaaaa", 30))
    with pytest.raises(SpendingRefusedError):
        SpendingPolicy(max_day=100, folder=folder).reserve(SpendingRequest("rental", "a-aaaaaa", 1))


def test_processes_never_spend_more_together_than_one_alone_may(tmp_path: Path) -> None:
    other = SpendingPolicy(max_day=100, folder=tmp_path)
    spend = SpendingRequest("rental", "a-aaaaaa", 60)

    def approve(_: SpendingRequest) -> bool:
        """Another process spends while a person decides."""
        other.reserve(spend)
        return True

    policy = SpendingPolicy(max_day=100, ask_above=0, approve=approve, folder=tmp_path)
    with pytest.raises(SpendingRefusedError) as refused:
        policy.reserve(spend)
    assert refused.value.rule == "max_day"
    other.reserve(SpendingRequest("rental", "a-aaaaaa", 40))


def test_a_folder_forgets_older_days_and_keeps_agreed_prices(tmp_path: Path) -> None:
    clock = [1_000_000.0]
    policy = SpendingPolicy(max_day=100, folder=tmp_path, now=lambda: clock[0])
    policy.reserve(SpendingRequest("run", "a-aaaaaa", 100))
    policy.note_agreed("a-aaaaaa", 7)
    policy.note_agreed("a-aaaaaa", 5)
    assert SpendingPolicy(folder=tmp_path).most_of_run("a-aaaaaa", 6) == 7
    policy.confirm_agreed("a-aaaaaa", 5)
    assert SpendingPolicy(folder=tmp_path).most_of_run("a-aaaaaa", 0) == 5
    clock[0] += 24 * 60 * 60 + 1
    policy.reserve(SpendingRequest("run", "a-aaaaaa", 100))(0)
    assert [path.name for path in tmp_path.iterdir()] == ["agreed.a-aaaaaa.5"]


def test_a_listing_names_no_file_of_another_folder(tmp_path: Path) -> None:
    policy = SpendingPolicy(folder=tmp_path / "spending")
    with pytest.raises(ValueError):
        policy.reserve(SpendingRequest("run", "../a", 1))
    assert list(tmp_path.iterdir()) == []


def nested(levels: int) -> dict[str, Any]:
    inner: Any = 1
    for _ in range(levels - 1):
        inner = [inner]
    return {"a": inner}


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        (nested(65), "is nested deeper than 64 levels, or is not JSON"),
        (nested(100_000), "is nested deeper than 64 levels, or is not JSON"),
        ({"a": [0] * 49_999}, "has more than 50000 values"),
        ({"a": {str(number): 0 for number in range(8_000)}}, "has more than 8000 different names"),
        ({"a": "x" * 1_048_576}, "has more than 1048576 bytes"),
        ({"a": float("nan")}, "is nested deeper than 64 levels, or is not JSON"),
        ({"a": {1, 2}}, "is nested deeper than 64 levels, or is not JSON"),
        ({"a": 10**5_000}, "has a number that would change. Send it as text, in quotes"),
        ({"a": 2**53 + 1}, "has a number that would change: 9007199254740993. Send it as text, in quotes"),
    ],
)
def test_an_input_that_the_marketplace_refuses_is_refused_before_any_request(given: Any, fault: str) -> None:
    # There is no marketplace at this address.
    with Client("http://127.0.0.1:9", api_key="x", retries=0) as client:
        for call in (
            lambda: client.hire("Do it.", given, budget_lamports=1, agent_id="a-aaaaaa"),
            lambda: client.quote_hire("Do it.", given, budget_lamports=1),
            lambda: client.run("a-aaaaaa", "Do it.", given),
            lambda: next(client.stream("a-aaaaaa", "Do it.", given)),
        ):
            with pytest.raises(ApiError) as refused:
                call()
            assert (refused.value.code, refused.value.message) == ("invalid_request", f'"input" {fault}.')


def test_an_input_within_the_bounds_passes() -> None:
    for given in (nested(64), {"a": [0] * 49_998}, {"a": "x" * 1_048_568}, {"a": [2**53, 10**20, 0.1]}, "text", None):
        check_input(given)
