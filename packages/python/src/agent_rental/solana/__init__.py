"""Decoding a marketplace's transactions, and checking them before a wallet signs."""

from .program import MARKETPLACE_PROGRAM_ID
from .proposal import Agreement, CheckedProposal, check_proposal, inspect_proposal
from .spend import DecodedQuote

__all__ = [
    "MARKETPLACE_PROGRAM_ID",
    "Agreement",
    "CheckedProposal",
    "DecodedQuote",
    "check_proposal",
    "inspect_proposal",
]
