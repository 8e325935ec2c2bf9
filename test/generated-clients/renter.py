"""Rents and runs with the client that openapi-python-client makes of `/openapi.json`, and solders to sign. Run by
`test/src/clients/generated-clients.test.ts`: reads a job on stdin and writes its results on stdout, both JSON."""

import base64
import io
import json
import sys
from typing import TypeVar

from agent_rental_marketplace_api_client import AuthenticatedClient, Client
from agent_rental_marketplace_api_client.api.listings import search_listings
from agent_rental_marketplace_api_client.api.login import create_token, get_challenge
from agent_rental_marketplace_api_client.api.rentals import create_transaction, submit_transaction
from agent_rental_marketplace_api_client.api.runs import create_file, execute, get_run
from agent_rental_marketplace_api_client.models import (
    Challenge,
    EndedRun,
    ErrorEnvelope,
    Execute,
    ExecuteInputType1,
    ListingPage,
    RentalModel,
    RentListing,
    Run,
    SearchListingsSort,
    StoredFile,
    SubmitTransaction,
    SubmittedTransaction,
    Token,
    TokenRequest,
    TransactionProposal,
)
from agent_rental_marketplace_api_client.types import File, Unset
from solders.keypair import Keypair
from solders.transaction import VersionedTransaction

T = TypeVar("T")


def expect(kind: type[T], answer: object) -> T:
    """The answer, as that type; raises the API's own words for a refusal."""
    if isinstance(answer, kind):
        return answer
    raise RuntimeError(answer.error.message if isinstance(answer, ErrorEnvelope) else f"not a {kind.__name__}: {answer}")


given = json.load(sys.stdin)
wallet = Keypair.from_bytes(bytes(given["secret_key"]))
address = str(wallet.pubkey())
stranger = Client(base_url=given["base_url"])
challenge = expect(Challenge, get_challenge.sync(client=stranger, wallet=address)).challenge
signature = str(wallet.sign_message(challenge.encode()))
request = TokenRequest(wallet=address, challenge=challenge, signature=signature)
token = expect(Token, create_token.sync(client=stranger, body=request)).token
client = AuthenticatedClient(base_url=given["base_url"], token=token)

found = search_listings.sync(
    client=client, q=given["q"], rental_model=RentalModel.PER_QUERY, sort=SearchListingsSort.PRICE_ASC
)
listing = expect(ListingPage, found).listings[0]

rent = RentListing(action="rent", listing_id=listing.id, deposit_lamports=10_000_000)
proposal = expect(TransactionProposal, create_transaction.sync(client=client, body=rent))
message = VersionedTransaction.from_bytes(base64.b64decode(proposal.transaction)).message
signed = base64.b64encode(bytes(VersionedTransaction(message, [wallet]))).decode()
submitted = submit_transaction.sync(client=client, body=SubmitTransaction(transaction=signed))
credential = expect(SubmittedTransaction, submitted).credential
if isinstance(credential, Unset) or not credential.valid:
    raise RuntimeError("The credential is not valid.")

content = File(payload=io.BytesIO(json.dumps(given["input"]).encode()))
file = expect(StoredFile, create_file.sync(client=client, body=content))
task = Execute(agent_id=listing.id, task=given["task"], input_=ExecuteInputType1.from_dict(given["input"]))
run = expect(Run, execute.sync(client=client, body=task))
state = expect(EndedRun, get_run.sync(run.run_id, client=client))
absent = expect(ErrorEnvelope, get_run.sync("absent", client=client))
json.dump(
    {
        "listing_id": listing.id,
        "file": {"media_type": file.media_type, "size_bytes": file.size_bytes},
        "status": run.status,
        "cost": run.cost_lamports,
        "output": run.output,
        "read": {"status": state.status, "cost": state.cost_lamports, "has_error": not isinstance(state.error, Unset)},
        "refused": absent.error.code,
    },
    sys.stdout,
)
