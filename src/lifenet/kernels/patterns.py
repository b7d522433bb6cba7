"""Activation patterns as 64-bit words, and as one 64-bit key a row.

Two rows of data lie in the same linear region of a ReLU network when the same neurons are
active for both. Bit `k` of word `q` says whether neuron ``64 q + k`` is active; bits past the
last neuron are zero. Words and keys are numbers, not bytes, so they are the same everywhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from lifenet._typing import Bools

__all__ = ["WORD_BITS", "hash_words", "pack_patterns", "pattern_keys"]

Words: TypeAlias = npt.NDArray[np.uint64]

WORD_BITS = 64

# The increment and the two multipliers of the splitmix64 generator.
_INCREMENT = np.uint64(0x9E3779B97F4A7C15)
_FIRST_MULTIPLIER = np.uint64(0xBF58476D1CE4E5B9)
_SECOND_MULTIPLIER = np.uint64(0x94D049BB133111EB)


def pack_patterns(active: Bools) -> Words:
    """Pack each row of `active` (n, m) into ceil(m / 64) words, the first neuron lowest.

    Returns
    -------
    ndarray of uint64, shape (n, ceil(m / 64))
    """
    n_rows, n_neurons = active.shape
    n_words = -(-n_neurons // WORD_BITS)
    octets = np.zeros((n_rows, 8 * n_words), dtype=np.uint8)
    octets[:, : -(-n_neurons // 8)] = np.packbits(active, axis=1, bitorder="little")
    return octets.view("<u8").astype(np.uint64)


def hash_words(words: Words) -> Words:
    """Hash each row of `words` (n, q) to 64 bits.

    The state starts at zero, and each word in turn is added with an odd constant and mixed:
    ``h <- mix((h xor word) + increment)``. Every step is a bijection of the word for a given
    state, so rows that differ in a single word never collide; others collide with probability
    about 2**-64 a pair.

    Returns
    -------
    ndarray of uint64, shape (n,)
    """
    state = np.zeros(len(words), dtype=np.uint64)
    for word in words.T:
        state = _mix((state ^ word) + _INCREMENT)
    return state


def _mix(state: Words) -> Words:
    """Scramble each entry by the finalizer of splitmix64, a bijection of 64-bit numbers."""
    state = (state ^ (state >> np.uint64(30))) * _FIRST_MULTIPLIER
    state = (state ^ (state >> np.uint64(27))) * _SECOND_MULTIPLIER
    return state ^ (state >> np.uint64(31))


def pattern_keys(active: Bools) -> Words:
    """Give each row of `active` (n, m) a 64-bit key, the same for equal patterns.

    Up to 64 neurons the key is the packed pattern itself, so different patterns have different
    keys; above that it is the hash of the packed words.

    Returns
    -------
    ndarray of uint64, shape (n,)
    """
    words = pack_patterns(active)
    if words.shape[1] > 1:
        return hash_words(words)
    return words[:, 0] if words.shape[1] else np.zeros(len(words), dtype=np.uint64)
