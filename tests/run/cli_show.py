"""`ricci show`, `explain`, `doctor`, `version` and the help texts."""
import json
import re
import shlex
import tempfile

import cli_tool
from cli_tool import Case

SHAPE = ["abc->cab", "a=48", "b=32", "c=40"]


class Show(Case):
    def test_source_is_bare(self):
        source = self.ricci("show", *SHAPE).stdout
        self.assertEqual(self.ricci("show", *SHAPE, "--source").stdout, source)
        self.assertNotIn("====", source)
        self.assertIn('extern "C"', source)
        kernel = self.json("show", *SHAPE)["plan"]["kernel"]
        self.assertIn(kernel, source)

    def test_source_names_its_own_command(self):
        """The head of a kernel says how to make it again; that command does."""
        source = self.ricci("show", *SHAPE, "--dtype", "f32").stdout
        again = re.search(r"ricci (show .*)", source)
        self.assertIsNotNone(again, source)
        self.assertEqual(self.ricci(*shlex.split(again.group(1))).stdout, source)

    def test_sections(self):
        words = ["--ir", "--passes", "--plan", "--kernel", "--source", "--asm", "--key"]
        text = self.ricci("show", *SHAPE, *words).stdout
        self.assertEqual(re.findall(r"^==== (\w+)$", text, re.M), ["ir", "passes", "plan", "kernel", "source", "asm", "key"])
        shown = self.json("show", *SHAPE, *words)
        for word in ["ir", "passes", "kernel", "source", "asm", "key"]:
            self.assertGreater(len(shown[word]), 20, word)
            self.assertEqual(self.ricci("show", *SHAPE, "--" + word).stdout.rstrip("\n"), shown[word].rstrip("\n"))

    def test_kernel(self):
        """The loop tree of a contraction, with tile statements and with instructions, on both targets."""
        for target in [[], ["--target", "sm_90"]]:
            text = self.ricci("show", "ik,kj->ij", "i=512", "j=512", "k=512", "--kernel", *target).stdout
            schedule, built, expanded = re.split(r"^kernel$|^expanded kernel$", text, flags=re.M)
            self.assertRegex(schedule, r"(?m)^atom \w+ rows ")
            self.assertIn("mma", built)
            self.assertIn("flush", built)
            self.assertNotIn("flush", expanded)
            self.assertGreater(len(expanded.splitlines()), len(built.splitlines()))
        moved = self.ricci("show", *SHAPE, "--kernel", "--target", "sm_90").stdout
        self.assertRegex(moved, r"(?m)^ *advance B by ")
        self.assertNotIn("expanded kernel", moved)
        self.assertRegex(self.ricci("show", *SHAPE, "--kernel").stdout, r"(?m)^ *(run )?B\[[^]]*\] = ")

    def test_options_reach_the_kernel(self):
        plain = self.json("show", *SHAPE, "--key")["key"]
        keys = {plain}
        for options in [["--dtype", "f32"], ["--dtype", "f32", "--out-dtype", "f64"], ["--strides-in", "F"],
                        ["--strides-in", "1,48,1536", "--alpha", "any"], ["--strides-out", "3100,64,2"], ["--alpha", "any"],
                        ["--beta", "1"], ["--beta", "any"], ["--dtype", "c128"], ["--dtype", "c128", "--conj"]]:
            key = self.json("show", *SHAPE, "--key", *options)["key"]
            self.assertNotIn(key, keys, options)
            keys.add(key)
        self.assertEqual(self.json("show", *SHAPE, "--key", "--strides-in", "1280,40,1")["key"], plain)
        self.assertEqual(self.json("show", *SHAPE, "--key", "--conj")["key"], plain)  # of real elements: nothing

    def test_rank_0(self):
        self.assertIn("B[", self.ricci("show", "->", "--ir").stdout)

    def test_explain(self):
        text = self.ricci("explain", *SHAPE).stdout
        explained = self.json("explain", *SHAPE)
        self.assertEqual(explained["explain"].rstrip("\n"), text.rstrip("\n"))
        self.assertIn("\n* ", text)  # the one that is taken
        for candidate in explained["candidates"]:
            self.assertIn(f" {candidate['name']} ", text)
            self.assertFalse(candidate["written"])
        predicted = [candidate["predicted_us"] for candidate in explained["candidates"]]
        self.assertEqual(predicted, sorted(predicted))

    def parts(self, *problem):
        """The columns of a contraction's table: of each candidate the name, what is predicted, and its parts by name."""
        text = self.ricci("explain", *problem, "--untuned").stdout
        head, *rows = text.partition("\n\n")[2].partition("\n\n")[0].split("\n")
        names = re.fullmatch(r" +schedule +predicted (.+)   \(us, each on its own\)", head)[1].split()
        table = []
        for row in rows:
            name, us, parts = re.fullmatch(r"[* ]  (.+?) +([\d.]+) us (.+)", row).groups()
            table.append((name, float(us), {what: float(part) for what, part in zip(names, parts.split(), strict=True) if part != "-"}))
        return text, table

    def test_explain_says_what_a_prediction_is_made_of(self):
        for problem in (["ab,bc->ac", "a=300", "b=200", "c=250"], ["ba,b->a", "a=4000", "b=4000"]):
            text, table = self.parts(*problem)
            tiles = [row for row in table if row[0].startswith("gett") and "copied" not in row[0]]
            self.assertGreater(len(tiles), 4)
            for name, us, parts in tiles:
                cycles = sum(parts[what] for what in ("products", "stores", "caches", "packing", "reading", "idle"))
                made = (cycles ** 3 + parts["memory"] ** 3) ** (1 / 3) + parts["launch"]
                self.assertAlmostEqual(made, us, delta=0.5, msg=name)
                self.assertEqual(parts["packing"] > 0, "packed" in name, name)
            for name, us, parts in (row for row in table if row[0].startswith("plain")):
                cycles = sum(parts[what] for what in ("products", "reading", "rounds", "waits", "caches"))
                self.assertAlmostEqual(max(cycles, parts["memory"]) + parts.get("rereads", 0), us, delta=0.4, msg=name)
            name, _, parts = table[0]
            longest = max(parts, key=parts.get)
            self.assertIn(f"\n* {name}: bound by {longest} ({parts[longest]:.1f} us), a register tile's round takes ", text)

    def test_output_that_cannot_be_written(self):
        with open("/dev/full", "w") as full:
            done = self.ricci("show", *SHAPE, code=2, stdout=full)
        self.assertIn("ricci: standard output cannot be written", done.stderr)


class Gpu(Case):
    """Kernels for a GPU are made and shown on machines without one, if NVRTC is there."""

    def setUp(self):
        super().setUp()
        found = {line["subject"]: line["state"] for line in self.json("doctor")["found"]}
        if found.get("nvrtc") != "ok":
            self.skipTest("no NVRTC")

    def test_show(self):
        hidden = {"CUDA_VISIBLE_DEVICES": ""}
        source = self.ricci("show", *SHAPE, "--target", "sm_90", env=hidden).stdout
        self.assertIn("__global__", source)
        shown = self.json("show", *SHAPE, "--target", "sm_90", "--plan", env=hidden)["plan"]
        self.assertEqual(shown["device"], "gpu")
        self.assertGreater(shown["registers"], 0)
        self.assertEqual(self.ricci("show", *SHAPE, "--device", "gpu", "--target", "90", env=hidden).stdout, source)
        self.assertIn("registers", self.ricci("show", *SHAPE, "--target", "sm_90", "--plan", env=hidden).stdout)

    def sequences(self, *problem):
        """Of each sequence of steps that `explain` lists: whether it was taken, its time, its steps' times and texts."""
        text = self.ricci("explain", *problem, env={"CUDA_VISIBLE_DEVICES": ""}).stdout
        _, found, table = text.partition("\nsequences of steps, ")
        if not found:
            self.assertIn("\nno other steps: ", text)
            return []
        listed = []
        for row in table.split("\n\n")[1:]:
            head, *steps = row.rstrip("\n").split("\n")
            if not (parts := re.fullmatch(r"([* ])  +([\d.]+) us  (\d+) steps?(, as lowered)?", head)):
                continue
            times = [re.fullmatch(r" +([\d.]+)     (.* -> \w+: .+: .+)", step).groups() for step in steps]
            self.assertEqual(int(parts[3]), len(times))
            self.assertAlmostEqual(float(parts[2]), sum(float(time) for time, _ in times), delta=0.06 * len(times))
            listed.append((parts[1] == "*", float(parts[2]), parts[4] is not None, [step for _, step in times]))
        self.assertEqual([taken for taken, *_ in listed].count(True), 1)
        self.assertEqual([lowered for _, _, lowered, _ in listed].count(True), 1)
        self.assertEqual([us for _, us, *_ in listed], sorted(us for _, us, *_ in listed))
        return listed

    def test_explain_lists_sequences_that_lost(self):
        copied = ["fe,cdabef->dcba", "a=31", "b=31", "c=8", "d=8", "e=23", "f=47", "--target", "sm_90"]
        listed = self.sequences(*copied)
        taken, lowered = listed[0], listed[-1]
        self.assertTrue(taken[0])
        self.assertRegex(taken[3][0], r"^A -> copy: tiled.*: touches \d+ B in sectors")
        self.assertRegex(taken[3][1], r"^B, copy -> C: plain .* cooperative \d+: memory [\d.]+, L2 [\d.]+, issue [\d.]+, ")
        self.assertTrue(lowered[2])
        self.assertEqual(len(lowered[3]), 1)
        explained = self.json("explain", *copied, env={"CUDA_VISIBLE_DEVICES": ""})["candidates"]
        chosen = [candidate["predicted_us"] for candidate in explained if candidate["chosen"]]
        self.assertAlmostEqual(taken[1], sum(chosen), delta=0.06)
        # What lost is listed where what was lowered is taken, too.
        parts = self.sequences("ab,bc->ac", "a=64", "b=1000000", "c=64", "--target", "sm_90")
        self.assertGreater(len(parts), 4)
        self.assertIn(" -> partial: ", parts[1][3][0])
        self.assertEqual(self.sequences("ab,bc->ac", "a=256", "b=256", "c=256", "--target", "sm_90"), [])

    def test_limits_of_a_device_that_is_not_there(self):
        """The copy rate in a result is the model's: a copy that memory bounds takes longer by the ratio."""
        copy = ["ab->ab", "a=8192", "b=8192", "--strides-in", "16384,1", "--target", "sm_90"]

        def microseconds(limit, **more):
            with tempfile.NamedTemporaryFile("w", suffix=".json") as run:
                json.dump({"limit": dict(limit, gemm_TFs=60), **more}, run)
                run.flush()
                return self.json("explain", *copy, "--limits", run.name)["candidates"][0]["predicted_us"]

        usual = self.json("explain", *copy)["candidates"][0]["predicted_us"]
        self.assertAlmostEqual(microseconds({"copy_GBs": 4200}), usual, delta=1e-6 * usual)
        self.assertAlmostEqual(microseconds({"copy_GBs": 2100}) / usual, 2, delta=0.1)
        self.assertGreater(microseconds({"copy_GBs": 4200, "multiprocessors": 8, "clock_MHz": 500}), 1.5 * usual)
        with tempfile.NamedTemporaryFile("w", suffix=".json") as other:
            other.write("{}")
            other.flush()
            refused = self.ricci("explain", *copy, "--limits", other.name, code=2).stderr
            self.assertIn("is no result of `ricci-bench contract`", refused)
            self.assertIn("--limits is for --target", self.ricci("explain", *SHAPE, "--limits", other.name, code=2).stderr)

    def test_explain_lists_orders_that_lost(self):
        chain = ["ab,bc,cd->ad", "a=64", "b=1000", "c=64", "d=1000"]
        for device in [], ["--target", "sm_90"]:
            text = self.ricci("explain", *chain, *device, env={"CUDA_VISIBLE_DEVICES": ""}).stdout
            found = re.findall(r"^([* ])  +([\d.]+) us  ", text.partition("\norders of the products, ")[2], re.M)
            self.assertEqual([mark for mark, _ in found], ["*", " ", " "])
            self.assertEqual(sorted(found, key=lambda order: float(order[1])), found)
            self.assertRegex(text, r"W1 = B C: bc,cd->bd, 1.28e\+08 flop, 9.02e\+06 bytes, bound by operations\n")
            self.assertRegex(text, r"D = A C B: ab,cd,bc->ad, .*, one nest of loops\n")
        self.assertNotIn("orders of the products", self.ricci("explain", *chain, "--path", "memory").stdout)
        fewest = self.ricci("explain", *chain, "--path", "flops").stdout.partition("\norders of the products, ")[2]
        self.assertIn("\n*    1.64e+07 flop, 2.11e+06 bytes moved\n", fewest)

    def test_what_the_compiler_spills_is_not_chosen(self):
        copy = ["abcd->bdac", "a=8", "b=8", "c=640", "d=1000", "--dtype", "f32", "--target", "sm_90"]
        self.assertEqual(self.json("show", *copy, "--plan", env={"CUDA_VISIBLE_DEVICES": ""})["plan"]["spill_bytes"], 0)

    def test_precision_of_products(self):
        hidden = {"CUDA_VISIBLE_DEVICES": ""}
        product = ["ab,bc->ac", "a=256", "b=256", "c=256", "--dtype", "f32", "--target", "sm_90"]
        def shown(*more):
            return self.ricci("show", *product, *more, env=hidden).stdout
        plain, tf32, parts = shown(), shown("--precision", "tf32"), shown("--precision", "tf32x3")
        self.assertNotIn("mma_", plain)
        self.assertEqual(plain, shown("--precision", "f32"))
        self.assertIn("mma_m16n8k8_tf32(", tf32)
        self.assertNotIn("a_rest", tf32)
        self.assertIn("products tf32x3", parts)
        self.assertIn("a_rest", parts)
        self.assertEqual(len({self.ricci("show", *product, *more, "--key", env=hidden).stdout
                              for more in ([], ["--precision", "tf32"], ["--precision", "tf32x3"])}), 3)
        self.assertIn("a matrix product: rows ", self.ricci("explain", *product, env=hidden).stdout)
        self.assertIn("products in tf32x3,", self.ricci("explain", *product, "--precision", "tf32x3", env=hidden).stdout)
        # What has no tensor core for it is the same kernel.
        wide = ["ab,bc->ac", "a=64", "b=64", "c=64", "--target", "sm_90"]
        self.assertEqual(self.ricci("show", *wide, env=hidden).stdout,
                         self.ricci("show", *wide, "--precision", "tf32", env=hidden).stdout)
        self.ricci("show", *product, "--precision", "tf16", code=2, env=hidden)

    def test_precision_of_sums(self):
        hidden = {"CUDA_VISIBLE_DEVICES": ""}
        product = ["ab,bc->ac", "a=2048", "b=32", "c=2048", "--dtype", "f32"]
        on_gpu = [*product, "--target", "sm_90"]
        for word in ("bf16", "f16"):
            text = self.ricci("show", *on_gpu, "--precision", word, env=hidden).stdout
            self.assertIn(f"mma_m16n8k16_{word}(", text)
            self.assertIn(f"mul(f32({word}(A[32*a + b])), f32({word}(B[c + 2048*b])))", text)
            self.assertIn(f"--dtype f32 --precision {word} --target sm_90 --schedule", text)
        self.assertIn("products in bf16,", self.ricci("explain", *on_gpu, "--precision", "bf16", env=hidden).stdout)
        wide = self.ricci("show", *product, "--precision", "f64").stdout
        self.assertIn("C[2048*a + c] = f32(sum(b : mul(f64(", wide)
        self.assertIn("--dtype f32 --precision f64 --device cpu --schedule", wide)
        keys = {self.ricci("show", *on_gpu, "--precision", word, "--key", env=hidden).stdout
                for word in ("operands", "f64", "bf16", "f16")}
        self.assertEqual(len(keys), 4)
        refused = self.ricci("show", *product, "--precision", "i32", code=2)
        self.assertIn("precision i32 is for sums of i8, i16, i32, u8 and u16, and this sums f32", refused.stderr)


class Others(Case):
    def test_version(self):
        text = self.ricci("version").stdout
        self.assertRegex(text, r"^ricci \d+\.\d+\.\d+\n$")
        self.assertEqual(text, f"ricci {self.json('version')['version']}\n")
        self.assertEqual(self.ricci("--version").stdout, text)

    def test_doctor(self):
        found = self.json("doctor")
        subjects = [line["subject"] for line in found["found"]]
        for subject in ["clang", "nvrtc", "driver", "cpu", "cache"]:
            self.assertIn(subject, subjects)
        text = self.ricci("doctor").stdout
        for line in found["found"]:
            words = re.sub(r"[0-9.]+ ms", "*", line["text"].splitlines()[0])  # compilers are tried, and timed
            self.assertIn(words, re.sub(r"[0-9.]+ ms", "*", text))
            self.assertIn(line["state"], ["ok", "missing", "broken"])
        self.ricci("doctor", "--require", "cpu")
        done = self.ricci("doctor", "--require", "cpu,gpu", code=1, env={"CUDA_VISIBLE_DEVICES": ""})
        self.assertIn("ricci: gpu is required", done.stderr)

    def test_help(self):
        for words in [[], ["permute"], ["einsum"], ["run"], ["show"], ["explain"], ["cache"], ["doctor"], ["version"], ["cache", "ls"],
                      ["cache", "stats"], ["cache", "verify"], ["cache", "prune"], ["cache", "export"],
                      ["cache", "import"], ["cache", "show"]]:
            text = self.ricci(*words, "--help").stdout
            self.assertRegex(text, "Examples?:\n  ricci", words)


if __name__ == "__main__":
    cli_tool.main()
