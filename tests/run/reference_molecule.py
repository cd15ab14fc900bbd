"""What the programs of chemistry must give, in NumPy: a closed-shell molecule in spatial and in spin orbitals."""
import numpy as np

# Table 1 of the paper that ccsd_t_18.ricci names: sign, t2's and v2's indices, slowest first.
SD1 = ["-ibal,lcjk", "+jbal,lcik", "-kbal,lcij", "-icbl,lajk", "+jcbl,laik", "-kcbl,laij", "+ical,lbjk", "-jcal,lbik", "+kcal,lbij"]
SD2 = ["-jiad,bckd", "-kjad,bcid", "+kiad,bcjd", "+jibd,ackd", "+kjbd,acid", "-kibd,acjd", "-jicd,abkd", "-kjcd,abid", "+kicd,abjd"]


def four_index(eri, orbitals):
    return np.einsum("pqrs,pt,qu,rv,sw->tuvw", eri, orbitals, orbitals, orbitals, orbitals, optimize=True)


def mp2(mo, energies, occupied):
    o, v = slice(occupied), slice(occupied, None)
    pairs = mo[o, v, o, v]
    below = energies[o][:, None] - energies[v]
    return (pairs * (2 * pairs - pairs.transpose(0, 3, 2, 1)) / (below[:, :, None, None] + below)).sum()


def spin_orbitals(mo, t1, t2):
    """The outputs of spin_orbitals.ricci, two slots (spin, orbital) each time merged into one."""
    occupied, virtual = t1.shape
    o, v = np.tile(np.arange(occupied), 2), np.tile(np.arange(virtual), 2)  # spatial orbital of each spin orbital
    so, sv = np.repeat([0, 1], occupied), np.repeat([0, 1], virtual)        # its spin
    oo, ov, vv = so[:, None] == so, so[:, None] == sv, sv[:, None] == sv
    n = v + occupied

    def e(text, *operands):
        return np.einsum(text, *operands, optimize=True)

    t = t2[np.ix_(o, o, v, v)]
    t = e("ijab,ia,jb->ijab", t, ov, ov) - e("ijba,ib,ja->ijab", t, ov, ov)
    ovov, oovo, vvov = mo[np.ix_(o, n, o, n)], mo[np.ix_(o, o, n, o)], mo[np.ix_(n, n, o, n)]
    return {
        "t1s": t1[np.ix_(o, v)] * ov,
        "vs": e("jbkc,jb,kc->jkbc", ovov, ov, ov) - e("jckb,jc,kb->jkbc", ovov, ov, ov),
        "t2o": t.transpose(0, 3, 2, 1),
        "t2v": t.transpose(1, 0, 2, 3),
        "v2o": e("ljck,lj,kc->lcjk", oovo, oo, ov) - e("lkcj,lk,jc->lcjk", oovo, oo, ov),
        "v2v": e("dckb,dc,kb->bckd", vvov, vv, ov) - e("dbkc,db,kc->bckd", vvov, vv, ov),
    }


def triples_18(spin, extents, t3):
    """t3 plus the 18 contractions; extents of the brick's indices by name, all from the slots' beginning."""
    for text in SD1 + SD2:
        t2, v2 = ("t2o", "v2o") if text in SD1 else ("t2v", "v2v")
        left, right = text[1:].split(",")

        def part(name, indices):
            return spin[name][tuple(slice(extents.get(index)) for index in indices)]

        t3 = t3 + float(text[0] + "1") * np.einsum(f"{left},{right}->abcijk", part(t2, left), part(v2, right), optimize=True)
    return t3


def triples_energy(t3, spin, occupied_energies, virtual_energies, weight):
    a, b, c, i, j, k = (slice(extent) for extent in t3.shape)
    v3 = 0
    for sign_o, (p, q, r) in ((1, "ijk"), (-1, "jik"), (-1, "kji")):
        for sign_v, (s, t, u) in ((1, "abc"), (-1, "bac"), (-1, "cba")):
            at = {"i": i, "j": j, "k": k, "a": a, "b": b, "c": c}
            v3 = v3 + sign_o * sign_v * np.einsum(f"{p}{s},{q}{r}{t}{u}->abcijk", spin["t1s"][at[p], at[s]],
                                                  spin["vs"][at[q], at[r], at[t], at[u]])
    grid = np.ix_(*(np.arange(extent) for extent in t3.shape))
    below = sum(occupied_energies[index] for index in grid[3:]) - sum(virtual_energies[index] for index in grid[:3])
    return (weight * t3 * (t3 + v3) / below).sum()


def weights(occupied):
    """Of each k, alpha first, where i and j are alpha: 2 and 18 of the 36 that the sum over all spins is divided by."""
    return np.repeat([2 / 36, 18 / 36], occupied)


def antisymmetrised(mo):
    """<pq||rs> over spin orbitals, all of spin alpha first."""
    n = np.tile(np.arange(len(mo)), 2)
    spin = np.repeat([0, 1], len(mo))
    same = spin[:, None] == spin
    coulomb = np.einsum("prqs,pr,qs->pqrs", mo[np.ix_(n, n, n, n)], same, same, optimize=True)
    return coulomb - coulomb.transpose(0, 1, 3, 2)


def doubles(g, t, eo, ev):
    """The new amplitudes of a step of the doubles equations, term by term, and the energy of the old ones."""
    def e(text, *operands):
        return np.einsum(text, *operands, optimize=True)

    def over_pairs(x):  # P(ij) P(ab)
        x = x - x.transpose(1, 0, 2, 3)
        return x - x.transpose(0, 1, 3, 2)

    v = g["oovv"]
    r = v.transpose(2, 3, 0, 1) + e("abef,efij->abij", g["vvvv"], t) / 2 + e("mnij,abmn->abij", g["oooo"], t) / 2
    r = r + over_pairs(e("mbej,aeim->abij", g["ovvo"], t))
    r = r + e("mnef,efij,abmn->abij", v, t, t) / 4 + over_pairs(e("mnef,aeim,bfjn->abij", v, t, t)) / 2
    of_one = e("mnef,abim,efjn->abij", v, t, t) / 2
    r = r - of_one + of_one.transpose(0, 1, 3, 2)
    of_one = e("mnef,aeij,bfmn->abij", v, t, t) / 2
    r = r - of_one + of_one.transpose(1, 0, 2, 3)
    below = eo[:, None] + eo - ev[:, None, None, None] - ev[:, None, None]
    return r / below, e("mnef,efmn->", v, t) / 4
