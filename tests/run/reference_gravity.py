"""What the generalised harmonic programs must give, from the equations and not from the programs.

A solution of Einstein's equations in closed form, a boosted black hole, gives inputs and exact time derivatives. Random data
that solves nothing, with every constraint violated, is put into the equations term by term in extended precision.
Fields are arrays [components..., points].
"""
import numpy as np


class Jet:
    """A function of (t, x, y, z): values [...], gradient [4, ...] and, to second order, Hessian [4, 4, ...]."""

    def __init__(self, value, gradient, hessian):
        self.value, self.gradient, self.hessian = value, gradient, hessian

    def __add__(self, other):
        return Jet(self.value + other.value, self.gradient + other.gradient, self.hessian + other.hessian)

    def __mul__(self, other):
        if not isinstance(other, Jet):
            return Jet(self.value * other, self.gradient * other, self.hessian * other)
        cross = self.gradient[:, None] * other.gradient[None, :]
        return Jet(self.value * other.value,
                   self.gradient * other.value + self.value * other.gradient,
                   self.hessian * other.value + cross + np.swapaxes(cross, 0, 1) + self.value * other.hessian)

    def __pow__(self, power):
        first = power * self.value ** (power - 1)
        second = power * (power - 1) * self.value ** (power - 2)
        square = self.gradient[:, None] * self.gradient[None, :]
        return Jet(self.value ** power, first * self.gradient, second * square + first * self.hessian)


def lorentz(velocity):
    """x' = matrix x for a boost by `velocity` (of light)."""
    speed2 = velocity @ velocity
    gamma = 1 / np.sqrt(1 - speed2)
    matrix = np.empty((4, 4))
    matrix[0, 0] = gamma
    matrix[0, 1:] = matrix[1:, 0] = -gamma * velocity
    matrix[1:, 1:] = np.eye(3) + (gamma - 1) * np.outer(velocity, velocity) / speed2
    return matrix


def boosted_black_hole(points, rng):
    """Inputs of the program, and its exact outputs, at random points around a Schwarzschild hole of mass 1 in Kerr-Schild
    coordinates, boosted in a direction that is none of the axes: psi = eta + 2 l l / r with l null. H_a = -Gamma_a."""
    boost = lorentz(np.array([0.3, -0.2, 0.1]))
    direction = rng.normal(size=(3, points))  # from the hole, which at t = 0 is at the origin; distance in its masses
    direction /= np.sqrt((direction ** 2).sum(0))
    place = np.concatenate([np.zeros((1, points)), direction * rng.uniform(2.5, 8, points)])
    zero = np.zeros((4, 4, points))
    rest = [Jet(boost[c] @ place, np.repeat(boost[c][:, None], points, 1), zero) for c in range(4)]
    r = (rest[1] * rest[1] + rest[2] * rest[2] + rest[3] * rest[3]) ** 0.5
    one = Jet(np.ones(points), np.zeros((4, points)), zero)
    at_rest = [one] + [rest[i] * r ** -1.0 for i in (1, 2, 3)]
    null = []
    for a in range(4):
        total = one * 0.0
        for c in range(4):
            total = total + at_rest[c] * boost[c, a]
        null.append(total)
    twice = (r ** -1.0) * 2.0

    psi, first, second = np.empty((4, 4, points)), np.empty((4, 4, 4, points)), np.empty((4, 4, 4, 4, points))
    for a in range(4):
        for b in range(4):
            jet = twice * null[a] * null[b]
            psi[a, b] = jet.value + (0 if a != b else -1 if a == 0 else 1)
            first[:, a, b], second[:, :, a, b] = jet.gradient, jet.hessian
    return fields_of(psi, first, second)


def fields_of(psi, first, second):
    """Pi, Phi, H and their gradients from a metric with first [c,a,b] and second [c,d,a,b] derivatives."""
    up = np.moveaxis(np.linalg.inv(np.moveaxis(psi, -1, 0)), 0, -1)
    dup = -np.einsum("acx,ecdx,dbx->eabx", up, first, up)
    lapse = (-up[0, 0]) ** -0.5
    dlapse = 0.5 * lapse ** 3 * dup[:, 0, 0]
    shift = lapse ** 2 * up[0, 1:]
    dshift = 2 * lapse * dlapse[:, None] * up[0, 1:] + lapse ** 2 * dup[:, 0, 1:]
    # Pi = -(d_t psi - shift^i d_i psi) / lapse
    flow = first[0] - np.einsum("ix,iabx->abx", shift, first[1:])
    dflow = second[:, 0] - np.einsum("eix,iabx->eabx", dshift, first[1:]) - np.einsum("ix,eiabx->eabx", shift, second[:, 1:])
    pi = -flow / lapse
    dpi = -dflow / lapse + flow * dlapse[:, None, None] / lapse ** 2
    # Gamma_a = psi^bc Gamma_abc
    gamma = 0.5 * (np.einsum("bacx->abcx", first) + np.einsum("cabx->abcx", first) - first)
    dgamma = 0.5 * (np.einsum("ebacx->eabcx", second) + np.einsum("ecabx->eabcx", second) - second)
    h = -np.einsum("bcx,abcx->ax", up, gamma)
    dh = -np.einsum("ebcx,abcx->eax", dup, gamma) - np.einsum("bcx,eabcx->eax", up, dgamma)

    inputs = {"psi": psi, "Pi": pi, "Phi": first[1:], "dpsi": first[1:], "dPi": dpi[1:], "dPhi": second[1:, 1:], "H": h, "dH": dh}
    exact = {"dtpsi": first[0], "dtPi": dpi[0], "dtPhi": second[0, 1:]}
    return inputs, exact


def violating_data(points, rng):
    """Inputs that satisfy no equation and no constraint: a metric near Minkowski's, all else random with its symmetry."""
    def random(*shape):
        return rng.uniform(-1, 1, (*shape, points))

    def symmetric(*shape):
        values = random(*shape)
        return 0.5 * (values + np.swapaxes(values, -3, -2))

    return {"psi": np.diag([-1.0, 1, 1, 1])[:, :, None] + 0.2 * symmetric(4, 4), "Pi": symmetric(4, 4),
            "Phi": symmetric(3, 4, 4), "dpsi": symmetric(3, 4, 4), "dPi": symmetric(3, 4, 4), "dPhi": symmetric(3, 3, 4, 4),
            "H": random(4), "dH": random(4, 4)}


def damping(points, rng):
    return {f"gamma{n}": rng.uniform(-1, 1, points) for n in range(3)}


def inverse(metric):
    """Of [n,n,points], in the type of `metric`: NumPy's inverse, sharpened by Newton's iteration."""
    found = np.moveaxis(np.linalg.inv(np.moveaxis(metric.astype(float), -1, 0)), 0, -1).astype(metric.dtype)
    two = 2 * np.eye(len(metric), dtype=metric.dtype)[:, :, None]
    for _ in range(2):
        found = np.einsum("abx,bcx->acx", found, two - np.einsum("abx,bcx->acx", metric, found))
    return found


def right_hand_side(inputs):
    """Equations (35) to (37) of Lindblom et al. (2006), one term after the other, in extended precision."""
    field = {name: np.asarray(values, np.longdouble) for name, values in inputs.items()}
    psi, pi, phi, dpsi, dpi, dphi = (field[name] for name in ("psi", "Pi", "Phi", "dpsi", "dPi", "dPhi"))
    h, dh, g0, g1, g2 = (field[name] for name in ("H", "dH", "gamma0", "gamma1", "gamma2"))

    def e(text, *operands):
        return np.einsum(text, *operands)

    up = inverse(psi)
    spatial = inverse(psi[1:, 1:])
    lapse = (-up[0, 0]) ** np.longdouble(-0.5)
    shift = lapse ** 2 * up[0, 1:]
    normal = np.concatenate([1 / lapse[None], -shift / lapse])  # t^a
    lower = np.zeros_like(normal)
    lower[0] = -lapse  # t_a
    # Gamma_abc with Phi for the spatial derivatives of psi, and with what Pi says of the one in time
    gradient = np.concatenate([(e("ix,iabx->abx", shift, phi) - lapse * pi)[None], phi])
    gamma = (e("bacx->abcx", gradient) + e("cabx->abcx", gradient) - gradient) / 2
    trace = e("bcx,abcx->ax", up, gamma)
    constraint = h + trace

    out = {}
    out["dtpsi"] = (1 + g1) * e("kx,kabx->abx", shift, dpsi) - lapse * pi - g1 * e("ix,iabx->abx", shift, phi)

    rate = e("kx,kabx->abx", shift, dpi) - lapse * e("kix,kiabx->abx", spatial, dphi)
    rate = rate + g1 * g2 * e("kx,kabx->abx", shift, dpsi) - g1 * g2 * e("kx,kabx->abx", shift, phi)
    rate = rate + 2 * lapse * e("cdx,ijx,icax,jdbx->abx", up, spatial, phi, phi)
    rate = rate - 2 * lapse * e("cdx,cax,dbx->abx", up, pi, pi)
    rate = rate - 2 * lapse * e("cdx,efx,acex,bdfx->abx", up, up, gamma, gamma)
    rate = rate - lapse * (dh + e("abx->bax", dh)) + 2 * lapse * e("cdx,dabx,cx->abx", up, gamma, h)
    rate = rate - lapse / 2 * e("cx,dx,cdx->x", normal, normal, pi) * pi
    rate = rate - lapse * e("cx,cix,ijx,jabx->abx", normal, pi[:, 1:], spatial, phi)
    rate = rate + lapse * g0 * (e("ax,bx->abx", constraint, lower) + e("bx,ax->abx", constraint, lower))
    rate = rate - lapse * g0 * psi * e("cx,cx->x", normal, constraint)
    out["dtPi"] = rate

    rate = e("kx,kiabx->iabx", shift, dphi) - lapse * dpi + lapse * g2 * (dpsi - phi)
    rate = rate + lapse / 2 * e("cx,dx,icdx,abx->iabx", normal, normal, phi, pi)
    rate = rate + lapse * e("jkx,cx,ijcx,kabx->iabx", spatial, normal, phi[:, 1:], phi)
    out["dtPhi"] = rate
    return out
