"""The marketplace's on-chain program: its instructions by its IDL, and the addresses of its accounts."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any, TypeAlias

from solders.pubkey import Pubkey

IDL: dict[str, Any] = json.loads(files("agent_rental.contract").joinpath("idl.json").read_text("utf-8"))

MARKETPLACE_PROGRAM_ID = Pubkey.from_string(IDL["program_id"])
"""The published program. A deployment elsewhere has the id of its keypair."""
SYSTEM_PROGRAM_ID = Pubkey.default()
MAX_LISTING_ID_BYTES = int(IDL["constants"]["MAX_LISTING_ID_BYTES"])
ACCOUNT_SIZES = {name.removesuffix("_SIZE"): int(value) for name, value in IDL["constants"].items() if "_SIZE" in name}

_MAX_STRING_BYTES = 1024
_INTEGERS = {"u8": (1, False), "u16": (2, False), "u32": (4, False), "u64": (8, False), "i64": (8, True)}
_BY_NAME: dict[str, dict[str, Any]] = {one["name"]: one for one in IDL["instructions"]}

Value: TypeAlias = Any
"""An int, str, bool, bytes or Pubkey, None for an absent option, a list, a dict, or an enum's variant."""


@dataclass(frozen=True)
class Meta:
    """An account of an instruction."""

    address: Pubkey
    signer: bool
    writable: bool


@dataclass(frozen=True)
class BuiltInstruction:
    """An instruction of the program."""

    keys: tuple[Meta, ...]
    data: bytes


@dataclass(frozen=True)
class DecodedInstruction:
    """An instruction of the program, read back from a transaction."""

    name: str
    args: dict[str, Value]
    accounts: dict[str, Pubkey]
    others: tuple[Pubkey, ...]
    """The accounts after the named ones: for ``consume_queries``, a credential and a balance for each charge."""


def build_instruction(
    name: str, accounts: Mapping[str, Pubkey], args: Mapping[str, Value], program_id: Pubkey
) -> BuiltInstruction:
    """Builds an instruction. Order, flags and encoding come from the IDL, addresses and values from the caller.

    :raises KeyError: for a missing account
    :raises ValueError: for a value that does not fit its type
    """
    idl = _BY_NAME[name]
    keys = []
    for account in idl["accounts"]:
        given = accounts.get(account["name"])
        if given is None and not account["optional"]:
            raise KeyError(f"{name} needs the account {account['name']}.")
        there = given is not None
        keys.append(Meta(given or program_id, there and account["signer"], there and account["writable"]))
    data = bytearray(idl["discriminator"])
    for field in idl["args"]:
        data += _encoded(field["type"], args.get(field["name"]))
    return BuiltInstruction(tuple(keys), bytes(data))


def decode_instruction(data: bytes, accounts: Sequence[Pubkey]) -> DecodedInstruction | None:
    """Reads an instruction of the program.

    :returns: None for bytes that are not exactly one of its instructions, or too few accounts
    """
    idl = next((one for one in IDL["instructions"] if data.startswith(bytes(one["discriminator"]))), None)
    if idl is None or len(accounts) < len(idl["accounts"]):
        return None
    reader = _Reader(data[len(idl["discriminator"]) :])
    try:
        args = {field["name"]: reader.read(field["type"]) for field in idl["args"]}
    except ValueError:
        return None
    if reader.rest:
        return None
    named = {account["name"]: address for account, address in zip(idl["accounts"], accounts, strict=False)}
    return DecodedInstruction(idl["name"], args, named, tuple(accounts[len(idl["accounts"]) :]))


def _encoded(kind: Any, value: Value) -> bytes:
    if isinstance(kind, dict):
        if "option" in kind:
            return b"\0" if value is None else b"\1" + _encoded(kind["option"], value)
        if "defined" in kind:
            return bytes([_variants(kind).index(value)])
        raise ValueError(f"No action has an argument of the type {kind}.")
    if kind == "bool":
        return bytes([bool(value)])
    if kind == "string":
        text = str(value).encode()
        return len(text).to_bytes(4, "little") + text
    size, signed = _INTEGERS[kind]
    try:
        return int(value).to_bytes(size, "little", signed=signed)
    except OverflowError as error:
        raise ValueError(str(error)) from error


def _variants(kind: Any) -> list[str]:
    """The variants of an enum in snake_case."""
    names = [variant["name"] for variant in IDL["types"][kind["defined"]["name"]]["variants"]]
    return ["".join(f"_{each}" if each.isupper() else each for each in name).strip("_").lower() for name in names]


class _Reader:
    """Reads borsh. A read past the end raises a ValueError."""

    def __init__(self, data: bytes) -> None:
        self.rest = data

    def _take(self, size: int) -> bytes:
        if size > len(self.rest):
            raise ValueError(f"{size} bytes wanted, {len(self.rest)} left.")
        taken, self.rest = self.rest[:size], self.rest[size:]
        return taken

    def _tag(self, limit: int) -> int:
        tag = self._take(1)[0]
        if tag >= limit:
            raise ValueError(f"A tag of {tag}, where {limit} values exist.")
        return tag

    def read(self, kind: Any) -> Value:
        if isinstance(kind, dict):
            if "option" in kind:
                return None if self._tag(2) == 0 else self.read(kind["option"])
            if "array" in kind:
                return self._take(kind["array"][1])
            if "vec" in kind:
                # Ends at the last byte, for any claimed length.
                return [self.read(kind["vec"]) for _ in range(self.read("u32"))]
            definition = IDL["types"][kind["defined"]["name"]]
            if definition["kind"] == "struct":
                return {field["name"]: self.read(field["type"]) for field in definition["fields"]}
            variants = _variants(kind)
            return variants[self._tag(len(variants))]
        if kind == "bool":
            return self._tag(2) == 1
        if kind == "pubkey":
            return Pubkey.from_bytes(self._take(32))
        if kind == "string":
            length = self.read("u32")
            if length > _MAX_STRING_BYTES:
                raise ValueError(f"A string of {length} bytes.")
            return self._take(length).decode("utf-8")
        size, signed = _INTEGERS[kind]
        return int.from_bytes(self._take(size), "little", signed=signed)


@lru_cache(maxsize=10_000)
def _derived(program_id: Pubkey, *seeds: bytes) -> Pubkey:
    return Pubkey.find_program_address(list(seeds), program_id)[0]


def find_protocol_address(program_id: Pubkey) -> Pubkey:
    """Address of the one Protocol account."""
    return _derived(program_id, b"protocol")


def find_listing_address(listing_id: str, program_id: Pubkey) -> Pubkey:
    """Address of a listing.

    :raises ValueError: for an id that is empty or longer than a seed
    """
    seed = listing_id.encode()
    if not 1 <= len(seed) <= MAX_LISTING_ID_BYTES:
        raise ValueError(f"A listing id has 1 to {MAX_LISTING_ID_BYTES} bytes, this one has {len(seed)}.")
    return _derived(program_id, b"listing", seed)


def find_escrow_address(listing: Pubkey, program_id: Pubkey) -> Pubkey:
    """Address of the account with a listing's earnings."""
    return _derived(program_id, b"escrow", bytes(listing))


def find_credential_address(buyer: Pubkey, listing: Pubkey, program_id: Pubkey) -> Pubkey:
    """Address of a renter's credential."""
    return _derived(program_id, b"access_credential", bytes(buyer), bytes(listing))


def find_balance_address(buyer: Pubkey, listing: Pubkey, program_id: Pubkey) -> Pubkey:
    """Address of a renter's prepaid balance."""
    return _derived(program_id, b"per_query_balance", bytes(buyer), bytes(listing))
