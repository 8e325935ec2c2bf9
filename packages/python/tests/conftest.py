"""The marketplace of the tests as fixtures."""

import json
import os
from collections.abc import Iterator

import pytest
from market import DEPOSIT, Market

from agent_rental import Client


@pytest.fixture(scope="session")
def market() -> Market:
    given = os.environ.get("AGENT_RENTAL_TEST_MARKET")
    if given is None:
        pytest.skip("There is no AGENT_RENTAL_TEST_MARKET.")
    return Market(json.loads(given))


@pytest.fixture(scope="session")
def renter(market: Market) -> Iterator[Client]:
    """A client whose wallet has rented the market's agent."""
    with Client(market.base_url, wallet=market.new_wallet()) as client:
        for agent_id in (market.agent_id, *market.own.values()):
            assert client.rent(agent_id, deposit_lamports=DEPOSIT).valid
        yield client
