"""ricci.einsum and ricci.permute on NumPy arrays, against numpy.einsum and numpy.transpose."""
import gc
import os
import sys
import tracemalloc
import unittest

import numpy as np

import problems
import ricci


class Einsum(unittest.TestCase):
    def test_random_problems(self):
        rng = np.random.default_rng(problems.SEED)
        for _ in range(problems.CASES):
            problem = problems.Problem(rng)
            with self.subTest(str(problem)):
                self.check(problem)

    def check(self, problem):
        numpy_result = np.einsum(problem.spec, *problem.operands, order=problem.order)
        keep = [x.copy() for x in problem.operands]
        out = None
        if problem.out:
            out = np.full([2 * n for n in problem.shape], 7, numpy_result.dtype)[(*(slice(None, None, 2) for _ in problem.shape), ...)]
        result = ricci.einsum(problem.spec, *problem.operands, out=out, order=problem.order)
        self.assertEqual(result.dtype, numpy_result.dtype)
        self.assertEqual(result.shape, numpy_result.shape)
        if out is not None:
            self.assertIs(result, out)
        elif problem.order in "CF" or (problem.order == "K" and result.size > 0):
            self.assertTrue(result.flags[f"{problem.order}_CONTIGUOUS"] if problem.order != "K" else True)
        exact, bound = problems.expected(problem.spec, problem.operands, result.dtype)
        self.assertTrue(np.all(np.abs(result - exact) <= bound), f"off by {np.max(np.abs(result - exact), initial=0)}")
        for kept, operand in zip(keep, problem.operands):
            np.testing.assert_array_equal(kept, operand)

    def test_order_k_is_numpys(self):
        rng = np.random.default_rng(3)
        for _ in range(40):
            a = rng.random((3, 4, 5)).transpose(rng.permutation(3))
            b = rng.random((4, 2, 3)).transpose(rng.permutation(3))
            names = dict(zip("pqr", a.shape))
            shared = next((k for k, n in names.items() if n in b.shape), None)
            second = "".join(shared if n == names[shared] else name for name, n in zip("xyz", b.shape))
            output = "".join(rng.permutation(sorted(set("pqr" + second) - {shared})))
            spec = f"pqr,{second}->{output}"
            self.assertEqual(ricci.einsum(spec, a, b).strides, np.einsum(spec, a, b).strides, spec)

    def test_notation(self):
        a, b = np.arange(12.0).reshape(3, 4), np.arange(20.0).reshape(4, 5)
        np.testing.assert_array_equal(ricci.einsum("ab,bc", a, b), a @ b)
        np.testing.assert_array_equal(ricci.einsum("...b,bc->...c", a, b), a @ b)
        np.testing.assert_array_equal(ricci.einsum("row mid, mid col -> col row", a, b), (a @ b).T)
        np.testing.assert_array_equal(ricci.einsum("ab->", a), a.sum())
        np.testing.assert_array_equal(ricci.einsum("a,a->", [1.0, 2.0], (3.0, 4.0)), 11.0)
        np.testing.assert_array_equal(ricci.einsum(",a->a", 3.0, [1.0, 2.0]), [3.0, 6.0])

    def test_options(self):
        a, b = np.arange(12.0).reshape(3, 4), np.arange(20.0).reshape(4, 5)
        out = np.ones((3, 5))
        ricci.einsum("ab,bc->ac", a, b, out=out, alpha=2, beta=-1)
        np.testing.assert_array_equal(out, 2 * (a @ b) - 1)
        self.assertEqual(ricci.einsum("ab,bc->ac", a, b, dtype="float32").dtype, np.float32)
        self.assertEqual(ricci.einsum("ab,bc->ac", a, b, dtype=np.complex128).dtype, np.complex128)
        z = a * (1 + 2j)
        np.testing.assert_array_equal(ricci.einsum("ab,ab->", z, z, conj=[False, True]), (z * z.conj()).sum())

    def test_many_operands(self):
        rng = np.random.default_rng(5)
        chain = [rng.random((3, 3)) for _ in range(10)]
        spec = ",".join("abcdefghijk"[k : k + 2] for k in range(10)) + "->ak"
        np.testing.assert_allclose(ricci.einsum(spec, *chain), np.linalg.multi_dot(chain), rtol=1e-12)


class Permute(unittest.TestCase):
    def test_every_type(self):
        rng = np.random.default_rng(1)
        for dtype in problems.FLOATS + problems.INTEGERS:
            for _ in range(3):
                x = problems.view(rng, [3, 1, 4, 2], dtype)
                axes = rng.permutation(4)
                spec = "abcd->" + "".join("abcd"[k] for k in axes)
                for order in "CF":
                    y = ricci.permute(spec, x, order=order)
                    np.testing.assert_array_equal(y, x.transpose(axes))
                    self.assertTrue(y.flags[f"{order}_CONTIGUOUS"])
                    self.assertEqual(y.dtype, x.dtype)

    def test_numpys_scalars_and_empty_arrays(self):
        self.assertEqual(ricci.permute("->", np.float64(2.5))[()], 2.5)
        self.assertEqual(ricci.permute("abc->cab", np.empty((3, 0, 2))).shape, (2, 3, 0))

    def test_conversion_and_factors(self):
        x = np.arange(6.0).reshape(2, 3)
        np.testing.assert_array_equal(ricci.permute("ab->ba", x, dtype="float32", alpha=2), 2 * x.T.astype("f4"))
        out = np.ones((3, 2))
        ricci.permute("ab->ba", x, out=out, alpha=0.5, beta=3)
        np.testing.assert_array_equal(out, 0.5 * x.T + 3)
        z = x * 1j
        np.testing.assert_array_equal(ricci.permute("ab->ba", z, conj=True), z.T.conj())

    def test_addresses_of_any_alignment(self):
        raw = np.zeros(8 * 12 + 1, np.uint8)
        x = raw[1:].view(np.float64).reshape(3, 4)
        x[:] = np.arange(12).reshape(3, 4)
        np.testing.assert_array_equal(ricci.permute("ab->ba", x), x.T)

    def test_large_results_begin_at_cache_lines(self):
        x = np.arange(600 * 500.0).reshape(600, 500)
        for order in "CF":
            results = [ricci.permute("ab->ba", x, order=order), ricci.einsum("ab,bc->ac", x, x.T, order=order)]
            for result, numpys in zip(results, (x.T, x @ x.T)):
                self.assertEqual(result.__array_interface__["data"][0] % 64, 0)
                np.testing.assert_allclose(result, numpys, rtol=1e-12)
                self.assertTrue(result.flags.writeable and result.flags[f"{order}_CONTIGUOUS"])

    def test_buffers_that_are_no_numpy_arrays(self):
        import array

        y = ricci.permute("a->a", array.array("f", [1, 2, 3]))
        self.assertEqual((y.dtype, y.tolist()), (np.float32, [1, 2, 3]))


class NumpysNames(unittest.TestCase):
    def test_tensordot(self):
        a, b = np.random.rand(2, 3, 4, 5), np.random.rand(5, 4, 6)
        for axes in (1, ([3], [0]), ([3, 2], [0, 1]), ((-1, 2), (0, -2)), (3, 0), 0):
            np.testing.assert_allclose(ricci.tensordot(a, b, axes), np.tensordot(a, b, axes))
        deep = np.random.rand(2, *[1] * 30), np.random.rand(*[1] * 30, 3)  # more axes than there are letters
        np.testing.assert_allclose(ricci.tensordot(*deep, 25), np.tensordot(*deep, 25))
        for axes in (5, ([0], [0, 1]), ([4], [0]), ([0, 0], [0, 1])):
            with self.assertRaises(ValueError):
                ricci.tensordot(a, b, axes)

    def test_transpose(self):
        a = np.random.rand(2, 3, 4)
        for axes in (None, (1, 2, 0), (-1, 0, 1)):
            np.testing.assert_array_equal(ricci.transpose(a, axes), a.transpose(axes))
        with self.assertRaisesRegex(ValueError, "no permutation"):
            ricci.transpose(a, (0, 1, 1))


class Plans(unittest.TestCase):
    def test_calls(self):
        a, b = np.random.rand(5, 6), np.random.rand(6, 7)
        plan = ricci.plan_einsum("ab,bc->ca", a, b)
        np.testing.assert_allclose(plan(a, b), (a @ b).T)
        out = np.empty((5, 7)).T
        self.assertIs(plan(a, b, out=out), out)
        np.testing.assert_allclose(out, (a @ b).T)
        with self.assertRaisesRegex(ricci.ShapeError, r"operand 1 is float64 \(7, 6\)"):
            plan(a, b.T)
        with self.assertRaisesRegex(ricci.ShapeError, "out is float64"):
            plan(a, b, out=np.empty((7, 5)))
        with self.assertRaisesRegex(ricci.ShapeError, "reads 2 operands; 1 were given"):
            plan(a)
        with self.assertRaises(ricci.PlanError):
            plan(a, b, out=out, alpha=3)

    def test_addend(self):
        a, b, c = np.random.rand(5, 6), np.random.rand(6, 7), np.random.rand(7, 5).T
        plan = ricci.plan_einsum("ab,bc->ac", a, b, addend=c, alpha=2, beta=3)
        np.testing.assert_allclose(plan(a, b, c), 2 * (a @ b) + 3 * c)
        out = np.empty((5, 7))
        self.assertIs(plan(a, b, c, out=out, beta=-1), out)
        np.testing.assert_allclose(out, 2 * (a @ b) - c)
        np.testing.assert_allclose(ricci.einsum("ab,bc->ac", a, b, addend=c.astype("f4"), beta=1), a @ b + c.astype("f4"))
        np.testing.assert_allclose(ricci.permute("ab->ba", a, addend=2 * a.T, beta=1), 3 * a.T)
        row = np.broadcast_to(np.arange(7.0), (5, 7))
        np.testing.assert_allclose(ricci.einsum("ab,bc->ac", a, b, addend=row, beta=1), a @ b + row)
        with self.assertRaisesRegex(ricci.PlanError, "beta = 0"):
            ricci.einsum("ab,bc->ac", a, b, addend=c)
        with self.assertRaisesRegex(ricci.ShapeError, "overlap"):
            ricci.einsum("ab,bc->ac", a, b, addend=c, beta=1, out=c)

    def test_constants_are_packed_once(self):
        a, b, c = np.random.rand(5, 6), np.random.rand(6, 7).astype("f4"), np.random.rand(8, 7)
        plan = ricci.plan_einsum("ab,bc,dc->ad", a, b, c, constant=[False, True, True])
        packed = plan.pack(b, c)
        self.assertEqual(packed.bytes, plan.info.packed_bytes)
        wanted = a @ b @ c.T
        b[:], c[:] = 0, 0
        np.testing.assert_allclose(plan(a, packed=packed), wanted)
        np.testing.assert_allclose(plan(2 * a, packed=packed), 2 * wanted)
        with self.assertRaisesRegex(ricci.PlanError, "constant operands; give what its pack"):
            plan(a)
        with self.assertRaisesRegex(ricci.ShapeError, "reads 1 operand; 3 were given"):
            plan(a, b, c, packed=packed)
        with self.assertRaisesRegex(ricci.ShapeError, "constant operand 0 has another"):
            plan.pack(c, b)
        with self.assertRaisesRegex(TypeError, "packed"):
            plan(a, packed=3)

    def test_a_limit_of_the_workspace(self):
        chain = [np.random.rand(20, 20) for _ in range(3)]
        plan = ricci.plan_einsum("ab,bc,cd->ad", *chain, workspace_limit=100)
        self.assertEqual(plan.info.workspace_bytes, 0)
        np.testing.assert_allclose(plan(*chain), np.linalg.multi_dot(chain))
        self.assertGreater(ricci.plan_einsum("ab,bc,cd->ad", *chain).info.workspace_bytes, 100)

    def test_what_a_call_does_not_know(self):
        x = np.random.rand(3, 4)
        plan = ricci.plan_permute("ab->ba", x)
        with self.assertRaisesRegex(TypeError, "no keyword 'output'"):
            plan(x, output=x)
        with self.assertRaises(TypeError):
            plan(x, alpha="two")
        with self.assertRaises(TypeError):
            plan(object())
        np.testing.assert_array_equal(plan(x, **{"".join(["o", "ut"]): np.empty((4, 3))}), x.T)

    def test_factors_of_each_call(self):
        x = np.arange(6.0).reshape(2, 3)
        plan = ricci.plan_permute("ab->ba", x, alpha=2, beta=0.5)
        out = np.ones((3, 2))
        plan(x, out=out, alpha=3, beta=7)
        np.testing.assert_array_equal(out, 3 * x.T + 7)
        with self.assertRaisesRegex(ricci.PlanError, "no out was given"):
            plan(x)

    def test_layouts_in_the_place_of_arrays(self):
        plan = ricci.plan_permute("abc->cab", ricci.Layout((3, 4, 5), "float32", strides=(20, 5, 1)))
        self.assertEqual((plan.output.shape, plan.output.dtype), ((5, 3, 4), "float32"))
        x = np.random.rand(3, 4, 5).astype("f4")
        np.testing.assert_array_equal(plan(x), x.transpose(2, 0, 1))

    def test_outputs_with_gaps_are_given(self):
        x, out = np.random.rand(3, 4), np.zeros((8, 6))[::2, ::2]
        plan = ricci.plan_permute("ab->ba", x, out=out)
        with self.assertRaisesRegex(ricci.ShapeError, "gaps"):
            plan(x)
        np.testing.assert_array_equal(plan(x, out=out), x.T)

    def test_what_a_plan_tells(self):
        plan = ricci.plan_einsum("ab,bc->ac", ricci.Layout((30, 20)), ricci.Layout((20, 10)))
        self.assertIn("ab", plan.info.kernel)
        self.assertEqual(plan.info.flops, 2 * 30 * 20 * 10)
        self.assertEqual(plan.info.compulsory_bytes, 8 * (30 * 20 + 20 * 10 + 30 * 10))
        self.assertEqual(sum(candidate.chosen for candidate in plan.candidates()), 1)
        self.assertIn(plan.info.schedule.split(":")[0], plan.explain())
        html = plan._repr_html_()
        self.assertIn(f"{plan.info.compulsory_bytes:,} bytes", html)
        self.assertIn("predicted", html)
        text = html[html.index("<pre") :]
        for tag in ("<", "&"):
            self.assertIn(tag, text)
        self.assertEqual(strip(text), plan.source)
        named = ricci.plan_einsum("ab,bc->ac", *plan.inputs, schedule=plan.candidates()[1].name)
        self.assertEqual(named.info.choice, "named")


def strip(html):
    import html as escapes
    import re

    return escapes.unescape(re.sub(r"<[^>]*>", "", html[: html.index("</pre>")]))


class Memory(unittest.TestCase):
    def test_nothing_is_kept(self):
        a, b, out = np.random.rand(4, 4), np.random.rand(4, 4), np.empty((4, 4))
        plan = ricci.plan_einsum("ab,bc->ac", a, b)

        def calls(count):
            for _ in range(count):
                ricci.einsum("ab,bc->ac", a, b)
                ricci.einsum("ab,bc->ac", a, b, out=out)
                plan(a, b)
                try:
                    plan(a, b[:2])
                except ricci.ShapeError:
                    pass

        calls(10)
        counts = [sys.getrefcount(x) for x in (a, b, out)]
        tracemalloc.start()
        calls(1000)
        gc.collect()
        before = tracemalloc.get_traced_memory()[0]
        calls(int(os.environ.get("RICCI_PYTHON_CALLS", "5000")))
        gc.collect()
        grown = tracemalloc.get_traced_memory()[0] - before
        tracemalloc.stop()
        self.assertEqual([sys.getrefcount(x) for x in (a, b, out)], counts)
        self.assertLess(grown, 5000)


if __name__ == "__main__":
    unittest.main()
