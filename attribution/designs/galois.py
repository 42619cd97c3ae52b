"""Quadratic characters of finite fields: all that Paley's constructions need of algebra.

A field of ``q = p^k`` elements is the polynomials over GF(p) of degree below ``k``, modulo an irreducible one; element
number ``n`` has the base-``p`` digits of ``n`` as coefficients, lowest first.
"""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

Polynomial = tuple[int, ...]
"""Coefficients, lowest power first."""


def prime_power(q: int) -> tuple[int, int] | None:
    """``(p, k)`` with ``q = p^k`` and ``p`` prime, or None where ``q`` is no prime power."""
    if q < 2:  # noqa: PLR2004 - the least prime
        return None
    p = next((n for n in range(2, int(q**0.5) + 1) if q % n == 0), q)
    k, rest = 0, q
    while rest % p == 0:
        rest //= p
        k += 1
    return (p, k) if rest == 1 else None


def jacobsthal(q: int) -> NDArray[np.int8]:
    """``int8[q, q]`` with entry ``χ(a_i − a_j)``: 1 for a square, −1 for a non-square, 0 on the diagonal.

    ``q`` must be an odd prime power.
    """
    factors = prime_power(q)
    assert factors is not None, f"{q} is no prime power"
    assert q % 2 == 1, f"{q} is even: every element is a square"
    p, k = factors
    elements = [_digits(n, p, k) for n in range(q)]
    modulus = _irreducible(p, k)
    squares = {_number(_remainder(_product(a, a, p), modulus, p, k), p) for a in elements[1:]}
    character = np.array([0] + [1 if n in squares else -1 for n in range(1, q)], dtype=np.int8)
    coefficients = np.array(elements, dtype=np.int64)
    differences = (coefficients[:, None, :] - coefficients[None, :, :]) % p
    return np.asarray(character[differences @ p ** np.arange(k)], dtype=np.int8)


def _digits(number: int, p: int, k: int) -> Polynomial:
    return tuple(number // p**i % p for i in range(k))


def _number(polynomial: Polynomial, p: int) -> int:
    return sum(c * p**i for i, c in enumerate(polynomial))


def _product(a: Polynomial, b: Polynomial, p: int) -> Polynomial:
    out = [0] * (len(a) + len(b) - 1)
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            out[i + j] = (out[i + j] + x * y) % p
    return tuple(out)


def _remainder(a: Polynomial, monic: Polynomial, p: int, k: int) -> Polynomial:
    """``a`` modulo a monic polynomial of degree ``k``, as ``k`` coefficients."""
    rest = list(a)
    while len(rest) > k:
        lead = rest.pop()
        for i in range(k):
            rest[len(rest) - k + i] = (rest[len(rest) - k + i] - lead * monic[i]) % p
    return tuple(rest) + (0,) * (k - len(rest))


def _irreducible(p: int, k: int) -> Polynomial:
    """The first monic polynomial of degree ``k`` over GF(p) that no monic polynomial of half its degree divides."""
    divisors = [(*low, 1) for degree in range(1, k // 2 + 1) for low in itertools.product(range(p), repeat=degree)]
    for low in itertools.product(range(p), repeat=k):
        candidate = (*low, 1)
        if all(any(_remainder(candidate, divisor, p, len(divisor) - 1)) for divisor in divisors):
            return candidate
    raise AssertionError(f"no irreducible polynomial of degree {k} over GF({p}): impossible")
