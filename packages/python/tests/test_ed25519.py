"""The strict check of signatures."""

import hashlib
import secrets

import pytest
from solders.keypair import Keypair
from solders.pubkey import Pubkey
from solders.signature import Signature

from agent_rental._ed25519 import _ORDER, _P, _decompressed, _multiplied, is_public_key, verify_signature

BASE = _decompressed(bytes.fromhex("58" + "66" * 31))


def encoded(x: int, y: int) -> bytes:
    return (y | (x & 1) << 255).to_bytes(32, "little")


def affine(scalar: int) -> tuple[int, int]:
    assert BASE is not None
    x, y, z, _ = _multiplied(BASE, scalar)
    inverse = pow(z, -1, _P)
    return x * inverse % _P, y * inverse % _P


def test_an_honest_signature_holds_and_no_changed_one() -> None:
    keypair = Keypair()
    key, signature = bytes(keypair.pubkey()), bytes(keypair.sign_message(b"a message"))
    assert is_public_key(key)
    assert verify_signature(signature, b"a message", key)
    assert not verify_signature(signature, b"another", key)
    assert not verify_signature(signature[:63] + bytes([signature[63] ^ 1]), b"a message", key)
    assert not verify_signature(signature[:63], b"a message", key)
    assert not verify_signature(signature, b"a message", key[:31])


@pytest.mark.parametrize("y", [0, 1, _P - 1, _P, _P + 1, 2])
def test_points_of_small_order_and_bytes_that_are_no_canonical_point_are_no_keys(y: int) -> None:
    assert not is_public_key(y.to_bytes(32, "little"))


def test_a_key_outside_the_prime_order_group_signs_nothing() -> None:
    secret, nonce = secrets.randbelow(_ORDER), secrets.randbelow(_ORDER)
    x, y = affine(secret)
    # The sum of an honest key and the point of order two.
    mixed = encoded(_P - x, _P - y)
    nonce_point = encoded(*affine(nonce))
    for number in range(100):
        message = str(number).encode()
        digest = int.from_bytes(hashlib.sha512(nonce_point + mixed + message).digest(), "little") % _ORDER
        if digest % 2 == 0:
            break
    signature = nonce_point + ((nonce + digest * secret) % _ORDER).to_bytes(32, "little")
    assert Signature.from_bytes(signature).verify(Pubkey(mixed), message)
    assert not verify_signature(signature, message, mixed)
