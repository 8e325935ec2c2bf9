"""Rents a One-Time agent with anchorpy. Reads a job from stdin, writes its results to stdout, both JSON."""

import asyncio
import json
import sys

from anchorpy import Context, Idl, Program, Provider, Wallet
from anchorpy.error import ProgramError
from idl_accounts import derive_accounts, find_listing
from legacy_idl import to_legacy
from solana.rpc.async_api import AsyncClient
from solana.rpc.commitment import Confirmed
from solana.rpc.types import TxOpts
from solders.keypair import Keypair
from solders.pubkey import Pubkey


async def run(job: dict) -> dict:
    idl = job["idl"]
    buyer = Keypair.from_bytes(bytes(job["secret_key"]))
    options = TxOpts(skip_confirmation=False, preflight_commitment=Confirmed)
    async with AsyncClient(job["rpc_url"], Confirmed) as connection:
        provider = Provider(connection, Wallet(buyer), options)
        program = Program(
            Idl.from_json(json.dumps(to_legacy(idl))), Pubkey.from_string(idl["address"]), provider
        )
        protocol = derive_accounts(idl, "update_protocol", {"admin": buyer.pubkey(), "new_treasury": buyer.pubkey()}, {})
        treasury = (await program.account["Protocol"].fetch(protocol["protocol"])).treasury
        listing = find_listing(idl, job["listing_id"])
        price = (await program.account["Listing"].fetch(listing)).price_lamports

        given = {"buyer": buyer.pubkey(), "listing": listing, "treasury": treasury}
        accounts = derive_accounts(idl, "purchase_one_time", given, {})
        context = Context(accounts=accounts, signers=[buyer], options=options)
        refused = None
        try:
            await program.rpc["purchase_one_time"](price - 1, ctx=context)
        except ProgramError as error:
            refused = {"code": error.code, "message": error.msg}
        signature = await program.rpc["purchase_one_time"](price, ctx=context)
        credential = await program.account["AccessCredential"].fetch(accounts["access_credential"])
        return {
            "signature": str(signature),
            "refused": refused,
            "credential": {
                "address": str(accounts["access_credential"]),
                "buyer": str(credential.buyer),
                "listing": str(credential.listing),
                "rental_model": type(credential.rental_model).__name__,
                "valid": credential.valid,
                "purchased_at": credential.purchased_at,
            },
        }


json.dump(asyncio.run(run(json.load(sys.stdin))), sys.stdout)
