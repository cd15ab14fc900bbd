"""`ricci permute --device gpu`: files of every type on a real device, equal to the interpreter's; and the bench there."""
import sys

import cli_tool
from cli_tool import Case, bytes_pattern, load, pack, permuted, save, unpack


class Gpu(Case):
    def setUp(self):
        super().setUp()
        done = self.json("doctor")["found"]
        if not any(line["subject"].startswith("device") and line["state"] == "ok" for line in done):
            print("[SKIP] no GPU", file=sys.stderr)
            self.skipTest("no GPU")

    def test_every_type(self):
        for descr, size in cli_tool.BYTES.items():
            for shape, spec in [((37, 5, 41), "abc->cab"), ((64, 96), "ab->ba"), ((3, 0), "ab->ba"), ((), "->")]:
                with self.subTest(descr=descr, spec=spec, shape=shape):
                    elements = bytes_pattern(cli_tool.product(shape), size)
                    save(self.folder / "in.npy", shape, descr, elements)
                    options = ["--dtype", "bf16"] if descr == "<V2" else []
                    done = self.json("permute", "in.npy", "out.npy", spec, "--device", "gpu", "--verify", *options)
                    self.assertEqual(done["plan"]["device"], "gpu")
                    self.assertEqual(load(self.folder / "out.npy")[2:], permuted(shape, elements, spec))

    def test_factors_and_repetitions(self):
        a, b = [0.5 * i for i in range(6)], [100.0 - i for i in range(6)]
        save(self.folder / "a.npy", (2, 3), "<f8", pack("d", a))
        save(self.folder / "b.npy", (3, 2), "<f8", pack("d", b))
        text = self.ricci("permute", "a.npy", "b.npy", "ij->ji", "--alpha", "-2", "--beta", "0.5", "--verify", "--repeat",
                          "3", "--device", "gpu").stdout
        expected = [-2 * a[3 * i + j] + 0.5 * b[2 * j + i] for j in range(3) for i in range(2)]
        self.assertEqual(unpack("d", load(self.folder / "b.npy")[3]), expected)
        self.assertIn("to the device", text)

    def test_small_cases_are_timed_by_the_call(self):
        (self.folder / "cases.csv").write_text("id,dims,perm\nsmall,16 24,1 0\nlarge,8000 16000,1 0\n")
        result = self.bench("permute", "cases.csv", "--device", "gpu", "--dtype", "f32", "--repeat", "3")
        small, large = result["cases"]
        self.assertEqual(small["calls"], 200)
        self.assertGreater(small["launch_ms"], 0)
        self.assertLess(small["ms"], 0.1)
        self.assertEqual(result["over_launch"]["min"], result["over_launch"]["max"])
        self.assertNotIn("calls", large)
        self.assertNotIn("models", result)

    def test_models_are_compared_where_candidates_are_timed(self):
        (self.folder / "cases.csv").write_text("id,dims,perm\none,300 400 50,2 1 0\ntwo,4000 2000,1 0\n")
        result = self.bench("permute", "cases.csv", "--device", "gpu", "--top", "6", "--repeat", "3")
        for model in ["ricci", "mwp_cwp"]:
            over = []
            for case in result["cases"]:
                taken = case["models"][model]
                self.assertIn({"plan": taken["plan"], "ms": taken["ms"]}, case["timed"])
                over.append(taken["ms"] / case["best"]["ms"])
            self.assertGreaterEqual(min(over), 1)
            self.assertAlmostEqual(result["models"][model]["over_best_timed"]["max"], max(over))
        self.assertEqual([case["models"]["ricci"]["ms"] for case in result["cases"]], [case["ms"] for case in result["cases"]])


if __name__ == "__main__":
    cli_tool.main()
