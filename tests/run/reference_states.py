"""Many-body states of a configuration interaction calculation, and what the interaction programs must give for them."""
import numpy as np


def random_states(states, particles, rng, single_particle_states=128):
    """Ascending occupied single-particle states [states, particles], int16; the lowest are the likeliest."""
    weight = np.exp(-np.arange(single_particle_states) / 35.0)
    # Gumbel's trick: the largest of log(weight) + noise are a draw without replacement.
    noisy = np.log(weight) + rng.gumbel(size=(states, single_particle_states))
    return np.sort(np.argsort(-noisy, 1)[:, :particles], 1).astype(np.int16)


def neighbours(lists, rng, single_particle_states=128):
    """Each state with 0 to 3 of its particles in other single-particle states: at the edge of being connected to it."""
    moved = []
    for row in lists:
        kept = rng.permutation(row)[:len(row) - rng.integers(0, 4)]
        free = np.setdiff1d(np.arange(single_particle_states), row)
        moved.append(np.sort(np.concatenate([kept, rng.permutation(free)[:len(row) - len(kept)]])))
    return np.array(moved, np.int16)


def bit_sets(lists, words):
    """[states, words] uint64: bit s % 64 of word s / 64 says that s is occupied; what lies beyond is left out."""
    bits = np.zeros((len(lists), words), np.uint64)
    for particle in lists.T.astype(np.int64):
        inside = particle < 64 * words
        rows = np.nonzero(inside)[0]
        bits[rows, particle[inside] // 64] |= np.uint64(1) << (particle[inside] % 64).astype(np.uint64)
    return bits


def connected(lists1, lists2, most=2):
    """[states1, states2] bool: the first has at most `most` particles that the second has not."""
    sets1, sets2 = ([frozenset(row.tolist()) for row in lists] for lists in (lists1, lists2))
    return np.array([[len(first - second) <= most for second in sets2] for first in sets1]).reshape(len(lists1), len(lists2))
