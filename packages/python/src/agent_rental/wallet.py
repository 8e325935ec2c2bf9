"""A wallet by its keypair. The key stays inside."""

from __future__ import annotations

import json
from pathlib import Path

from solders.keypair import Keypair
from solders.message import to_bytes_versioned
from solders.transaction import VersionedTransaction


class Wallet:
    """Signs logins and checked transactions."""

    def __init__(self, keypair: Keypair) -> None:
        """Makes the wallet of a keypair."""
        self._keypair = keypair

    @classmethod
    def generate(cls) -> Wallet:
        """Makes a new wallet, which is empty."""
        return cls(Keypair())

    @classmethod
    def from_file(cls, path: str | Path) -> Wallet:
        """Reads a keypair file of Solana's tools, a JSON list of 64 bytes.

        :raises ValueError: for another content, which the error does not show
        """
        try:
            return cls(Keypair.from_bytes(bytes(json.loads(Path(path).read_text("utf-8")))))
        except (ValueError, TypeError) as error:
            if isinstance(error, OSError):
                raise
            raise ValueError(f"{path} is no keypair file.") from None

    @property
    def address(self) -> str:
        """The wallet's address in base58."""
        return str(self._keypair.pubkey())

    def sign_message(self, message: bytes) -> str:
        """The signature over a message, in base58."""
        return str(self._keypair.sign_message(message))

    def sign_transaction(self, wire: bytes) -> bytes:
        """Adds this wallet's signature to a transaction, and keeps the others'. Check the transaction before."""
        transaction = VersionedTransaction.from_bytes(wire)
        signature = self._keypair.sign_message(to_bytes_versioned(transaction.message))
        signatures = transaction.signatures
        signatures[transaction.message.account_keys.index(self._keypair.pubkey())] = signature
        return bytes(VersionedTransaction.populate(transaction.message, signatures))

    def __repr__(self) -> str:
        """Shows the address, and never the key."""
        return f"Wallet({self.address})"
