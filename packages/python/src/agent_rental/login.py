"""A wallet's login. The signed text names the marketplace's domain, so that no service can use it at another one."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Generator
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

import httpx

from ._exchange import failure_of
from .errors import ConnectionFailedError, UntrustedChallengeError
from .wallet import Wallet

_CLOCK_SKEW_SECONDS = 300
_MOST_SECONDS = 300
_RENEW_BEFORE_SECONDS = 60
_CHALLENGE = re.compile(r"agent-rental:auth:([0-9]{1,12}):([0-9a-f]{64})", re.ASCII)
_CHAIN = re.compile(r"solana:(?:localnet|devnet|mainnet)")
_LOOPBACK = {"127.0.0.1", "localhost", "[::1]"}
_STATEMENT = "Sign in to the agent rental marketplace."


class WalletLogin:
    """Authenticates by a wallet's login. Keeps the token, and logs in again before it expires."""

    def __init__(self, wallet: Wallet, base_url: str, domain: str) -> None:
        """Makes the login to a marketplace, for the host and port ``domain``."""
        self._wallet, self._base_url, self._domain = wallet, base_url, domain
        self._token: tuple[str, float] | None = None

    def header(self) -> Generator[httpx.Request, httpx.Response | httpx.TransportError | None, str]:
        """Yields the requests of a login, if the token is missing or about to expire."""
        if self._token is None or time.time() >= self._token[1] - _RENEW_BEFORE_SECONDS:
            address = self._wallet.address
            query = {"wallet": address, "sign_in": "true"}
            issued = yield from self._ask(httpx.Request("GET", f"{self._base_url}/v1/auth/challenge", params=query))
            challenge = issued.get("challenge")
            text = sign_in_text(challenge, issued.get("sign_in"), self._domain, address)
            body = {
                "wallet": address,
                "challenge": challenge,
                "signature": self._wallet.sign_message(text.encode()),
                "sign_in_message": text,
            }
            granted = yield from self._ask(httpx.Request("POST", f"{self._base_url}/v1/auth/token", json=body))
            token, expires_at = granted.get("token"), granted.get("expires_at")
            if not isinstance(token, str) or not isinstance(expires_at, int | float):
                raise ConnectionFailedError("The answer to the login could not be read.")
            self._token = (token, expires_at)
        return f"Bearer {self._token[0]}"

    def renew(self) -> bool:
        """Forgets a refused token."""
        self._token = None
        return True

    def _ask(
        self, request: httpx.Request
    ) -> Generator[httpx.Request, httpx.Response | httpx.TransportError | None, dict[str, Any]]:
        answer = yield request
        if not isinstance(answer, httpx.Response) or not answer.is_success:
            raise failure_of(answer)
        try:
            body = json.loads(answer.content)
        except ValueError:
            body = None
        if not isinstance(body, dict):
            raise ConnectionFailedError("The answer to the login could not be read.")
        return body


def sign_in_text(challenge: object, offered: object, domain: str, wallet: str) -> str:
    """The Sign In With Solana text of a challenge, of checked fields alone.

    :raises UntrustedChallengeError: if the offer is for another site, wallet, challenge or time
    """
    known = _CHALLENGE.fullmatch(challenge) if isinstance(challenge, str) else None
    if known is None:
        raise UntrustedChallengeError("the text from the service does not have the form of a challenge.")
    issued_at, nonce = int(known[1]), known[2]
    if abs(time.time() - issued_at) > _CLOCK_SKEW_SECONDS:
        raise UntrustedChallengeError(
            f"the challenge is more than {_CLOCK_SKEW_SECONDS} seconds from this machine's clock."
        )
    if not isinstance(offered, dict):
        raise UntrustedChallengeError("the service offers no sign-in message that names its domain.")
    offer = {name: value for name, value in offered.items() if isinstance(value, str)}
    site = offer.get("domain", "")
    if site != domain and not (_is_loopback(site) and _is_loopback(domain)):
        shown = json.dumps(site[:100])
        raise UntrustedChallengeError(
            f"the service asks to sign in to {shown}, and is reached as {domain}. "
            f"If {shown} is the marketplace that you mean, give it to the client as domain."
        )
    issued, end = _seconds(offer.get("issuedAt")), _seconds(offer.get("expirationTime"))
    uri = urlsplit(offer.get("uri", ""))
    if not (
        offer.get("address") == wallet
        and uri.scheme in ("http", "https")
        and uri.netloc == site
        and offer.get("nonce") == nonce
        and _CHAIN.fullmatch(offer.get("chainId", ""))
        and issued == issued_at
        and end is not None
        and issued < end <= issued + _MOST_SECONDS
    ):
        raise UntrustedChallengeError("the sign-in message is not for this wallet, challenge and time.")
    return "\n".join(
        [
            f"{site} wants you to sign in with your Solana account:",
            wallet,
            "",
            _STATEMENT,
            "",
            f"URI: {uri.scheme}://{uri.netloc}",
            "Version: 1",
            f"Chain ID: {offer['chainId']}",
            f"Nonce: {nonce}",
            f"Issued At: {_iso(issued)}",
            f"Expiration Time: {_iso(end)}",
        ]
    )


def _is_loopback(domain: str) -> bool:
    return re.sub(r":[0-9]{1,5}$", "", domain) in _LOOPBACK


def _seconds(text: str | None) -> float | None:
    try:
        when = datetime.fromisoformat(text or "")
    except ValueError:
        return None
    return None if when.tzinfo is None else when.timestamp()


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
