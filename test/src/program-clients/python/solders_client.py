"""Rents a One-Time agent with solders and the standard library: the IDL read by hand, as its spec says. Reads a job
from stdin, writes its results to stdout, both JSON."""

import base64
import json
import struct
import sys
import urllib.request

from idl_accounts import derive_accounts, find_listing
from solders.hash import Hash
from solders.instruction import AccountMeta, Instruction
from solders.keypair import Keypair
from solders.message import MessageV0
from solders.pubkey import Pubkey
from solders.signature import Signature
from solders.transaction import VersionedTransaction

FIXED_TYPES = {"bool": "<?", "u8": "<B", "u16": "<H", "u32": "<I", "u64": "<Q", "i64": "<q"}


class RpcError(Exception):
    """An error of JSON-RPC, as it came."""

    def __init__(self, error: dict) -> None:
        super().__init__(error["message"])
        self.error = error


class Client:
    """The marketplace through its IDL and a node's JSON-RPC."""

    def __init__(self, rpc_url: str, idl: dict) -> None:
        self.rpc_url = rpc_url
        self.idl = idl
        self.program_id = Pubkey.from_string(idl["address"])

    def call(self, method: str, *params):
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
        request = urllib.request.Request(self.rpc_url, body, {"content-type": "application/json"})
        with urllib.request.urlopen(request, timeout=30) as response:
            answer = json.load(response)
        if "error" in answer:
            raise RpcError(answer["error"])
        return answer["result"]

    def instruction(self, name: str, given: dict[str, Pubkey], args: dict) -> Instruction:
        entry = next(entry for entry in self.idl["instructions"] if entry["name"] == name)
        accounts = derive_accounts(self.idl, name, given, args)
        metas = [
            AccountMeta(accounts[account["name"]], account.get("signer", False), account.get("writable", False))
            for account in entry["accounts"]
        ]
        data = bytes(entry["discriminator"])
        for field in entry["args"]:
            data += self._encode(field["type"], args[field["name"]])
        return Instruction(self.program_id, data, metas)

    def fetch(self, type_name: str, address: Pubkey) -> dict:
        info = self.call("getAccountInfo", str(address), {"encoding": "base64", "commitment": "confirmed"})["value"]
        data = base64.b64decode(info["data"][0])
        account = next(entry for entry in self.idl["accounts"] if entry["name"] == type_name)
        if info["owner"] != self.idl["address"] or list(data[:8]) != account["discriminator"]:
            raise ValueError(f"{address} is not a {type_name}")
        return self._decode_struct(type_name, data, 8)[0]

    def wire(self, instruction: Instruction, payer: Pubkey, signers: list[Keypair]) -> str:
        blockhash = self.call("getLatestBlockhash", {"commitment": "confirmed"})["value"]["blockhash"]
        message = MessageV0.try_compile(payer, [instruction], [], Hash.from_string(blockhash))
        if signers:
            transaction = VersionedTransaction(message, signers)
        else:
            transaction = VersionedTransaction.populate(message, [Signature.default()])
        return base64.b64encode(bytes(transaction)).decode()

    def send(self, instruction: Instruction, signer: Keypair) -> str:
        wire = self.wire(instruction, signer.pubkey(), [signer])
        signature = self.call("sendTransaction", wire, {"encoding": "base64", "preflightCommitment": "confirmed"})
        while True:
            status = self.call("getSignatureStatuses", [signature])["value"][0]
            if status is not None and status["confirmationStatus"] in ("confirmed", "finalized"):
                if status["err"] is not None:
                    raise RuntimeError(f"landed and failed: {status['err']}")
                return signature

    def view(self, instruction: Instruction, payer: Pubkey) -> bytes:
        options = {"encoding": "base64", "sigVerify": False, "replaceRecentBlockhash": True}
        value = self.call("simulateTransaction", self.wire(instruction, payer, []), options)["value"]
        return base64.b64decode(value["returnData"]["data"][0])

    def refusal(self, error: RpcError) -> dict:
        _, detail = error.error["data"]["err"]["InstructionError"]
        entry = next(entry for entry in self.idl["errors"] if entry["code"] == detail["Custom"])
        return {"rpc_code": error.error["code"], "code": entry["code"], "name": entry["name"]}

    def _encode(self, kind, value) -> bytes:
        if kind == "pubkey":
            return bytes(value)
        if kind == "string":
            text = value.encode()
            return struct.pack("<I", len(text)) + text
        return struct.pack(FIXED_TYPES[kind], value)

    def _decode_struct(self, name: str, data: bytes, offset: int) -> tuple[dict, int]:
        body = next(entry for entry in self.idl["types"] if entry["name"] == name)["type"]
        fields = {}
        for field in body["fields"]:
            fields[field["name"]], offset = self._decode(field["type"], data, offset)
        return fields, offset

    def _decode(self, kind, data: bytes, offset: int):
        if kind == "pubkey":
            return str(Pubkey.from_bytes(data[offset : offset + 32])), offset + 32
        if kind == "string":
            end = offset + 4 + struct.unpack_from("<I", data, offset)[0]
            return data[offset + 4 : end].decode(), end
        if isinstance(kind, str):
            return struct.unpack_from(FIXED_TYPES[kind], data, offset)[0], offset + struct.calcsize(FIXED_TYPES[kind])
        if "array" in kind:
            items = []
            for _ in range(kind["array"][1]):
                item, offset = self._decode(kind["array"][0], data, offset)
                items.append(item)
            return items, offset
        body = next(entry for entry in self.idl["types"] if entry["name"] == kind["defined"]["name"])["type"]
        return body["variants"][data[offset]]["name"], offset + 1


def run(job: dict) -> dict:
    client = Client(job["rpc_url"], job["idl"])
    buyer = Keypair.from_bytes(bytes(job["secret_key"]))
    listing = find_listing(client.idl, job["listing_id"])
    question = {"buyer": buyer.pubkey(), "listing_id": job["listing_id"]}
    verify = client.instruction("verify_access", {}, question)
    before = client.view(verify, buyer.pubkey())

    revoke = {"admin": buyer.pubkey(), "buyer": buyer.pubkey(), "listing": listing}
    protocol = client.fetch("Protocol", derive_accounts(client.idl, "revoke_access", revoke, {})["protocol"])
    price = client.fetch("Listing", listing)["price_lamports"]
    given = {"buyer": buyer.pubkey(), "listing": listing, "treasury": Pubkey.from_string(protocol["treasury"])}

    def purchase(max_price: int) -> Instruction:
        return client.instruction("purchase_one_time", given, {"max_price_lamports": max_price})

    refused = None
    try:
        client.send(purchase(price - 1), buyer)
    except RpcError as error:
        refused = client.refusal(error)
    signature = client.send(purchase(price), buyer)
    address = derive_accounts(client.idl, "purchase_one_time", given, {})["access_credential"]
    credential = client.fetch("AccessCredential", address)
    return {
        "signature": signature,
        "refused": refused,
        "has_access": [list(before), list(client.view(verify, buyer.pubkey()))],
        "credential": {
            "address": str(address),
            **{key: credential[key] for key in ("buyer", "listing", "rental_model", "valid", "purchased_at")},
        },
    }


json.dump(run(json.load(sys.stdin)), sys.stdout)
