"""Pays for a call in USDC with the published client of x402. Run by `test/src/clients/x402-python.test.ts`: reads a job on
stdin and writes its results on stdout, both JSON."""

import base64
import json
import sys

from solders.keypair import Keypair
from x402 import x402ClientSync
from x402.http.clients.requests import x402_requests
from x402.mechanisms.svm import KeypairSigner
from x402.mechanisms.svm.exact import register_exact_svm_client

job = json.load(sys.stdin)
client = x402ClientSync()
signer = KeypairSigner(Keypair.from_bytes(bytes(job["secret_key"])))
register_exact_svm_client(client, signer, rpc_url=job["rpc_url"])
response = x402_requests(client).post(job["url"], json=job["body"], timeout=30)
receipt = json.loads(base64.b64decode(response.headers["PAYMENT-RESPONSE"]))
json.dump({"status": response.status_code, "run": response.json(), "receipt": receipt}, sys.stdout)
