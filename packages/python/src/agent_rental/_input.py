"""The check of an input before anything is paid. Without it, the marketplace would refuse the run after the rental."""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from importlib.resources import files
from typing import Any

from .errors import ApiError
from .generated.models.error_details import ErrorDetails
from .generated.models.error_details_code import ErrorDetailsCode

_BOUNDS: dict[str, int] = json.loads(files("agent_rental.contract").joinpath("bounds.json").read_text("utf-8"))
_MOST_INTEGER_DIGITS = 21
"""JavaScript writes a larger integer with an exponent."""


def check_input(given: str | Mapping[str, Any] | None) -> None:
    """Requires an input that the marketplace takes.

    :raises ApiError: ``invalid_request``, in the words of the TypeScript tools
    """
    if not isinstance(given, Mapping):
        return
    values = 0
    names: set[Any] = set()
    level: list[Any] = [given]
    for depth in range(_BOUNDS["depth"] + 1):
        if depth == _BOUNDS["depth"] and any(isinstance(one, Mapping | list | tuple) for one in level):
            raise _refusal(f"is nested deeper than {depth} levels, or is not JSON")
        values += len(level)
        if values > _BOUNDS["values"]:
            raise _refusal(f"has more than {_BOUNDS['values']} values")
        inner: list[Any] = []
        for one in level:
            if isinstance(one, Mapping):
                names.update(one)
                inner.extend(one.values())
            elif isinstance(one, list | tuple):
                inner.extend(one)
            elif isinstance(one, int) and not isinstance(one, bool) and not _is_kept(one):
                shown = f": {one}" if abs(one) < 10**60 else ""
                raise _refusal(f"has a number that would change{shown}. Send it as text, in quotes")
        level = inner
    if len(names) > _BOUNDS["names"]:
        raise _refusal(f"has more than {_BOUNDS['names']} different names")
    try:
        text = json.dumps(given, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    except (TypeError, ValueError):
        raise _refusal(f"is nested deeper than {_BOUNDS['depth']} levels, or is not JSON") from None
    if len(text) > _BOUNDS["bytes"]:
        raise _refusal(f"has more than {_BOUNDS['bytes']} bytes")


def _is_kept(number: int) -> bool:
    """Whether JavaScript keeps all digits."""
    return abs(number) < 10**_MOST_INTEGER_DIGITS and Decimal(repr(float(number))) == number


def _refusal(what: str) -> ApiError:
    return ApiError(ErrorDetails(ErrorDetailsCode.INVALID_REQUEST, f'"input" {what}.', 400))
