"""The strict check of signatures, as the service and the TypeScript sdk have it."""

from __future__ import annotations

from functools import lru_cache

from solders.pubkey import Pubkey
from solders.signature import Signature

_P = 2**255 - 19
_ORDER = 2**252 + 27742317777372353535851937790883648493
_D = -121665 * pow(121666, -1, _P) % _P
_ROOT = pow(2, (_P - 1) // 4, _P)
_IDENTITY = bytes([1] + [0] * 31)

_Point = tuple[int, int, int, int]


def verify_signature(signature: bytes, message: bytes, public_key: bytes) -> bool:
    """Whether the key made the signature. Key and ``R`` are canonical points of the prime-order group."""
    if len(signature) != 64 or len(public_key) != 32 or signature[:32] == _IDENTITY:
        return False
    # The library's check is strict but for keys beyond the prime-order group.
    return Signature.from_bytes(signature).verify(Pubkey(public_key), message) and is_public_key(public_key)


@lru_cache(maxsize=1_000)
def is_public_key(key: bytes) -> bool:
    """Whether bytes are the canonical encoding of a point of the prime-order group other than its identity."""
    point = _decompressed(key)
    if point is None or key == _IDENTITY:
        return False
    x, y, z, _ = _multiplied(point, _ORDER)
    return x % _P == 0 and (y - z) % _P == 0


def _decompressed(key: bytes) -> _Point | None:
    number = int.from_bytes(key, "little")
    sign, y = number >> 255, number & (2**255 - 1)
    if y >= _P:
        return None
    square = (y * y - 1) * pow(_D * y * y + 1, -1, _P) % _P
    x = pow(square, (_P + 3) // 8, _P)
    if (x * x - square) % _P != 0:
        x = x * _ROOT % _P
    if (x * x - square) % _P != 0 or (x == 0 and sign == 1):
        return None
    if x & 1 != sign:
        x = _P - x
    return x, y, 1, x * y % _P


def _added(one: _Point, other: _Point) -> _Point:
    """The sum in extended coordinates (RFC 8032, section 5.1.4)."""
    a = (one[1] - one[0]) * (other[1] - other[0]) % _P
    b = (one[1] + one[0]) * (other[1] + other[0]) % _P
    c = 2 * one[3] * other[3] * _D % _P
    d = 2 * one[2] * other[2] % _P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % _P, g * h % _P, f * g % _P, e * h % _P


def _multiplied(point: _Point, scalar: int) -> _Point:
    result: _Point = (0, 1, 1, 0)
    while scalar:
        if scalar & 1:
            result = _added(result, point)
        point = _added(point, point)
        scalar >>= 1
    return result
