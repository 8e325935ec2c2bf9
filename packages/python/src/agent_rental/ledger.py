"""The counts of a spending policy: in memory, or in a folder that processes share."""

from __future__ import annotations

import os
import re
import uuid
from collections import defaultdict
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, Protocol

Kind = Literal["rental", "run"]

_ENTRY = re.compile(r"(\d{1,16})\.(rental|run)\.(\d{1,20})\.([a-z0-9-]{1,64})\.([0-9a-f]{32})(?:\.(\d{1,20}))?")
"""The name of an entry's empty file: time, kind, amount, listing, id, and the allowed amount."""
_AGREED = re.compile(r"agreed\.([a-z0-9-]{1,64})\.(\d{1,20})")
_LISTING = re.compile(r"[a-z0-9-]{1,64}")


@dataclass(frozen=True)
class Entry:
    """A spend, made or planned."""

    kind: Kind
    agent_id: str
    lamports: int
    """The counted amount."""
    time_ms: int
    allowed_lamports: int
    id: str = field(default_factory=lambda: uuid.uuid4().hex)


class Ledger(Protocol):
    """The spends of a wallet within the last day, and the agreed prices of its rentals.

    An entry is written before the money moves, so it stays counted if the process ends in between.
    """

    def add(self, entry: Entry) -> None:
        """Stores an entry."""

    def since(self, time_ms: int) -> list[Entry]:
        """Entries from a time on. Older ones are forgotten."""

    def settle(self, entry_id: str, lamports: int) -> None:
        """Replaces an entry's amount by the spent amount; 0 removes the entry."""

    def note(self, agent_id: str, lamports: int) -> None:
        """Notes the agreed price per run of a transaction before its signature."""

    def confirm(self, agent_id: str, lamports: int) -> None:
        """Notes that the transaction has landed. Earlier prices are no longer valid."""

    def highest(self, agent_id: str) -> int:
        """The highest agreed price that may be valid; 0 without one."""


class MemoryLedger:
    """A ledger that ends with its process."""

    def __init__(self) -> None:
        """Makes an empty ledger."""
        self._entries: dict[str, Entry] = {}
        self._agreed: defaultdict[str, set[int]] = defaultdict(set)

    def add(self, entry: Entry) -> None:
        """Stores an entry."""
        self._entries[entry.id] = entry

    def since(self, time_ms: int) -> list[Entry]:
        """Entries from a time on. Older ones are forgotten."""
        self._entries = {key: entry for key, entry in self._entries.items() if entry.time_ms >= time_ms}
        return list(self._entries.values())

    def settle(self, entry_id: str, lamports: int) -> None:
        """Replaces an entry's amount by the spent amount; 0 removes the entry."""
        known = self._entries.pop(entry_id, None)
        if known is not None and lamports > 0:
            self._entries[entry_id] = replace(known, lamports=lamports)

    def note(self, agent_id: str, lamports: int) -> None:
        """Notes the agreed price per run of a transaction before its signature."""
        self._agreed[agent_id].add(lamports)

    def confirm(self, agent_id: str, lamports: int) -> None:
        """Notes that the transaction has landed. Earlier prices are no longer valid."""
        self._agreed[agent_id] = {lamports}

    def highest(self, agent_id: str) -> int:
        """The highest agreed price that may be valid; 0 without one."""
        return max(self._agreed[agent_id], default=0)


class FileLedger:
    """A ledger in a folder, one per wallet, of the form of the TypeScript tools: both may share it.

    An entry is an empty file with all data in its name. A file is created atomically, so no entry is half written.
    """

    def __init__(self, folder: str | Path) -> None:
        """Makes the ledger of a folder, which is created if it is missing."""
        self._folder = Path(folder)

    def add(self, entry: Entry) -> None:
        """Stores an entry; it is durable at the return."""
        self._create(_name_of(entry))

    def since(self, time_ms: int) -> list[Entry]:
        """Entries from a time on. Older ones are forgotten."""
        kept = []
        for name in self._names():
            entry = _entry_of(name)
            if entry is None:
                continue
            if entry.time_ms >= time_ms:
                kept.append(entry)
            else:
                (self._folder / name).unlink(missing_ok=True)
        return kept

    def settle(self, entry_id: str, lamports: int) -> None:
        """Replaces an entry's amount by the spent amount; 0 removes the entry."""
        for name in self._names():
            known = _entry_of(name)
            if known is None or known.id != entry_id:
                continue
            if lamports > 0:
                with suppress(FileNotFoundError):
                    (self._folder / name).rename(self._folder / _name_of(replace(known, lamports=lamports)))
            else:
                (self._folder / name).unlink(missing_ok=True)

    def note(self, agent_id: str, lamports: int) -> None:
        """Notes the agreed price per run of a transaction before its signature."""
        self._create(f"agreed.{_checked(agent_id)}.{lamports}")

    def confirm(self, agent_id: str, lamports: int) -> None:
        """Notes that the transaction has landed. Earlier prices are no longer valid."""
        self.note(agent_id, lamports)
        for other in self._agreed(agent_id):
            if other != lamports:
                (self._folder / f"agreed.{agent_id}.{other}").unlink(missing_ok=True)

    def highest(self, agent_id: str) -> int:
        """The highest agreed price that may be valid; 0 without one."""
        return max(self._agreed(agent_id), default=0)

    def _agreed(self, agent_id: str) -> list[int]:
        found = [_AGREED.fullmatch(name) for name in self._names()]
        return [int(one[2]) for one in found if one is not None and one[1] == agent_id]

    def _names(self) -> list[str]:
        return [path.name for path in self._folder.iterdir()] if self._folder.exists() else []

    def _create(self, name: str) -> None:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        (self._folder / name).touch(mode=0o600)
        # A new name survives a power failure, where the system can sync a folder.
        with suppress(OSError):
            handle = os.open(self._folder, os.O_RDONLY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)


def _checked(agent_id: str) -> str:
    if _LISTING.fullmatch(agent_id) is None:
        raise ValueError(f"{agent_id!r} is no listing's id.")
    return agent_id


def _name_of(entry: Entry) -> str:
    parts = (entry.time_ms, entry.kind, entry.lamports, _checked(entry.agent_id), entry.id, entry.allowed_lamports)
    return ".".join(map(str, parts))


def _entry_of(name: str) -> Entry | None:
    parts = _ENTRY.fullmatch(name)
    if parts is None:
        return None
    kind: Kind = "run" if parts[2] == "run" else "rental"
    return Entry(kind, parts[4], int(parts[3]), int(parts[1]), int(parts[6] or parts[3]), parts[5])
