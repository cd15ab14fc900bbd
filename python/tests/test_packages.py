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


if __name__ == "__main__":
    unittest.main()
