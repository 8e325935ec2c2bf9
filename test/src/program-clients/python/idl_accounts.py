"""Fills in the accounts of an instruction from their description in an IDL of spec 0.1.0."""

from solders.pubkey import Pubkey


def derive_accounts(idl: dict, name: str, given: dict[str, Pubkey], args: dict) -> dict[str, Pubkey]:
    """All accounts of an instruction by name: those given, those with a fixed address, those with seeds."""
    instruction = next(entry for entry in idl["instructions"] if entry["name"] == name)
    program_id = Pubkey.from_string(idl["address"])
    accounts = dict(given)
    for account in instruction["accounts"]:
        if account["name"] in accounts:
            continue
        if "address" in account:
            accounts[account["name"]] = Pubkey.from_string(account["address"])
        elif "pda" in account:
            seeds = [_seed_bytes(seed, accounts, args) for seed in account["pda"]["seeds"]]
            accounts[account["name"]] = Pubkey.find_program_address(seeds, program_id)[0]
        else:
            raise KeyError(f"{name} needs the account {account['name']}")
    return accounts


def find_listing(idl: dict, listing_id: str) -> Pubkey:
    """The address of a listing, by the seeds that `verify_access` names for it."""
    buyer = Pubkey.default()
    return derive_accounts(idl, "verify_access", {}, {"buyer": buyer, "listing_id": listing_id})["listing"]


def _seed_bytes(seed: dict, accounts: dict[str, Pubkey], args: dict) -> bytes:
    if seed["kind"] == "const":
        return bytes(seed["value"])
    value = accounts[seed["path"]] if seed["kind"] == "account" else args[seed["path"]]
    return value.encode() if isinstance(value, str) else bytes(value)
