#!/usr/bin/env python3
"""Runs the programs of examples/programs on data whose results are known from elsewhere: NumPy's einsum, exact solutions,
reference energies.

usage: programs.py GROUP DEVICE RICCI EXAMPLES     GROUP: grid gravity chemistry interactions windows slices; DEVICE: cpu gpu

Each run is also compared with the interpreter, by --verify, so that both are held to the same references.
"""
import itertools
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

import reference_gravity as gravity
import reference_molecule as molecule
import reference_states as states


class Failure(Exception):
    pass


class Programs:
    """Runs programs by name: arrays in, arrays out, through files in a folder of its own."""

    def __init__(self, device, ricci, programs, folder):
        self.device, self.ricci, self.programs, self.folder = device, ricci, programs, pathlib.Path(folder)

    def __call__(self, name, inputs, outputs, params=None, extents=None, verify=True, limit=None):
        command = [self.ricci, "run", str(self.programs / f"{name}.ricci"), "--device", self.device]
        for key, values in inputs.items():
            file = self.folder / f"{key}.npy"
            np.save(file, np.ascontiguousarray(values))
            command.append(f"{key}={file}")
        command += [f"{key}={value}" for key, value in (params or {}).items()]
        for key, value in (extents or {}).items():
            command += ["--extent", f"{key}={value}"]
        if limit is not None:
            command += ["--workspace-limit", str(limit)]
        for key in outputs:
            command += ["-o", f"{key}={self.folder / f'out_{key}.npy'}"]
        if verify:
            command.append("--verify")
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode:
            raise Failure(f"{' '.join(command)}\nended with {done.returncode}:\n{done.stdout}")
        return [np.load(self.folder / f"out_{key}.npy") for key in outputs]


def expect_equal(what, found, wanted):
    if found.shape != wanted.shape or not np.array_equal(found, wanted):
        where = np.argwhere(found != wanted)[:3].tolist() if found.shape == wanted.shape else ""
        raise Failure(f"{what}: shape {found.shape}, wanted {wanted.shape}; differs at {where}")


def expect_close(what, found, wanted, relative):
    """Every value within `relative` of the largest wanted one: sums of terms of that size cannot be better."""
    wanted = np.asarray(wanted)
    if found.shape != wanted.shape:
        raise Failure(f"{what}: shape {found.shape}, wanted {wanted.shape}")
    error = float(np.abs(found - wanted).max() / np.abs(wanted).max())
    print(f"{what}: relative error {error:.2e}, at most {relative:.0e}")
    if not error <= relative:
        raise Failure(f"{what}: relative error {error:.3e}, more than {relative:.0e}")


def expect_energy(what, found, wanted, most=1e-9):
    print(f"{what}: {float(found):.14f} Hartree, reference {wanted:.14f}, difference {float(found) - wanted:.2e}")
    if not abs(float(found) - wanted) <= most:
        raise Failure(f"{what}: {float(found)!r} Hartree, reference {wanted!r}")


# ---- fields: stored components x points ------------------------------------------------------------------------------

def stored(shape, symmetry):
    """Multi-indices that are stored, ascending: those sorted in every symmetric pair of slots."""
    indices = itertools.product(*(range(extent) for extent in shape))
    return [index for index in indices if all(index[p] <= index[q] for p, q in symmetry)]


def pack(values, symmetry=()):
    return np.stack([values[index] for index in stored(values.shape[:-1], symmetry)])


# Per equation: einsum of each term with its factor, or a function; symmetries of what is stored by pairs of slots.
GRID = {
    "eq10": "i->i", "eq11": "ij->ij", "eq12": "ijk->ijk", "eq16": "i,j->ij", "eq17": "i,j,k->ijk", "eq18": "i,j,k,l->ijkl",
    "eq19": "im,mjkl->ijkl", "eq20": "im,jn,mnkl->ijkl", "eq21": "im,jn,ko,mnol->ijkl",
}
OPERANDS = {"eq19": "BE", "eq20": "BCE", "eq21": "BCDE"}


def grid(run, rng):
    points = 67  # no multiple of any vector

    def field(*shape, symmetry=()):
        values = rng.uniform(-1, 1, (*shape, points))
        for p, q in symmetry:
            values = (values + np.swapaxes(values, p, q)) / 2
        return values

    for name, text in GRID.items():
        terms = text.split("->")[0].split(",")
        names = OPERANDS.get(name, "BCDE"[:len(terms)])
        operands = [field(*[3] * len(term)) for term in terms]
        wanted = np.einsum(",".join(term + "x" for term in terms) + "->" + text.split("->")[1] + "x", *operands)
        found, = run(f"grid/{name}", {key: pack(values) for key, values in zip(names, operands)}, ["A"])
        if len(terms) == 1:
            expect_equal(name, found, pack(wanted))
        else:
            expect_close(name, found, pack(wanted), 1e-14)
    for name, letters in (("eq13", "BC"), ("eq14", "BCD"), ("eq15", "BCDE")):
        inputs = {key: field(3) for key in letters}
        found, = run(f"grid/{name}", inputs, ["A"])
        expect_close(name, found, sum(inputs.values()), 1e-15)

    pair, last = [(0, 1)], [(1, 2)]
    alpha, beta, g = field(), field(3), field(3, 3, symmetry=pair)
    found, = run("grid/eq22", {"alpha": alpha[None], "beta": beta, "g": pack(g, pair)}, ["K"])
    expect_close("eq22", found, pack(2 * alpha * g + np.einsum("ix,jx->ijx", beta, beta), pair), 1e-15)
    k, db = field(3, 3, symmetry=pair), field(3, 3)
    found, = run("grid/eq05", {"alpha": alpha[None], "K": pack(k, pair), "db": pack(db)}, ["dg"])
    expect_close("eq05", found, pack(-2 * alpha * k + db + np.swapaxes(db, 0, 1), pair), 1e-15)
    gi, dg = field(3, 3, symmetry=pair), field(3, 3, 3, symmetry=pair)
    bracket = np.einsum("jlkx->ljkx", dg) + np.einsum("lkjx->ljkx", dg) - np.einsum("jklx->ljkx", dg)
    found, = run("grid/eq06", {"gi": pack(gi, pair), "dg": pack(dg, pair)}, ["Gamma"])
    expect_close("eq06", found, pack(0.5 * np.einsum("ilx,ljkx->ijkx", gi, bracket), last), 1e-14)


# ---- gravity ---------------------------------------------------------------------------------------------------------

GRAVITY = {"psi": [(0, 1)], "Pi": [(0, 1)], "Phi": [(1, 2)], "dpsi": [(1, 2)], "dPi": [(1, 2)], "dPhi": [(2, 3)], "H": [], "dH": [],
           "gamma0": [], "gamma1": [], "gamma2": [], "dtpsi": [(0, 1)], "dtPi": [(0, 1)], "dtPhi": [(1, 2)]}


def gravity_fields(run, rng):
    points = 203

    def rates(inputs):
        packed = {name: pack(values, GRAVITY[name]) if values.ndim > 1 else values[None] for name, values in inputs.items()}
        return dict(zip(("dtpsi", "dtPi", "dtPhi"), run("grid/generalized_harmonic", packed, ["dtpsi", "dtPi", "dtPhi"])))

    inputs, exact = gravity.boosted_black_hole(points, rng)
    inputs.update(gravity.damping(points, rng))
    equations = gravity.right_hand_side(inputs)
    found = rates(inputs)
    for name, values in exact.items():
        expect_close(f"boosted black hole, {name} against the solution", found[name], pack(values, GRAVITY[name]), 1e-13)
        expect_close(f"  and the equations themselves, {name}", np.float64(equations[name]), values, 1e-13)
    inputs = gravity.violating_data(points, rng)
    inputs.update(gravity.damping(points, rng))
    equations = gravity.right_hand_side(inputs)
    found = rates(inputs)
    for name, values in equations.items():
        expect_close(f"data that solves nothing, {name}", found[name], pack(np.float64(values), GRAVITY[name]), 1e-13)


# ---- chemistry -------------------------------------------------------------------------------------------------------

def antisymmetric_like(extents, rng):
    """Amplitudes and integrals of any kind: the 18 contractions ask for no symmetry."""
    p, q, l, d = (extents[name] for name in "pqld")
    shapes = {"t2o": (p, q, q, l), "v2o": (l, q, p, p), "t2v": (p, p, q, d), "v2v": (q, q, p, d)}
    return {name: rng.uniform(-1, 1, shape) for name, shape in shapes.items()}


def contractions(run, rng):
    # The shapes of the paper's sizes A to E: all alike, one longer, all different.
    for extents in (dict(zip("ijkabc", [3] * 6)), dict(i=4, j=3, k=3, a=3, b=3, c=3), dict(i=2, j=3, k=3, a=4, b=5, c=5)):
        slots = dict(p=max(extents[x] for x in "ijk"), q=max(extents[x] for x in "abc"), l=4, d=5)
        spin = antisymmetric_like(slots, rng)
        t3 = rng.uniform(-1, 1, [extents[x] for x in "abcijk"])
        found, = run("chemistry/ccsd_t_18", {**spin, "t3": t3}, ["t3"])
        expect_close(f"18 contractions, {extents}", found, molecule.triples_18(spin, extents, t3), 1e-14)


def doubles(run, rng):
    occupied, virtual = 4, 7
    o, v = range(occupied), range(occupied, occupied + virtual)
    g = rng.uniform(-1, 1, [occupied + virtual] * 4)
    g = g - g.transpose(1, 0, 2, 3)
    g = g - g.transpose(0, 1, 3, 2)
    t = rng.uniform(-1, 1, (virtual, virtual, occupied, occupied))
    t = t - t.transpose(1, 0, 2, 3)
    t = t - t.transpose(0, 1, 3, 2)
    eo, ev = rng.uniform(-2, -1, occupied), rng.uniform(1, 2, virtual)
    parts = {name: g[np.ix_(*({"o": o, "v": v}[part] for part in name))] for name in ("oooo", "oovv", "ovvo", "vvvv")}
    found = run("chemistry/ccd", {**parts, "t": t, "eo": eo, "ev": ev}, ["tn", "E"])
    for name, is_, wanted in zip(("amplitudes", "energy"), found, molecule.doubles(parts, t, eo, ev)):
        expect_close(f"doubles, {name}", is_, wanted, 1e-13)


def doubles_of(run, mo, energies, occupied, reference):
    """Two steps from no amplitudes: the first one gives those of MP2, whose energy the second one says."""
    order = np.argsort(np.tile(np.arange(len(mo)) >= occupied, 2), kind="stable")
    g = molecule.antisymmetrised(mo)[np.ix_(*[order] * 4)]
    energies = np.tile(energies, 2)[order]
    o, v = slice(2 * occupied), slice(2 * occupied, None)
    parts = {name: g[tuple({"o": o, "v": v}[part] for part in name)] for name in ("oooo", "oovv", "ovvo", "vvvv")}
    fixed = {**parts, "eo": energies[o], "ev": energies[v]}
    t, energy = run("chemistry/ccd", {**fixed, "t": np.zeros_like(parts["oovv"].transpose(2, 3, 0, 1))}, ["tn", "E"], verify=False)
    if energy != 0:
        raise Failure(f"doubles without amplitudes: {energy} Hartree")
    found = run("chemistry/ccd", {**fixed, "t": t}, ["tn", "E"], verify=False)
    expect_energy("doubles of MP2", found[1], reference["e_mp2_corr"])
    for name, is_, wanted in zip(("amplitudes", "energy"), found, molecule.doubles(parts, t, energies[o], energies[v])):
        expect_close(f"doubles, {name}", is_, wanted, 1e-12)


def chemistry(run, data):
    load = {name: np.load(data / f"{name}.npy") for name in ("eri_ao", "mo_coeff", "mo_energy", "t1", "t2")}
    reference = json.loads((data / "reference.json").read_text())
    occupied = reference["n_occ"]
    eri, orbitals, energies = load["eri_ao"], load["mo_coeff"], load["mo_energy"]
    parts = {"o": (np.ascontiguousarray(orbitals[:, :occupied]), energies[:occupied]),
             "v": (np.ascontiguousarray(orbitals[:, occupied:]), energies[occupied:])}
    energy, = run("chemistry/mp2", {"eri": eri, "Co": parts["o"][0], "Cv": parts["v"][0], "eo": parts["o"][1], "ev": parts["v"][1]}, ["E"])
    expect_energy("MP2", energy, reference["e_mp2_corr"])
    mo = molecule.four_index(eri, orbitals)
    expect_energy("MP2 by NumPy", molecule.mp2(mo, energies, occupied), reference["e_mp2_corr"])
    doubles_of(run, mo, energies, occupied, reference)
    places = {"o": slice(occupied), "v": slice(occupied, None)}
    blocks = {}
    for block in ("ovov", "oovo", "vvov"):
        own = {f"C{k + 1}": parts[part][0] for k, part in enumerate(block)}
        blocks[block], = run("chemistry/four_index", {"eri": eri, **own}, ["mo"])
        expect_close(f"four-index transformation, {block}", blocks[block], mo[tuple(places[part] for part in block)], 1e-14)

    names = ["t1s", "vs", "t2o", "v2o", "t2v", "v2v"]
    outputs = run("chemistry/spin_orbitals", {**blocks, "t1": load["t1"], "t2": load["t2"]}, names)
    merged = {name: values.reshape([values.shape[s] * values.shape[s + 1] for s in range(0, values.ndim, 2)])
              for name, values in zip(names, outputs)}
    for name, wanted in molecule.spin_orbitals(mo, load["t1"], load["t2"]).items():
        expect_close(f"spin orbitals, {name}", merged[name], wanted, 1e-14)

    virtual = len(mo) - occupied
    extents = dict(i=occupied, j=occupied, k=2 * occupied, a=virtual, b=virtual, c=2 * virtual)
    zero = np.zeros([extents[x] for x in "abcijk"])
    # Not compared with the interpreter: 1.6 billion products take it minutes.
    t3, = run("chemistry/ccsd_t_18", {**{name: merged[name] for name in names[2:]}, "t3": zero}, ["t3"], verify=False)
    expect_close("triples", t3, molecule.triples_18(merged, extents, zero), 1e-13)
    eo, ev = np.tile(load["mo_energy"][:occupied], 2), np.tile(load["mo_energy"][occupied:], 2)
    weight = molecule.weights(occupied)
    energy, = run("chemistry/ccsd_t_energy", {"t3": t3, "t1s": merged["t1s"], "vs": merged["vs"], "eo": eo, "ev": ev, "weight": weight}, ["E"])
    expect_energy("E(T)", energy, reference["e_t"])
    expect_energy("E(T) by NumPy", molecule.triples_energy(t3, merged, eo, ev, weight), reference["e_t"])


# ---- interactions ----------------------------------------------------------------------------------------------------

def interactions(run, rng):
    for particles in (4, 8):
        lists = [states.random_states(321, particles, rng)]
        lists.append(np.concatenate([states.random_states(100, particles, rng), states.neighbours(lists[0][:160], rng)]))
        shared = states.connected(*lists)
        counts = shared.sum(1).astype(np.int32)
        if counts.sum() == 0:
            raise Failure("no pair of states is connected: the test would compare zeros")
        low = [states.bit_sets(part, 1)[:, 0] for part in lists]
        both = [states.bit_sets(part, 2) for part in lists]
        common = {"common": particles - 2}
        found, total = run("interactions/count_filtered", {"bits1": low[0], "bits2": low[1], "mbs1": lists[0], "mbs2": lists[1]}, ["counts", "total"])
        expect_equal(f"counts of {particles} particles, filtered", found, counts)
        expect_equal("  total", total, np.array(counts.sum(dtype=np.int64)))
        bits = {"bits1": both[0], "bits2": both[1]}
        found, total = run("interactions/count_exact", bits, ["counts", "total"], common)
        expect_equal(f"counts of {particles} particles, exact", found, counts)
        expect_equal("  total", total, np.array(counts.sum(dtype=np.int64)))
        rows, cols = run("interactions/interactions", bits, ["rows", "cols"], common, {"n": int(counts.sum())})
        expect_equal("rows", rows, np.concatenate([[0], np.cumsum(counts, dtype=np.int64)]))
        expect_equal("columns", cols, np.nonzero(shared)[1].astype(np.int32))
        for k in (1, 8, 16):
            x, y, a = rng.uniform(-1, 1, (321, k)), rng.uniform(-1, 1, (260, k)), rng.uniform(-1, 1, k)
            found, = run("interactions/observables", {**bits, "x": x, "y": y, "a": a}, ["a"], common)
            expect_close(f"observables, m = {k}", found, a + np.einsum("ik,ij,jk->k", x, shared, y), 1e-13)

    counts = rng.integers(0, 2**31, 1000).astype(np.int32)  # the total needs 40 bits
    offsets, = run("interactions/prefix_sum", {"x": counts}, ["y"])
    expect_equal("offsets", offsets, np.concatenate([[0], np.cumsum(counts, dtype=np.int64)]))

    rows, columns = 37, 100
    offset = np.arange(rows + 1, dtype=np.int64) * len(range(0, columns, 3))
    found, = run("interactions/fill", {"offset": offset}, ["arr"], None, {"j": columns, "n": int(offset[-1])})
    expect_equal("filled array", found, np.tile(np.arange(0, columns, 3, dtype=np.int32), rows))

    n = 100003
    x = rng.integers(-2**31, 2**31, n).astype(np.int32)
    found, = run("long/prefix", {"x": x}, ["y"], None, {"i": n})
    expect_equal("wrapping prefixes", found, np.concatenate([[0], np.cumsum(x, dtype=np.int32)]).astype(np.int32))
    found, = run("long/compaction", {"x": x, "first": np.zeros(1, np.int64)}, ["y"], None, {"i": n, "n": int((x & 1).sum())})
    expect_equal("odd numbers", found, x[x & 1 == 1])
    x = rng.uniform(0, 1, n).astype(np.float32)
    found, = run("long/total", {"x": x}, ["s"], None, {"i": n})
    expect_close("sum of floats", found, x.sum(dtype=float), 1e-5)

    for k in (1, 3, 64, 256):
        x, y, a = (rng.uniform(-1, 1, shape).astype(np.float32) for shape in ((50, k), (40, k), (k,)))
        found, = run("interactions/array_reduction", {"x": x, "y": y, "a": a}, ["a"])
        wanted = a.astype(float) + x.sum(0, dtype=float) * y.sum(0, dtype=float)
        error = np.abs(found - wanted).max() / (np.abs(x).sum(0) * np.abs(y).sum(0)).max()
        print(f"array reduction, m = {k}: error {error:.1e} of the terms' sum")
        if not error < 1e-5:  # 2,000 roundings of 6e-8 in the worst case, of which most cancel
            raise Failure(f"array reduction, m = {k}: error {error}")


def windows(run, rng):
    """A convolution and pooling, both with borders, by sliding windows of NumPy."""
    images, channels, made, rows, columns = 2, 3, 4, 5, 7
    x, w, b = (rng.uniform(-1, 1, shape) for shape in ((images, channels, 2 * rows, 2 * columns), (made, channels, 3, 3), made))
    border = ((0, 0), (0, 0), (1, 1), (1, 1))

    def seen(values, outside):
        padded = np.pad(values, border, constant_values=outside)
        return np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))

    y = np.maximum(np.einsum("ncijrs,kcrs->nkij", seen(x, 0)[:, :, ::2, ::2], w) + b[:, None, None], 0)
    found, = run("convolution", {"x": x, "w": w, "b": b}, ["z"])
    expect_close("convolution and pooling", found, seen(y, -np.inf).max((4, 5)), 1e-14)


def slices(run, rng):
    """Steps with all of their workspace, and block by block of a part of it."""
    shape = dict(zip("bhqkd", (2, 3, 24, 32, 8)))
    Q, K, V = (rng.uniform(-1, 1, [shape[axis] for axis in axes]).astype(np.float32) for axes in ("bhqd", "bhkd", "bhkd"))
    scores = np.exp(0.25 * np.einsum("bhqd,bhkd->bhqk", Q, K))
    wanted = np.einsum("bhqk,bhkd->bhqd", scores / scores.sum(3, keepdims=True), V)
    x, y, v = (rng.uniform(-1, 1, size).astype(np.float32) for size in ((96, 4), (80, 4), 80))
    sums = np.exp(-0.5 * ((x[:, None] - y) ** 2).sum(2)) @ v
    for limit in None, 16384, 4096:
        found, = run("attention", {"Q": Q, "K": K, "V": V}, ["O"], {"scale": 0.25}, limit=limit)
        expect_close(f"attention within {limit}", found, wanted, 1e-5)
        found, = run("kernel_sum", {"x": x, "y": y, "v": v}, ["z"], limit=limit)
        expect_close(f"sums of a kernel within {limit}", found, sums, 1e-5)


def main():
    group, device, ricci, examples = sys.argv[1:5]
    examples = pathlib.Path(examples)
    if device == "gpu":
        if subprocess.run([ricci, "doctor", "--require", "gpu"], stdout=subprocess.DEVNULL).returncode:
            print("[SKIP] no GPU")
            return 0
    rng = np.random.default_rng(20260101)
    with tempfile.TemporaryDirectory() as folder:
        run = Programs(device, ricci, examples / "programs", folder)
        try:
            if group == "chemistry":
                contractions(run, rng)
                doubles(run, rng)
                for folder in ("h2o_ccpvdz", "co_sto3g"):
                    chemistry(run, examples / "data" / folder)
            else:
                {"grid": grid, "gravity": gravity_fields, "interactions": interactions, "windows": windows, "slices": slices}[group](run, rng)
        except Failure as failure:
            print(failure)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
