"""A spending policy: the limits of a client's payments. The hard limit is the wallet's balance."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from pathlib import Path

from .errors import ApprovalRequiredError, SpendingRefusedError, SpendingRule
from .ledger import Entry, FileLedger, Kind, Ledger, MemoryLedger

_WINDOW_MS = 24 * 60 * 60 * 1_000


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
class SpendingPolicy:
    """Limits in lamports. An absent rule limits nothing.

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
    folder: str | Path | None = None
    """Keeps the counts over a restart, for all processes of one wallet. Default: they end with this process."""
    now: Callable[[], float] = time.time
    """The clock, in Unix seconds."""
    _ledger: Ledger = field(init=False, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    def __post_init__(self) -> None:
        """Opens the ledger."""
        self._ledger = MemoryLedger() if self.folder is None else FileLedger(self.folder)

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
            self._require_window(request, request.lamports)
        # A person is not asked about a spend that the rules refuse, and may take long.
        if self.ask_above is not None and request.lamports > self.ask_above:
            if self.approve is None:
                raise ApprovalRequiredError(request.lamports)
            if self.approve(request) is not True:
                raise SpendingRefusedError("ask_above", "It was not approved.")
        entry = Entry(request.kind, request.agent_id, request.lamports, self._now_ms(), request.lamports)
        with self._lock:
            # Written first, then judged: of two processes that break a limit together, each sees the other.
            self._ledger.add(entry)
            try:
                self._require_window(request, 0)
            except SpendingRefusedError:
                self._ledger.settle(entry.id, 0)
                raise

        def settle(spent: int) -> None:
            with self._lock:
                self._ledger.settle(entry.id, spent)

        return settle

    def note_agreed(self, agent_id: str, lamports: int) -> None:
        """Keeps the agreed price of each run of a rental, before the signature of this wallet's own transaction."""
        self._ledger.note(agent_id, lamports)

    def confirm_agreed(self, agent_id: str, lamports: int) -> None:
        """Forgets earlier agreed prices: the transaction of this one has landed."""
        self._ledger.confirm(agent_id, lamports)

    def most_of_run(self, agent_id: str, told: int) -> int:
        """The highest price of a run: the higher one of the marketplace's and the agreed one."""
        return max(told, self._ledger.highest(agent_id))

    def _now_ms(self) -> int:
        return int(self.now() * 1_000)

    def _require_window(self, request: SpendingRequest, added: int) -> None:
        entries = self._ledger.since(self._now_ms() - _WINDOW_MS)
        same = [entry for entry in entries if entry.kind == request.kind]
        self._require("max_day", self.max_day, added + sum(entry.lamports for entry in same))
        of_listing = sum(entry.lamports for entry in same if entry.agent_id == request.agent_id)
        self._require("max_listing", self.max_listing, added + of_listing)

    @staticmethod
    def _require(rule: SpendingRule, most: int | None, lamports: int) -> None:
        if most is not None and lamports > most:
            raise SpendingRefusedError(rule, f"{rule} is {most} lamports; this would make it {lamports}.")
