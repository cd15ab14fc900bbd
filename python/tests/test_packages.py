"""PyTorch, JAX, opt_einsum and cotengra, where they are installed."""
import importlib.util
import unittest

import numpy as np

import ricci


def needs(package):
    return unittest.skipUnless(importlib.util.find_spec(package), f"{package} is not installed")


@needs("torch")
class Torch(unittest.TestCase):
    def test_arrays(self):
        import torch

        a, b = torch.rand(5, 6, dtype=torch.float64), torch.rand(7, 6, dtype=torch.float64)
        c = ricci.einsum("ab,cb->ca", a, b)
        self.assertIsInstance(c, torch.Tensor)
        torch.testing.assert_close(c, b @ a.T)
        out = torch.zeros(7, 5, dtype=torch.float64)
        self.assertIs(ricci.einsum("ab,cb->ca", a, b, out=out), out)
        torch.testing.assert_close(out, c)
        for dtype in (torch.float16, torch.bfloat16, torch.float32, torch.complex64, torch.int16, torch.uint8):
            x = torch.arange(24).reshape(2, 3, 4).to(dtype)
            y = ricci.permute("abc->cab", x[:, :, ::2])
            self.assertEqual(y.dtype, dtype)
            torch.testing.assert_close(y, x[:, :, ::2].permute(2, 0, 1).contiguous())
        self.assertEqual(ricci.einsum("ab,cb->ca", a, b, dtype=torch.float32).dtype, torch.float32)
        self.assertEqual(ricci.einsum("ab,cb->ca", a, b, order="F").stride(), (1, 7))

    def test_conjugate_views(self):
        import torch

        z = torch.rand(3, 4, dtype=torch.complex128)
        torch.testing.assert_close(ricci.permute("ab->ba", z.conj()), z.conj().T.resolve_conj())
        torch.testing.assert_close(ricci.permute("ab->ba", z.conj().imag), -z.imag.T)

    def test_gradients_are_not_lost(self):
        import torch

        x = torch.rand(3, 4, requires_grad=True)
        with self.assertRaisesRegex(TypeError, "requires a gradient"):
            ricci.permute("ab->ba", x)
        with torch.no_grad():
            self.assertEqual(ricci.permute("ab->ba", x).shape, (4, 3))


@needs("torch")
class TorchOperator(unittest.TestCase):
    PROBLEMS = (
        ("ab,bc->ca", (3, 4), (4, 5)),
        ("abc->b", (3, 4, 5)),
        ("a,a->", (4,), (4,)),
        (",a->a", (), (3,)),
        ("aab,bc->ca", (3, 3, 4), (4, 2)),
        ("...a,ab->...b", (2, 3, 4), (4, 5)),
        ("...a,...a->...", (2, 1, 4), (3, 4)),
        ("row mid, mid col, col out -> out row", (2, 3), (3, 4), (4, 2)),
    )

    def operands(self, shapes, dtype):
        import torch

        return [torch.rand(shape, dtype=dtype, requires_grad=True) for shape in shapes]

    def test_gradients(self):
        import torch
        import ricci.torch

        for spec, *shapes in self.PROBLEMS:
            for dtype in (torch.float64, torch.complex128):
                with self.subTest(spec=spec, dtype=dtype):
                    operands = self.operands(shapes, dtype)

                    def function(*xs):
                        return ricci.torch.einsum(spec, *xs)

                    torch.testing.assert_close(
                        function(*operands).detach(),
                        torch.from_numpy(np.asarray(ricci.einsum(spec, *[x.detach().numpy() for x in operands]))),
                    )
                    self.assertTrue(torch.autograd.gradcheck(function, operands))
        self.assertTrue(torch.autograd.gradgradcheck(lambda a, b: ricci.torch.einsum("ab,bc->ca", a, b), self.operands(((2, 3), (3, 2)), torch.float64)))

    def test_what_torch_demands_of_operators(self):
        import torch
        import ricci.torch

        for spec, *shapes in self.PROBLEMS:
            with self.subTest(spec):
                torch.library.opcheck(torch.ops.ricci.einsum.default, (spec, self.operands(shapes, torch.float64)))


@needs("opt_einsum")
class OptEinsum(unittest.TestCase):
    def test_backend(self):
        import opt_einsum

        spec, arrays = "ij,jkl,kmn,lo,mno->i", [np.random.rand(*s) for s in ((2, 3), (3, 4, 5), (4, 6, 2), (5, 3), (6, 2, 3))]
        np.testing.assert_allclose(opt_einsum.contract(spec, *arrays, backend="ricci"), np.einsum(spec, *arrays))
        expression = opt_einsum.contract_expression(spec, *[x.shape for x in arrays])
        np.testing.assert_allclose(expression(*arrays, backend="ricci"), np.einsum(spec, *arrays))


@needs("cotengra")
class Cotengra(unittest.TestCase):
    def test_implementation(self):
        import cotengra

        spec, arrays = "ij,jkl,kmn,lo,mno->i", [np.random.rand(*s) for s in ((2, 3), (3, 4, 5), (4, 6, 2), (5, 3), (6, 2, 3))]
        found = cotengra.einsum(spec, *arrays, implementation=(ricci.einsum, ricci.tensordot))
        np.testing.assert_allclose(found, np.einsum(spec, *arrays))


@needs("jax")
class Jax(unittest.TestCase):
    def test_arrays(self):
        import jax
        import jax.numpy as jnp

        a, b = jnp.arange(12.0).reshape(3, 4), jnp.arange(20.0).reshape(4, 5)
        c = ricci.einsum("ab,bc->ca", a, b)
        self.assertIsInstance(c, jax.Array)
        np.testing.assert_allclose(c, (a @ b).T)
        with self.assertRaisesRegex(ricci.ShapeError, "read-only"):
            ricci.einsum("ab,bc->ca", a, b, out=c)


@needs("jax")
class JaxCustomCall(unittest.TestCase):
    def operands(self, shapes, dtype):
        rng = np.random.default_rng(2)
        values = [rng.random(shape) + (1j * rng.random(shape) if dtype.startswith("c") else 0) for shape in shapes]
        return [np.asarray(x, dtype) for x in values]

    def test_compiled_programs(self):
        import jax
        import ricci.jax

        for spec, *shapes in TorchOperator.PROBLEMS:
            for dtype in ("float32", "complex64", "int32"):
                operands = self.operands(shapes, dtype)
                wanted = ricci.einsum(spec, *operands)
                with self.subTest(spec=spec, dtype=dtype):
                    for function in (ricci.jax.einsum, jax.jit(ricci.jax.einsum, static_argnums=0)):
                        made = function(spec, *operands)
                        self.assertEqual(made.dtype, wanted.dtype)
                        np.testing.assert_allclose(made, wanted, rtol=1e-5)
        a, b = self.operands(((3, 2, 4), (4, 5)), "float32")
        mapped = jax.vmap(lambda x: ricci.jax.einsum("ab,bc->ca", x, b))(a)
        np.testing.assert_allclose(mapped, np.einsum("xab,bc->xca", a, b), rtol=1e-5)

    def test_gradients(self):
        import jax
        import jax.numpy as jnp
        import ricci.jax

        for spec, *shapes in TorchOperator.PROBLEMS:
            if " " in spec:
                continue  # words, which JAX's own einsum does not read
            for dtype in ("float32", "complex64"):
                operands = self.operands(shapes, dtype)

                def total(einsum, *xs):
                    return jnp.sum(jnp.abs(einsum(spec, *xs)) ** 2)

                places = tuple(range(1, len(operands) + 1))
                with self.subTest(spec=spec, dtype=dtype):
                    ours = jax.grad(total, places)(ricci.jax.einsum, *operands)
                    theirs = jax.grad(total, places)(jnp.einsum, *operands)
                    for x, y in zip(ours, theirs):
                        np.testing.assert_allclose(x, y, rtol=1e-4)

    def test_errors_come_while_tracing(self):
        import ricci.jax

        with self.assertRaisesRegex(ricci.ShapeError, "axis b has extent 3"):
            ricci.jax.einsum("ab,bc->ac", np.ones((2, 3), "f4"), np.ones((4, 5), "f4"))


if __name__ == "__main__":
    unittest.main()
