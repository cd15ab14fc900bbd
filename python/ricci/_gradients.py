"""Gradients of einsums as einsums, whatever the package of the arrays: specs, and which axes each operand has."""


def extents_of(terms, shapes):
    """The extent of each axis; those of an ellipsis may be 1 in some operands."""
    extents = {}
    for term, shape in zip(terms, shapes):
        for name, extent in zip(term, shape):
            if name not in extents or extents[name] == 1:
                extents[name] = extent
    return extents


def joined(terms, output):
    """A spec of renamed axes, so that those of an ellipsis are written out like the others."""
    names = {name: f"x{k}" for k, name in enumerate(dict.fromkeys(name for term in terms for name in term))}
    if all(len(term) < 2 for term in terms):
        # Only where a term holds two words are words names; single letters otherwise.
        names = {name: chr(ord("a") + k) for k, name in enumerate(names)}
    return ",".join(" ".join(names[name] for name in term) for term in terms) + "->" + " ".join(names[name] for name in output)


class Gradient:
    """That of operand `which`: the sum of the result's gradient with the other operands over all axes it does not have.

    spec      of the gradient of the result and the other operands, conjugated and broadcast to `factors`
    missing   places among `axes` that the sum does not have, since nothing else knows them or they are broadcast
    shape     of all `axes`, each once; an operand that repeats one is 0 beside its diagonal
    """

    def __init__(self, terms, output, which, shapes):
        term, extents = terms[which], extents_of(terms, shapes)
        self.others = [k for k in range(len(terms)) if k != which]
        known = set(output).union(*[terms[k] for k in self.others])
        self.axes = list(dict.fromkeys(term))
        extent = dict(zip(term, shapes[which]))
        # An axis that this operand has with extent 1, broadcast over the others, is summed over.
        found = [name for name in self.axes if name in known and not (extent[name] == 1 and extents[name] != 1)]
        self.factors = [[extents[name] for name in terms[k]] for k in self.others]
        self.spec = joined([output, *[terms[k] for k in self.others]], found)
        self.missing = [place for place, name in enumerate(self.axes) if name not in found]
        self.shape = [extent[name] for name in self.axes]
        self.is_diagonal = len(self.axes) < len(term)
        self.places = [self.axes.index(name) for name in term]
