"""Errors by type and text, threads, programs, administration, and the stubs beside the module."""
import ast
import inspect
import math
import pathlib
import sys
import threading
import time
import types
import unittest
import unittest.mock

import numpy as np

import ricci
from ricci._progress import Bar

SOURCE = pathlib.Path(__file__).resolve().parents[2]


class Errors(unittest.TestCase):
    def test_types(self):
        for name in ("SpecError", "ShapeError", "PlanError", "CompileError", "DeviceError", "CacheError", "IoError", "InternalError"):
            self.assertTrue(issubclass(getattr(ricci, name), ricci.Error), name)
        self.assertTrue(issubclass(ricci.ShapeError, ValueError) and issubclass(ricci.IoError, OSError))

    def test_caret(self):
        with self.assertRaises(ricci.ShapeError) as caught:
            ricci.einsum("ab,ac->bc", np.zeros((6, 4)), np.zeros((4, 5)))
        self.assertEqual(str(caught.exception).splitlines()[1:3], ["  ab,ac->bc", "  ^  ^"])
        with self.assertRaises(ricci.SpecError) as caught:
            ricci.permute("ab-ba", np.zeros((6, 4)))
        self.assertEqual(str(caught.exception).splitlines()[1:], ["  ab-ba", "    ^"])

    def test_arguments(self):
        x = np.zeros((2, 3))
        for error, text, call in (
            (TypeError, "operand 0 is a str, and no array", lambda: ricci.einsum("ab->ba", "x")),
            (TypeError, "no operand", lambda: ricci.einsum("->")),
            (ValueError, "order='Q'", lambda: ricci.einsum("ab->ba", x, order="Q")),
            (ValueError, "mode='fast'", lambda: ricci.plan_permute("ab->ba", x, mode="fast")),
            (ricci.ShapeError, 'no element type "quad"', lambda: ricci.einsum("ab->ba", x, dtype="quad")),
            (ricci.ShapeError, "bool", lambda: ricci.einsum("ab->ba", x > 0)),
            (ricci.ShapeError, ">f8|>d", lambda: ricci.einsum("ab->ba", x.astype(">f8"))),
            (ricci.ShapeError, "33 axes", lambda: ricci.permute("a->a", np.zeros([1] * 33))),
            (ricci.ShapeError, "extent of -1", lambda: ricci.Layout((2, -1))),
            (ricci.PlanError, "no out was given", lambda: ricci.einsum("ab->ba", x, beta=1)),
            (ricci.PlanError, "schedule", lambda: ricci.plan_permute("ab->ba", x, schedule="no such")),
        ):
            with self.subTest(text), self.assertRaisesRegex(error, text):
                call()

    def test_strides_between_elements(self):
        records = np.zeros(4, dtype=[("a", "f8"), ("b", "i4")])
        with self.assertRaisesRegex(ricci.ShapeError, "stride of 12 bytes"):
            ricci.permute("a->a", records["a"])

    def test_outputs_stay_as_they_were(self):
        x = np.random.rand(4, 4)
        kept = x.copy()
        for out in (x, x.T, x[::-1]):
            with self.assertRaisesRegex(ricci.ShapeError, "overlap"):
                ricci.permute("ab->ba", x, out=out)
        broadcast = np.lib.stride_tricks.as_strided(x, (4, 4), (0, 8))
        frozen = np.zeros((4, 4))
        frozen.flags.writeable = False
        for out in (broadcast, frozen, np.zeros((4, 5)), np.zeros((4, 4), int)):
            with self.assertRaises(ricci.Error):
                ricci.permute("ab->ba", kept, out=out)
        np.testing.assert_array_equal(x, kept)

    def test_halves_of_one_array(self):
        x = np.arange(32.0).reshape(4, 8)
        ricci.permute("ab->ab", x[:, ::2], out=x[:, 1::2])
        np.testing.assert_array_equal(x[:, 1::2], np.arange(0, 32, 2).reshape(4, 4))


class Threads(unittest.TestCase):
    def test_eight_at_once(self):
        a, b = np.random.rand(17, 19), np.random.rand(19, 23)
        wanted, failures = a @ b, []
        plan = ricci.plan_einsum("ab,bc->ac", a, b)

        def work(number):
            try:
                for k in range(60):
                    n = 1 + (number + k) % 7  # plans that several threads make at once
                    np.testing.assert_allclose(ricci.einsum("ab,bc->ca", a[:n], b), wanted[:n].T, rtol=1e-12)
                    np.testing.assert_allclose(plan(a, b), wanted, rtol=1e-12)
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])

    def test_others_run_meanwhile(self):
        a = np.random.rand(1200, 1200)
        out = np.empty_like(a)
        plan = ricci.plan_einsum("ab,bc->ac", a, a)
        ticks, done = [0], threading.Event()

        def tick():
            while not done.is_set():
                ticks[0] += 1
                time.sleep(0.0002)

        interval = sys.getswitchinterval()
        sys.setswitchinterval(1000)  # a thread goes on only where another one lets go
        thread = threading.Thread(target=tick)
        try:
            thread.start()
            time.sleep(0.01)
            before = ticks[0]
            plan(a, a, out=out)
            during = ticks[0] - before
        finally:
            sys.setswitchinterval(interval)
            done.set()
            thread.join()
        self.assertGreater(during, 2)
        np.testing.assert_allclose(out, a @ a)


class Progress(unittest.TestCase):
    def setUp(self):
        self.a = np.random.rand(700, 700)

    def test_functions_are_told_the_share(self):
        plan = ricci.plan_einsum("ab,bc->ac", self.a, self.a)
        program = ricci.Program("index i j\ninput x(i, j) : f64\noutput y(j, i) : f64\ny(j, i) = x(i, j)\n")
        for call in (
            lambda told: plan(self.a, self.a, progress=told),
            lambda told: ricci.einsum("ab,bc->ac", self.a, self.a, progress=told),
            lambda told: ricci.permute("ab->ba", self.a, progress=told),
            lambda told: ricci.permute("ab->ba", self.a[:2, :2], progress=told),
            lambda told: program(x=self.a, progress=told),
        ):
            shares = []
            call(shares.append)
            self.assertEqual(shares, sorted(shares))
            self.assertEqual(shares[-1], 1)

    def test_what_they_raise_ends_the_call(self):
        def stop(share):
            raise KeyError("enough")

        with self.assertRaisesRegex(KeyError, "enough"):
            ricci.einsum("ab,bc->ac", self.a, self.a, progress=stop)
        with self.assertRaisesRegex(TypeError, "progress="):
            ricci.einsum("ab,bc->ac", self.a, self.a, progress="bar")
        np.testing.assert_allclose(ricci.einsum("ab,bc->ac", self.a, self.a, progress=True), self.a @ self.a)

    def test_bars(self):
        class Made:
            def __init__(self, total, **_):
                self.shown, self.closed = [], False
                bars.append(self)

            def refresh(self):
                self.shown.append(self.n)

            def close(self):
                self.closed = True

        bars, stood_for = [], types.ModuleType("tqdm.auto")
        stood_for.tqdm = Made
        with unittest.mock.patch.dict(sys.modules, {"tqdm": types.ModuleType("tqdm"), "tqdm.auto": stood_for}):
            with unittest.mock.patch("ricci._progress._QUIET_S", 0):
                bar = Bar()
                for share in (0.25, 0.5, 1):
                    bar(share)
                Bar()(1.0)  # over at once: nothing to show
        self.assertEqual([(bar.shown, bar.closed) for bar in bars], [([25, 50, 100], True)])


class Limits(unittest.TestCase):
    def test_workspace_and_precision(self):
        a = np.random.rand(8, 8)
        chain = ("ab,bc,cd->ad", a, a, a)
        np.testing.assert_allclose(ricci.einsum(*chain, workspace_limit=0), a @ a @ a)
        np.testing.assert_allclose(ricci.einsum(*chain), a @ a @ a)
        with self.assertRaisesRegex(ricci.Error, "precision"):
            ricci.einsum(*chain, precision="f8")
        narrow = a.astype("f4")
        self.assertEqual(ricci.einsum("ab,bc->ac", narrow, narrow, precision="tf32").dtype, np.float32)
        wide = ricci.einsum("ab,bc->ac", narrow, narrow, precision="f64")
        np.testing.assert_array_equal(wide, (narrow.astype("f8") @ narrow.astype("f8")).astype("f4"))
        rounded = narrow.astype("f2").astype("f4")
        np.testing.assert_allclose(
            ricci.einsum("ab,bc->ac", narrow, narrow, precision="f16"), rounded @ rounded, rtol=1e-6)
        with self.assertRaisesRegex(ricci.Error, "precision i32 is for"):
            ricci.einsum("ab,bc->ac", narrow, narrow, precision="i32")


class Programs(unittest.TestCase):
    def test_energy(self):
        program = ricci.Program(
            """
            program mp2
            index i j
            index a b
            input v(i, a, j, b) : f64
            input eo(i) : f64
            input ev(a) : f64
            output E() : f64
            E() = sum(i a j b, v(i, a, j, b) * (2*v(i, a, j, b) - v(i, b, j, a)) / (eo(i) + eo(j) - ev(a) - ev(b)))
            """
        )
        rng = np.random.default_rng(4)
        v, eo, ev = rng.random((3, 5, 3, 5)), -rng.random(3) - 1, rng.random(5)
        energies = eo[:, None, None, None] + eo[:, None] - ev[:, None, None] - ev
        wanted = (v * (2 * v - v.transpose(0, 3, 2, 1)) / energies).sum()
        self.assertTrue(math.isclose(program(v=v, eo=eo, ev=ev)[()], wanted, rel_tol=1e-12))
        out = np.zeros(())
        self.assertIs(program(v=v, eo=eo, ev=ev, E=out), out)
        self.assertTrue(math.isclose(out[()], wanted, rel_tol=1e-12))
        self.assertIn("index a = 3", program.plan(v=(3, 5, 3, 5), eo=(3,), ev=(5,)).source)
        with self.assertRaisesRegex(ricci.ShapeError, "ev was not given"):
            program(v=v, eo=eo)
        with self.assertRaises(ricci.ShapeError):
            program(v=v, eo=ev, ev=eo)
        with self.assertRaisesRegex(ricci.ShapeError, "another type"):
            program(v=v.astype("f4"), eo=eo, ev=ev)

    def test_parameters_extents_and_arrays_in_place(self):
        program = ricci.Program("index i\nparam s : f64\ninput x(i) : f64\ninout y(i) : f64\ny(i) = y(i) + s * x(i)\n")
        x, y = np.arange(4.0), np.ones(4)
        self.assertIs(program(x=x, y=y, s=3), y)
        np.testing.assert_array_equal(y, 1 + 3 * x)
        with self.assertRaisesRegex(ricci.ShapeError, "parameter s was not given"):
            program(x=x, y=y)
        count = ricci.Program("index i\ninput x() : f64\noutput y(i) : f64\ny(i) = x() * i\n")
        np.testing.assert_array_equal(count(x=np.float64(2), i=5), 2 * np.arange(5.0))
        with self.assertRaises(ricci.ShapeError):
            count(x=np.float64(2))

    def test_one_array_per_component(self):
        program = ricci.Program(
            "index i j = 3\ngrid x\ninput K(i, j) : f64 on x sym(0,1) layout pointers\noutput t() : f64 on x\n"
            "t() = sum(i, diag(K(i, i)))\n"
        )
        (tensor, _) = program.tensors
        arrays = {name: np.random.rand(10) for name in tensor.buffers}
        trace = sum(arrays[name] for name in ("K_0_0", "K_1_1", "K_2_2"))
        np.testing.assert_allclose(program(K=arrays).reshape(-1), trace)
        np.testing.assert_allclose(program(K=list(arrays.values())).reshape(-1), trace)
        with self.assertRaisesRegex(ricci.ShapeError, "takes 6 arrays"):
            program(K=list(arrays.values())[:5])

    def test_errors_of_the_text(self):
        with self.assertRaisesRegex(ricci.SpecError, r"(?s)line 2.*\^"):
            ricci.Program("index i\ninput x(k) : f64\n")


class Administration(unittest.TestCase):
    def test_cache(self):
        ricci.permute("ab->ba", np.zeros((2, 3)))
        (root, *_) = ricci.cache.stats()["roots"]
        self.assertGreater(root["entries"], 0)
        self.assertEqual(set(ricci.cache.prune(max_bytes=1 << 40)), {"removed_entries", "removed_bytes", "entries", "bytes"})

    def test_doctor(self):
        findings = {finding.subject: finding for finding in ricci.doctor()}
        self.assertEqual(findings["clang"].state, "ok")
        self.assertIn("clang", str(findings["clang"]))

    def test_stubs_name_what_there_is(self):
        stub = ast.parse((SOURCE / "python/ricci/__init__.pyi").read_text(encoding="utf-8"))
        declared = {node.name: node for node in stub.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
        self.assertEqual(set(ricci.__all__) - set(declared), {"__version__", "cache"})
        self.assertEqual(set(declared) - set(ricci.__all__), set())
        for name, node in declared.items():
            if isinstance(node, ast.ClassDef):
                members = {item.name for item in node.body if isinstance(item, ast.FunctionDef)}
                members |= {item.target.id for item in node.body if isinstance(item, ast.AnnAssign)}
                for member in members:
                    self.assertTrue(hasattr(getattr(ricci, name), member), f"{name}.{member}")
            elif name in ("tensordot", "transpose"):
                written = inspect.signature(getattr(ricci, name))
                self.assertEqual([argument.arg for argument in node.args.args], list(written.parameters))
            elif name != "doctor":
                signature = getattr(ricci, name).__doc__.splitlines()[0]
                for argument in [*node.args.args, *node.args.kwonlyargs]:
                    self.assertIn(f"{argument.arg}: ", signature)
                self.assertEqual(signature.count(" = "), len(node.args.kwonlyargs), name)


if __name__ == "__main__":
    unittest.main()
