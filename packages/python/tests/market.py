"""The marketplace of the tests, which ``test/src/clients/python-package.test.ts`` starts."""

import time
from collections.abc import Callable
from typing import Any, TypeVar

import httpx

from agent_rental import Wallet

T = TypeVar("T")
SOL = 1_000_000_000
DEPOSIT = 10_000_000
UNTIL_SECONDS = 20.0


def until(probe: Callable[[], T | None]) -> T:
    """Polls until there is an answer."""
    end = time.monotonic() + UNTIL_SECONDS
    while time.monotonic() < end:
        found = probe()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError("It did not happen in time.")


class Market:
    """The running marketplace."""

    def __init__(self, given: dict[str, Any]) -> None:
        self.base_url: str = given["base_url"]
        self.rpc_url: str = given["rpc_url"]
        self.program_id: str = given["program_id"]
        self.agent_id: str = given["agent_id"]
        self.task: str = given["task"]
        self.input: dict[str, Any] = given["input"]
        self.own: dict[str, str] = given.get("own", {})
        """Agents that ``own_agents.py`` serves, by their kinds."""
        self.own_url: str = given.get("own_url", "")

    def rpc(self, method: str, *params: Any) -> Any:
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        return httpx.post(self.rpc_url, json=body, timeout=30).json()["result"]

    def balance(self, wallet: Wallet) -> int:
        return self.balance_of(wallet.address)

    def balance_of(self, address: str) -> int:
        lamports: int = self.rpc("getBalance", address, {"commitment": "confirmed"})["value"]
        return lamports

    def new_wallet(self) -> Wallet:
        wallet = Wallet.generate()
        self.fund(wallet.address)
        return wallet

    def fund(self, address: str) -> None:
        self.rpc("requestAirdrop", address, SOL)
        until(lambda: self.balance_of(address))
