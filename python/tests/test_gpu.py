"""Arrays on a GPU: PyTorch, CuPy and JAX, where they are installed and see one."""
import unittest

import numpy as np

import ricci


def torch_on_gpu():
    try:
        import torch
    except ImportError:
        return None
    return torch if torch.cuda.is_available() else None


def cupy_on_gpu():
    try:
        import cupy

        cupy.cuda.runtime.getDeviceCount()
    except Exception:  # not installed, or no driver
        return None
    return cupy


def jax_on_gpu():
    try:
        import jax

        jax.devices("gpu")
    except Exception:
        return None
    return jax


torch, cupy = torch_on_gpu(), cupy_on_gpu()
if torch is None and cupy is None:
    print("[SKIP] no GPU that PyTorch or CuPy sees")


@unittest.skipUnless(torch, "no GPU that PyTorch sees")
class Torch(unittest.TestCase):
    def rand(self, *shape, dtype="float64"):
        return torch.rand(shape, dtype=torch.float64, device="cuda").to(getattr(torch, dtype))

    def test_einsums_and_permutations(self):
        for dtype, bound in (("float64", 1e-12), ("float32", 1e-4), ("bfloat16", 2e-2), ("float16", 2e-3), ("complex128", 1e-12)):
            a, b = self.rand(40, 33, 20, dtype=dtype), self.rand(33, 20, 50, dtype=dtype)
            c = ricci.einsum("abc,bcd->da", a, b)
            self.assertEqual((c.dtype, c.device), (a.dtype, a.device))
            wide = torch.complex128 if a.is_complex() else torch.float64
            expected = torch.einsum("abc,bcd->da", a.to(wide), b.to(wide))
            torch.testing.assert_close(c.to(wide), expected, rtol=bound, atol=bound)
            x = a[:, ::3, 1:]
            self.assertTrue(torch.equal(ricci.permute("abc->cab", x), x.permute(2, 0, 1)))
        z = self.rand(30, 40, dtype="complex64") + 1j
        torch.testing.assert_close(ricci.permute("ab->ba", z.conj()), z.conj().T.resolve_conj())

    def test_three_operands_and_out(self):
        a, b, c = self.rand(16, 17), self.rand(17, 18), self.rand(18, 19)
        out = torch.full((19, 16), float("nan"), dtype=torch.float64, device="cuda")
        self.assertIs(ricci.einsum("ab,bc,cd->da", a, b, c, out=out), out)
        torch.testing.assert_close(out, (a @ b @ c).T)

    def test_the_current_stream(self):
        # What is queued before on the current stream is seen, and what is queued after sees the result.
        a, b = self.rand(512, 512), self.rand(512, 512)
        plan = ricci.plan_einsum("ab,bc->ac", a, b)
        out = torch.zeros(512, 512, dtype=torch.float64, device="cuda")
        torch.cuda.synchronize()
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            torch.cuda._sleep(50_000_000)
            a.add_(1)
            plan(a, b, out=out)
            twice = out * 2
            self.assertFalse(stream.query())  # nothing waited
        stream.synchronize()
        torch.testing.assert_close(twice, 2 * (a @ b))

    def test_a_graph_of_plans(self):
        a, b = self.rand(64, 48), self.rand(48, 80)
        plan = ricci.plan_einsum("ab,bc->ca", a, b, order="C")
        out = torch.zeros(80, 64, dtype=torch.float64, device="cuda")
        plan(a, b, out=out)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            plan(a, b, out=out)
        a.mul_(3)
        out.zero_()
        graph.replay()
        torch.testing.assert_close(out, (a @ b).T)

    def test_mistakes(self):
        a = self.rand(3, 4)
        with self.assertRaisesRegex(ricci.DeviceError, "on the CPU"):
            ricci.einsum("ab,bc->ac", a, torch.rand(4, 5, dtype=torch.float64))
        with self.assertRaises(ricci.ShapeError):
            ricci.einsum("ab,bc->ac", a, self.rand(5, 4))

    def test_the_operator(self):
        import ricci.torch

        a, b = self.rand(6, 5).requires_grad_(), self.rand(5, 7).requires_grad_()
        ricci.torch.einsum("ab,bc->ca", a, b).sin().sum().backward()
        got = (a.grad.clone(), b.grad.clone())
        a.grad = b.grad = None
        torch.einsum("ab,bc->ca", a, b).sin().sum().backward()
        torch.testing.assert_close(got, (a.grad, b.grad))

    def test_a_program(self):
        program = ricci.Program("index i j\ninput x(i, j) : f64\noutput y(i) : f64\ny(i) = sum(j, x(i, j) * x(i, j))\n")
        x = self.rand(1000, 30)
        y = torch.full((1000,), float("nan"), dtype=torch.float64, device="cuda")
        self.assertIs(program(x=x, y=y), y)
        torch.testing.assert_close(y, (x * x).sum(1))


@unittest.skipUnless(cupy, "no GPU that CuPy sees")
class Cupy(unittest.TestCase):
    def test_einsums_and_permutations(self):
        a, b = cupy.random.rand(40, 33), cupy.random.rand(33, 50)
        c = ricci.einsum("ab,bc->ca", a, b)
        self.assertIsInstance(c, cupy.ndarray)
        cupy.testing.assert_allclose(c, (a @ b).T, rtol=1e-12)
        x = cupy.arange(2 * 3 * 4 * 5, dtype=cupy.int32).reshape(2, 3, 4, 5)
        cupy.testing.assert_array_equal(ricci.permute("abcd->dbca", x), x.transpose(3, 1, 2, 0))

    def test_the_current_stream(self):
        a, b = cupy.random.rand(300, 300), cupy.random.rand(300, 300)
        stream = cupy.cuda.Stream(non_blocking=True)
        cupy.cuda.get_current_stream().synchronize()
        with stream:
            a += 1
            c = ricci.einsum("ab,bc->ac", a, b)
            d = c + 1
        stream.synchronize()
        cupy.testing.assert_allclose(d, a @ b + 1, rtol=1e-12)


@unittest.skipUnless(jax_on_gpu(), "no GPU that JAX sees")
class Jax(unittest.TestCase):
    def test_under_jit(self):
        import jax

        import ricci.jax

        a, b = (np.random.rand(*shape).astype(np.float32) for shape in ((20, 30), (30, 40)))
        c = jax.jit(lambda x, y: ricci.jax.einsum("ab,bc->ca", x, y) * 2)(a, b)
        np.testing.assert_allclose(np.asarray(c), 2 * (a @ b).T, rtol=1e-4)


if __name__ == "__main__":
    unittest.main()
