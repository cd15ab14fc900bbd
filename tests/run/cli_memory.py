"""Limits of address space, from one in which no compiler fits to one with room for all: every run of the command line
ends with its result or with an error of Ricci's own. Called with the path of `ricci` and the folder of the programs."""
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import unittest

RICCI = sys.argv[1]
PROGRAMS = pathlib.Path(sys.argv[2])
STEPS = 40 if int(os.environ.get("RICCI_FUZZ_PART", "1")) == 1 else 12  # in a part of the long runs fewer
LEAST, MOST = 60 << 20, 1 << 30


def limits():
    return [LEAST + k * (MOST - LEAST) // (STEPS - 1) for k in range(STEPS)]


def run(words, limit):
    def lower():
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    with tempfile.TemporaryDirectory() as cache:
        return subprocess.run([RICCI] + words, env=dict(os.environ, RICCI_CACHE_DIR=cache), capture_output=True,
                              text=True, preexec_fn=lower, timeout=120, check=False)


class Memory(unittest.TestCase):
    def each_ends_well(self, words):
        """How many ended with a result, and how many with an error."""
        results = errors = 0
        for limit in limits():
            with self.subTest(megabytes=limit >> 20):
                ended = run(words, limit)
                self.assertIn(ended.returncode, (0, 2), ended.stderr)
                if ended.returncode == 0:
                    results += 1
                    self.assertIn("kernel", ended.stdout)
                else:
                    errors += 1
                    self.assertTrue(ended.stderr.startswith("ricci: "), ended.stderr)
        return results, errors

    def test_cpu(self):
        words = ["show", str(PROGRAMS / "grid/generalized_harmonic.ricci"), "--extent", "x=1000", "--plan"]
        results, _ = self.each_ends_well(words)
        self.assertGreater(results, STEPS // 4)

    def test_gpu(self):
        words = ["show", str(PROGRAMS / "grid/generalized_harmonic.ricci"), "--extent", "x=1000", "--plan", "--target",
                 "sm_90"]
        if "NVRTC" in run(words, resource.RLIM_INFINITY).stderr:
            self.skipTest("no NVRTC on this machine")
        results, _ = self.each_ends_well(words)
        self.assertGreater(results, STEPS // 4)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
