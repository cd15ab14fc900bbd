"""NumPy's own tests of einsum, from the NumPy that is installed, with every call made by ricci.einsum too.

What NumPy accepts gives its result, except for the kinds of calls in REFUSED, which docs/python.md lists. The sums over
all sizes are run for one type; with RICCI_NUMPY_TYPES=all for all of them, which takes a minute of compilation.
"""
import collections
import importlib.util
import itertools
import os
import pathlib
import sys
import types
import unittest

import numpy as np

import ricci

PLACE = pathlib.Path(np.__file__).parent / "_core/tests/test_einsum.py"
SUMS = "test_einsum_sums_"
TYPES = ["float64"]
_einsum = np.einsum


def refused_types(arrays, options):
    kinds = [x.dtype for x in arrays] + [np.dtype(options.get("dtype") or "f8")]
    return any(t.kind in "bO" or t.char in "gG" or not t.isnative for t in kinds)


def refused_casts(arrays, options):
    """Floats into an `out` of integers, or what NumPy asks casting="unsafe" for."""
    out = options.get("out")
    floats = out is not None and out.dtype.kind in "iu" and any(x.dtype.kind in "fc" for x in arrays)
    return floats or options.get("casting") == "unsafe"


def refused_overlap(arrays, options):
    return options.get("out") is not None and any(np.may_share_memory(options["out"], x) for x in arrays)


def refused_broadcast(arrays, options):
    """A named axis with extent 1 in one operand and more in another."""
    return any(1 in x.shape for x in arrays)


# What of NumPy's calls Ricci refuses, with its error and whether a call is of that kind.
REFUSED = {
    "bool, longdouble, object and foreign byte orders": (ricci.ShapeError, refused_types),
    "casts that lose": (ricci.ShapeError, refused_casts),
    "out that shares elements with an operand": (ricci.ShapeError, refused_overlap),
    "named axes of extent 1 that meet others": (ricci.ShapeError, refused_broadcast),
}


def as_text(arguments):
    """Spec and operands of a call; lists of axis numbers are written as words."""
    if isinstance(arguments[0], str):
        return arguments[0], list(arguments[1:])
    operands = list(arguments[0::2])
    lists = list(arguments[1::2])
    output = operands.pop() if len(arguments) % 2 == 1 else None
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

    def term(axes):
        return "".join("..." if axis is Ellipsis else letters[axis] for axis in axes)

    return ",".join(map(term, lists)) + ("" if output is None else "->" + term(output)), operands


class Beside:
    """numpy.einsum, and ricci.einsum beside it."""

    def __init__(self):
        self.compared = 0
        self.refused = collections.Counter()

    def __call__(self, *arguments, **options):
        before = None if options.get("out") is None else np.array(options["out"], copy=True)
        shared = [np.array(x, copy=True) for x in arguments[1:] if isinstance(x, np.ndarray)] if before is not None else []
        spec, operands = (None, []) if not arguments else ("", [])
        try:
            spec, operands = as_text(arguments)
            arrays = [np.array(x, copy=True) if before is not None else np.asanyarray(x) for x in operands]
        except Exception:  # what is no call at all is NumPy's to refuse
            arrays = None
        overlaps = arrays is not None and refused_overlap([x for x in operands if isinstance(x, np.ndarray)], options)
        wanted = _einsum(*arguments, **options)
        if arrays is None:
            raise AssertionError(f"a call that was not understood: {arguments}")
        self.compare(spec, arrays, options, before, np.asarray(wanted), overlaps)
        return wanted

    def compare(self, spec, arrays, options, before, wanted, overlaps):
        taken = {name: options[name] for name in ("order", "dtype") if options.get(name) is not None}
        kinds = [kind for kind, (_, is_one) in REFUSED.items() if is_one(arrays, {**options, "out": before})]
        if overlaps:
            kinds.append("out that shares elements with an operand")
            self.refused[kinds[-1]] += 1
            return
        try:
            got = ricci.einsum(spec, *arrays, out=before, **taken)
        except ricci.Error as error:
            for kind in kinds:
                if isinstance(error, REFUSED[kind][0]):
                    self.refused[kind] += 1
                    return
            raise
        self.compared += 1
        np.testing.assert_equal(got.shape, wanted.shape)
        if before is None:
            np.testing.assert_equal(got.dtype, wanted.dtype)
        if wanted.dtype.kind in "iu":
            np.testing.assert_array_equal(got, wanted)
            return
        with np.errstate(all="ignore"):
            size = _einsum(spec, *[np.abs(x).astype("f8") for x in arrays])
            eps = np.finfo(wanted.dtype).eps
            terms = max([1.0, *[x.size for x in arrays]])
            np.testing.assert_array_less(np.abs(got - wanted), 8 * eps * terms * size + np.finfo(wanted.dtype).tiny)


def tests_of_numpy():
    """The functions of NumPy's file with their parameters, without the framework that it is written for."""
    pytest = types.ModuleType("pytest")

    def parametrize(names, values):
        names = names.split(",") if isinstance(names, str) else names

        def mark(function):
            function.__dict__.setdefault("parameters", []).append((names, list(values)))
            return function

        return mark

    def keep(*_, **__):
        return lambda function: function

    pytest.mark = types.SimpleNamespace(parametrize=parametrize, xfail=keep, skipif=keep, slow=lambda f: f, thread_unsafe=keep)
    pytest.raises = lambda kind, match=None: np.testing.assert_raises(kind) if match is None else np.testing.assert_raises_regex(kind, match)
    pytest.param = lambda value, *_, **__: value
    theirs, sys.modules["pytest"] = sys.modules.get("pytest"), pytest
    try:
        spec = importlib.util.spec_from_file_location("numpys_test_einsum", PLACE)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        if theirs is None:
            del sys.modules["pytest"]
        else:
            sys.modules["pytest"] = theirs
    made = [(name, function) for name, function in vars(module).items() if name.startswith("test_")]
    one = module.TestEinsum()
    made += [(name, getattr(one, name)) for name in dir(one) if name.startswith("test_")]
    for name, function in made:
        axes = getattr(function, "parameters", [])
        for values in itertools.product(*[values for _, values in axes]):
            arguments = {}
            for (names, _), value in zip(axes, values):
                arguments.update(zip(names, value if len(names) > 1 else [value]))
            yield name, function, arguments


@unittest.skipUnless(PLACE.exists(), f"this NumPy came without {PLACE}")
class NumpysOwn(unittest.TestCase):
    def test_every_call_that_numpy_accepts(self):
        beside = Beside()
        np.einsum, ran = beside, 0
        try:
            for name, function, arguments in tests_of_numpy():
                if arguments.get("einsum_fn", beside) is not beside and arguments["einsum_fn"] is not _einsum:
                    continue  # einsum_path
                if "einsum_fn" in arguments:
                    arguments["einsum_fn"] = beside
                if name.startswith(SUMS) and os.environ.get("RICCI_NUMPY_TYPES") != "all" and name[len(SUMS) :] not in TYPES:
                    continue
                with self.subTest(name, **{key: str(value) for key, value in arguments.items()}):
                    function(**arguments)
                    ran += 1
        finally:
            np.einsum = _einsum
        self.assertGreater(ran, 30)
        self.assertGreater(beside.compared, 1000)
        self.assertEqual(set(beside.refused), set(REFUSED))
        print(f"{beside.compared} calls of {ran} tests as NumPy's; refused: {dict(beside.refused)}")


if __name__ == "__main__":
    unittest.main()
