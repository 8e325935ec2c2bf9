"""A spending policy: the limits of a client's payments. The hard limit is the wallet's balance."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Literal

from .errors import ApprovalRequiredError, SpendingRefusedError, SpendingRule

_WINDOW_SECONDS = 24 * 60 * 60

Kind = Literal["rental", "run"]


@dataclass(frozen=True)
class SpendingRequest:
    """A planned spend, for the approving person."""

    kind: Kind
    """``rental``: the money leaves the wallet. ``run``: it comes from a prepaid balance."""
    agent_id: str
    lamports: int
    max_run_lamports: int = 0
    """Per-Task rental: the highest price of each later run."""


@dataclass
class _Entry:
    kind: Kind
    agent_id: str
    lamports: int
    time: float


@dataclass
class SpendingPolicy:
    """Limits in lamports, counted in this process. An absent rule limits nothing.

    Rentals and runs are separate counts: a deposit pays for runs that count later.
    """

    max_run: int | None = None
    """The most that one run may draw. A rental that agrees to a higher price is refused, too."""
    max_day: int | None = None
    """The most within any 24 hours."""
    max_listing: int | None = None
    """The most within any 24 hours for one listing."""
    listing_ids: Collection[str] | None = None
    """The only listings that may be rented or run."""
    ask_above: int | None = None
    """Above this amount ``approve`` decides; without it the spend is refused."""
    approve: Callable[[SpendingRequest], bool] | None = None
    now: Callable[[], float] = time.time
    """The clock, in Unix seconds."""
    _entries: list[_Entry] = field(default_factory=list, init=False, repr=False)
    _agreed: dict[str, int] = field(default_factory=dict, init=False, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    def reserve(self, request: SpendingRequest) -> Callable[[int], None]:
        """Counts a planned spend from now on, if the rules and where needed a person allow it.

        :returns: records the spent amount in place of the reserved one, once it is known
        :raises SpendingRefusedError, ApprovalRequiredError: nothing is counted
        """
        if self.listing_ids is not None and request.agent_id not in self.listing_ids:
            raise SpendingRefusedError("listing_ids", "The policy does not allow payments to this agent.")
        run = request.lamports if request.kind == "run" else request.max_run_lamports
        self._require("max_run", self.max_run, run)
        with self._lock:
            self._require_window(request)
        # A person is not asked about a spend that the rules refuse, and may take long.
        if self.ask_above is not None and request.lamports > self.ask_above:
            if self.approve is None:
                raise ApprovalRequiredError(request.lamports)
            if self.approve(request) is not True:
                raise SpendingRefusedError("ask_above", "It was not approved.")
        entry = _Entry(request.kind, request.agent_id, request.lamports, self.now())
        with self._lock:
            self._require_window(request)
            self._entries.append(entry)

        def settle(spent: int) -> None:
            with self._lock:
                entry.lamports = spent

        return settle

    def note_agreed(self, agent_id: str, lamports: int) -> None:
        """Keeps the agreed price of each run of a rental, of this wallet's own transaction."""
        self._agreed[agent_id] = max(lamports, self._agreed.get(agent_id, 0))

    def most_of_run(self, agent_id: str, told: int) -> int:
        """The highest price of a run: the higher one of the marketplace's and the agreed one."""
        return max(told, self._agreed.get(agent_id, 0))

    def _require_window(self, request: SpendingRequest) -> None:
        since = self.now() - _WINDOW_SECONDS
        self._entries = [entry for entry in self._entries if entry.time >= since and entry.lamports > 0]
        same = [entry for entry in self._entries if entry.kind == request.kind]
        self._require("max_day", self.max_day, request.lamports + sum(entry.lamports for entry in same))
        of_listing = sum(entry.lamports for entry in same if entry.agent_id == request.agent_id)
        self._require("max_listing", self.max_listing, request.lamports + of_listing)

    @staticmethod
    def _require(rule: SpendingRule, most: int | None, lamports: int) -> None:
        if most is not None and lamports > most:
            raise SpendingRefusedError(rule, f"{rule} is {most} lamports; this would make it {lamports}.")
