"""Rent, pay, run and publish agents of an agent rental marketplace."""

from .async_client import AsyncClient
from .client import Client
from .contract import VERSION as __version__
from .errors import (
    AgentRentalError,
    ApiError,
    ApprovalRequiredError,
    ConnectionFailedError,
    SpendingRefusedError,
    UntrustedChallengeError,
    UntrustedTransactionError,
)
from .generated.models import Run
from .hire import Hired, Quoted
from .receipts import InvalidReceiptError, VerifiedReceipt, verify_receipt
from .solana import DecodedQuote
from .spending import SpendingPolicy, SpendingRequest
from .wallet import Wallet

__all__ = [
    "AgentRentalError",
    "ApiError",
    "ApprovalRequiredError",
    "AsyncClient",
    "Client",
    "ConnectionFailedError",
    "DecodedQuote",
    "Hired",
    "InvalidReceiptError",
    "Quoted",
    "Run",
    "SpendingPolicy",
    "SpendingRefusedError",
    "SpendingRequest",
    "UntrustedChallengeError",
    "UntrustedTransactionError",
    "VerifiedReceipt",
    "Wallet",
    "__version__",
    "verify_receipt",
]
