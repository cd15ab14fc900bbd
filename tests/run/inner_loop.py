#!/usr/bin/env python3
"""Machine code of contractions, for an architecture that need not be there: SASS holds what the schedules say.

usage: inner_loop.py SOURCE RICCI     ends with 77 where no tool prints SASS
"""
import csv
import pathlib
import shutil
import sys
import unittest

SOURCE = pathlib.Path(sys.argv.pop(1))
RICCI = sys.argv.pop(1)
sys.path.insert(0, str(SOURCE / "bench"))
import inner_loop  # noqa: E402  (found beside report.py)

# Of these sets every so many, as many as make thirty kernels and some by warp groups.
SETS = [("tccg48", "f64", 6), ("talsh300", "f64", 43), ("tccg48_f32", "f32", 6), ("talsh300", "f32", 43),
        ("tccg48_f32", "bf16", 9)]
# Arithmetic takes longer than memory by a factor of eight or more.
BOUND_BY_PRODUCTS = ["tccg_ccsd00", "tccg_ccsd08", "tccg_ccsd12", "tccg_ccsd17"]


def cases(name):
    with open(SOURCE / f"bench/problems/{name}.csv", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def compiled(case, dtype, *more):
    return inner_loop.Compiled(RICCI, case["spec"], case["extents"], ["--dtype", dtype, "--target", "sm_90", *more])


class MachineCode(unittest.TestCase):
    def check(self, code, dtype):
        operations = code.operations()
        self.assertEqual(code.plan["spill_bytes"], 0)
        self.assertFalse([op for op in operations if op.startswith(("LDL", "STL"))], "local memory")
        if code.product is None:
            return False
        products = {op for op in operations if op in inner_loop.PIPE_CYCLES}
        if code.product.startswith("fma_row"):  # an outer product: nothing is summed
            self.assertTrue([op for op in operations if op.startswith(("DMUL", "FMUL"))])
        elif dtype == "f64" and code.product.startswith("m"):  # the widest that a depth of eight fills
            self.assertEqual(products & {"DMMA.16x8x8", "DMMA.16x8x4", "DMMA.8x8x4"}, {"DMMA.16x8x8"})
        elif code.product.startswith(("wgmma", "m16n8")):
            wide = "HGMMA" if code.product.startswith("wgmma") else "HMMA.16816"
            self.assertTrue([op for op in operations if op.startswith(wide)], wide)
        else:
            self.assertIn("DFMA" if dtype == "f64" else "FFMA", products)
        copies = "UTMALDG" if " maps" in code.product else "LDGSTS"
        self.assertTrue([op for op in operations if op.startswith(copies)], "no asynchronous copy")
        return True

    def test_thirty_kernels(self):
        tiled = wide = mapped = count = 0
        for name, dtype, every in SETS:
            for case in cases(name)[::every]:
                with self.subTest(case["id"], dtype=dtype):
                    code = compiled(case, dtype)
                    count += 1
                    if self.check(code, dtype):
                        tiled += 1
                        mapped += " maps" in code.product
                        wide += any(op.startswith("UTMALDG") or (op.startswith(("LDS.128", "LDGSTS")) and "128" in op)
                                    for op in code.operations())
        self.assertGreaterEqual(count, 30)
        self.assertGreater(tiled, count * 3 / 4)
        self.assertGreater(wide, tiled * 3 / 4)  # others have odd extents everywhere
        self.assertTrue(0 < mapped < tiled)

    def test_products_are_what_inner_loops_wait_for(self):
        for case in cases("tccg48"):
            if case["id"] in BOUND_BY_PRODUCTS:
                with self.subTest(case["id"]):
                    self.assertGreaterEqual(compiled(case, "f64").loop().share, 0.85)

    def test_multiply_adds_have_most_issue_slots(self):
        for case in cases("tccg48_f32"):
            if case["id"] in BOUND_BY_PRODUCTS:
                with self.subTest(case["id"]):
                    self.assertGreaterEqual(compiled(case, "f32").loop().share, 0.85)

    def test_copies_pass_products(self):
        """Copies of the next round have a predicate, so that products stand before them and after them."""
        lines, labels = compiled(cases("tccg48")[20], "f64").products_kernel()
        start, end = min(((start, end) for end, start, _ in inner_loop.jumps(lines, labels) if start < end and any(
            inner_loop.operation(text) in inner_loop.PIPE_CYCLES for text in lines[start:end])),
                         key=lambda loop: loop[1] - loop[0])
        names = [inner_loop.operation(text) for text in lines[start:end]]
        products = [k for k, name in enumerate(names) if name.startswith("DMMA")]
        copies = [k for k, name in enumerate(names) if name.startswith("LDGSTS")]
        self.assertGreater(copies[0], products[0])
        self.assertLess(copies[-1], products[-1])


if __name__ == "__main__":
    if not any(map(shutil.which, ("nvdisasm", "cuobjdump"))) and not any(
            pathlib.Path("/usr/local/cuda/bin", tool).exists() for tool in ("nvdisasm", "cuobjdump")):
        print("neither nvdisasm nor cuobjdump prints SASS here")
        sys.exit(77)
    unittest.main()
