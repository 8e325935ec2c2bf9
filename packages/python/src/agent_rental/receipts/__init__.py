"""Verifying receipts offline."""

from .form import Receipt
from .verify import InvalidReceiptError, VerifiedReceipt, verify_receipt

__all__ = ["InvalidReceiptError", "Receipt", "VerifiedReceipt", "verify_receipt"]
