"""Errors of this package. Each has a ``code`` to branch on, and a ``next_step`` in words."""

from __future__ import annotations

from typing import Any, Literal

from .generated.models.error_details import ErrorDetails
from .generated.types import Unset

NEXT_STEPS: dict[str, str] = {
    "unauthorized": "Give the client an api_key, or a wallet.",
    "invalid_api_key": "Use another API key. Do not retry.",
    "invalid_signature": "Check that the wallet is the owner, and try again.",
    "jwt_expired": "Call again: the client logs in by itself.",
    "credential_not_found": "Rent the agent with client.rent, or use an API key with the right scope.",
    "credential_expired": "Renew the subscription with client.rent.",
    "insufficient_balance": "Top up with client.top_up. With an approval, ask the owner at its url first.",
    "listing_paused": "Choose another agent, or call again later.",
    "listing_suspended": "Choose another agent.",
    "invalid_request": "Correct the named field. The same request fails again.",
    "invalid_listing_id": "Take the id from client.search_listings.",
    "listing_not_found": "Search again with client.search_listings.",
    "not_found": "Check the id. Results of runs are kept for 24 hours.",
    "rate_limit_exceeded": "Wait for retry_after_seconds, then call again.",
    "internal_error": "Call again with the same idempotency_key.",
    "service_unavailable": "Call again with the same idempotency_key. client.get_run has the result of a run_id.",
    "connection_error": "Call again with the same idempotency_key.",
    "untrusted_transaction": "Nothing was signed or sent. Do not call again, and tell the owner of the wallet.",
    "untrusted_challenge": "Nothing was signed. Check the base_url and the domain of the client.",
    "invalid_receipt": "Do not rely on the receipt. The part tells whether receipt, key or transaction is wrong.",
    "spending_refused": "Nothing was spent. The owner of the wallet sets the spending policy.",
    "approval_required": "Nothing was spent. Give the policy an approve function, or a higher ask_above_lamports.",
}
"""The next step of a caller after each error, by its code."""


class AgentRentalError(Exception):
    """An error of this package."""

    code: str

    def __init__(self, message: str) -> None:
        """Makes the error with a text for people."""
        super().__init__(message)
        self.message = message

    @property
    def next_step(self) -> str:
        """The next step of the caller."""
        return NEXT_STEPS[self.code]


class ApiError(AgentRentalError):
    """The API refused. ``reason`` has the cause; ``message`` may also have the next step of a caller over HTTP."""

    def __init__(self, details: ErrorDetails, *, retry_after_seconds: float | None = None) -> None:
        """Makes the error of an answer."""
        super().__init__(details.message)
        self.code = details.code.value
        self.status = details.status
        self.reason = _known(details.reason) or details.message
        self.request_id: str | None = _known(details.request_id)
        self.run_id: str | None = _known(details.run_id)
        """The run that was started, if the error is about one."""
        self.details = details
        """The whole answer, with ``on_chain_error``, ``policy_rule``, ``approval`` and ``proposal``."""
        self.retry_after_seconds = retry_after_seconds

    @property
    def next_step(self) -> str:
        """The next step of the caller; for a code of a later API, the service's own words."""
        return NEXT_STEPS.get(self.code, self.message)


class ConnectionFailedError(AgentRentalError):
    """The service could not be reached, or its answer could not be read."""

    code = "connection_error"

    def __init__(self, message: str, run_id: str | None = None) -> None:
        """Makes the error, with the run that an earlier try had started."""
        super().__init__(message)
        self.run_id = run_id


UntrustedReason = Literal[
    "malformed",
    "lookup_table",
    "payer",
    "signer",
    "signature",
    "program",
    "instruction",
    "account",
    "argument",
    "price",
    "network_fee",
    "quote",
    "declined",
]
"""The first fault of a transaction, with the names of the TypeScript sdk."""


class UntrustedTransactionError(AgentRentalError):
    """A transaction differs from the requested action. It was not signed."""

    code = "untrusted_transaction"

    def __init__(self, reason: UntrustedReason, what: str) -> None:
        """Makes the error of a fault."""
        super().__init__(f"The transaction was refused: it {what}.")
        self.reason: UntrustedReason = reason


class UntrustedChallengeError(AgentRentalError):
    """A service asked a wallet to sign a text that is not a current login to that service. Nothing was signed."""

    code = "untrusted_challenge"

    def __init__(self, reason: str) -> None:
        """Makes the error of a fault."""
        super().__init__(f"The wallet was not asked to sign in: {reason}")


SpendingRule = Literal["max_run", "max_day", "max_listing", "listing_ids", "ask_above", "budget"]
"""The rule of a spending policy that refused."""


class SpendingRefusedError(AgentRentalError):
    """The spending policy refuses. Nothing was spent."""

    code = "spending_refused"

    def __init__(self, rule: SpendingRule, message: str) -> None:
        """Makes the error of a rule."""
        super().__init__(message)
        self.rule: SpendingRule = rule


class ApprovalRequiredError(AgentRentalError):
    """A person must approve, and the policy has no ``approve``. Nothing was spent."""

    code = "approval_required"

    def __init__(self, lamports: int) -> None:
        """Makes the error of an amount."""
        super().__init__(f"A payment of {lamports} lamports needs an approval, and there is no one to ask.")
        self.lamports = lamports


def _known(value: str | Unset) -> str | None:
    return None if isinstance(value, Unset) else value


def error_of_details(given: dict[str, Any]) -> ApiError:
    """The error of ``error`` in an answer or an event."""
    return ApiError(ErrorDetails.from_dict(given))
