#!/usr/bin/env python3
"""Kernels of contractions have room for as many blocks of a multiprocessor as their predictions count with, by the
registers and the shared memory that the compiler gave them, for an architecture that need not be there.

usage: occupancy.py SOURCE RICCI_BENCH
"""
import json
import pathlib
import subprocess
import sys
import unittest

SOURCE = pathlib.Path(sys.argv.pop(1))
BENCH = sys.argv.pop(1)

# Of these sets every so many: the kernels that inner_loop.py looks at.
SETS = [("tccg48", "f64", 6), ("talsh300", "f64", 43), ("tccg48_f32", "f32", 6), ("talsh300", "f32", 43),
        ("tccg48_f32", "bf16", 9)]


class Occupancy(unittest.TestCase):
    def test_blocks_at_once(self):
        multiplying = 0
        for name, dtype, every in SETS:
            command = [BENCH, "predict", str(SOURCE / f"bench/problems/{name}.csv"), "--dtype", dtype, "--every", str(every),
                       "--limits", str(SOURCE / "bench/results/contract-tccg48-f64-h200.json"), "--json"]
            result = json.loads(subprocess.run(command, check=True, text=True, capture_output=True).stdout)
            self.assertEqual(result["fewer_blocks_than_predicted"], [])
            # What was timed where the limits are from stands beside the predictions of the same set and type.
            there = (name, dtype) == ("tccg48", "f64")
            self.assertEqual([c["id"] for c in result["cases"] if "timed_ms" in c], [c["id"] for c in result["cases"]] if there else [])
            self.assertEqual("cutensor" in result["speed_over"], there)
            for case in result["cases"]:
                for kernel in case["kernels"]:
                    with self.subTest(case["id"], dtype=dtype, kernel=kernel["schedule"]):
                        self.assertEqual(kernel["spill_bytes"], 0)
                        self.assertGreater(kernel["registers"], 0)
                        self.assertGreater(kernel["blocks_compiled"], 0)
                        if kernel["schedule"].startswith(("fma", "m16n8", "m8n8", "wgmma")):
                            multiplying += 1
                            self.assertGreater(kernel["blocks_predicted"], 0)
                            self.assertGreaterEqual(kernel["blocks_compiled"], kernel["blocks_predicted"])
        self.assertGreaterEqual(multiplying, 30)


if __name__ == "__main__":
    unittest.main()
