"""--measure and the tuning store: what is measured once is used by every later process."""
import json
import os
import pathlib
import pty
import re
import select
import signal
import subprocess
import tempfile

import cli_tool
from cli_tool import Case

PROBLEM = ["abc->acb", "a=4", "b=5", "c=6", "--dtype", "f32"]  # few candidates: each measurement times them all


def tuned(folder):
    """Files of the tuning store in a cache directory."""
    return [path for path in pathlib.Path(folder).rglob("*.k") if b"ricci tuning 1\n" in path.read_bytes()]


class TuningCase(Case):
    """In a cache of its own; what the device's memory does is measured once for all, as that takes seconds."""
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        site = tempfile.TemporaryDirectory(prefix="ricci-site-")
        cls.addClassCleanup(site.cleanup)
        cls.site = site.name
        subprocess.run([cli_tool.COMMAND, "doctor", "--measure"], check=True, stdout=subprocess.DEVNULL,
                       env={**os.environ, "RICCI_CACHE_DIR": site.name, "RICCI_THREADS": "2"})

    def setUp(self):
        super().setUp()
        self.cache = self.folder / "cache"
        self.env = {"RICCI_CACHE_DIR": str(self.cache), "RICCI_CACHE_RO": self.site, "RICCI_THREADS": "2"}

    def ricci(self, *words, **more):
        return super().ricci(*words, **{**more, "env": {**self.env, **more.get("env", {})}})

    def explained(self, *words, **more):
        """(why, schedule, names of the candidates by prediction, text) of `explain`."""
        result = self.json("explain", *PROBLEM, *words, **more)
        names = [candidate["name"] for candidate in result["candidates"]]
        taken, = [line[1:].split(":")[0].strip() for line in result["explain"].splitlines()
                  if line.startswith("* ") and ": touches " in line]
        return result["plan"]["choice"], taken, names, result["explain"]


class Measure(TuningCase):
    def test_the_winner_is_used_by_later_processes(self):
        choice, estimated, names, _ = self.explained()
        self.assertEqual((choice, estimated), ("estimated", names[0]))
        self.assertEqual(tuned(self.cache), [])
        choice, measured, _, text = self.explained("--measure")
        self.assertEqual(choice, "measured")
        self.assertIn(" measured ", text)
        self.assertIn(", the fastest of those measured just now\n", text)
        self.assertEqual(len(tuned(self.cache)), 1)
        for more in [], ["--measure"]:
            choice, taken, _, text = self.explained(*more)
            self.assertEqual((choice, taken), ("tuned", measured))
            self.assertIn(", the fastest when this problem was measured on this device\n", text)
        self.assertEqual(self.explained("--remeasure")[0], "measured")
        choice, taken, _, _ = self.explained("--untuned")
        self.assertEqual((choice, taken), ("estimated", names[0]))
        self.assertEqual(self.explained("--schedule", names[-1])[:2], ("named", names[-1]))
        self.assertEqual(len(tuned(self.cache)), 1)
        # Another type, another number of threads: other problems.
        self.assertEqual(self.json("explain", *PROBLEM[:-1], "f64")["plan"]["choice"], "estimated")
        self.assertEqual(self.explained(env={"RICCI_THREADS": "1"})[0], "estimated")

    def test_results_are_right(self):
        shape = (4, 6, 5)
        elements = cli_tool.bytes_pattern(cli_tool.product(shape), 4)
        cli_tool.save(self.folder / "a.npy", shape, "<f4", elements)
        for choice in "measured", "tuned":
            plan = self.json("permute", "a.npy", "b.npy", "abc->cba", "--measure", "--verify")["plan"]
            self.assertEqual(plan["choice"], choice)
            self.assertEqual(plan["measure_ms"] > 0, choice == "measured")
        shape, expected = cli_tool.permuted(shape, elements, "abc->cba")
        self.assertEqual(cli_tool.load(self.folder / "b.npy"), ("<f4", False, shape, expected))
        self.assertRegex(self.ricci("permute", "a.npy", "b.npy", "abc->cba", "--remeasure").stdout,
                         r"(?m)^choice +measured in ")
        cli_tool.save(self.folder / "m.npy", (20, 30), "<f8", cli_tool.pack("d", [k / 7 for k in range(600)]))
        words = ["ab,cb->ac", "m.npy", "m.npy", "-o", "c.npy", "--verify"]
        self.assertEqual(self.json("einsum", *words, "--measure")["plan"]["choice"], "measured")
        self.assertEqual(self.json("einsum", *words)["plan"]["choice"], "tuned")
        (self.folder / "p.ricci").write_text("index i j\ninput m(i, j) : f64\noutput s(i) : f64\n"
                                             "s(i) = sum(j, m(i, j) * m(i, j))\n")
        words = ["p.ricci", "m=m.npy", "-o", "s=s.npy", "--verify"]
        self.assertEqual(self.json("run", *words, "--measure")["plan"]["choice"], "measured")
        self.assertEqual(self.json("run", *words)["plan"]["choice"], "tuned")

    def test_a_damaged_entry_is_ignored_and_made_again(self):
        self.explained("--measure")
        path, = tuned(self.cache)
        good = path.read_bytes()
        for damaged in good[:-3], b"", good[:200] + bytes([good[200] ^ 1]) + good[201:]:
            path.write_bytes(damaged)
            self.assertEqual(self.explained()[0], "estimated")
            self.assertEqual(self.explained("--measure")[0], "measured")
            self.assertEqual(self.explained()[0], "tuned")

    def test_nothing_is_written_where_nothing_may_be(self):
        read_only = {"RICCI_CACHE": "ro"}
        self.assertEqual(self.explained("--measure", env=read_only)[0], "measured")
        self.assertFalse(self.cache.exists())
        self.explained("--measure")
        self.assertEqual(self.explained(env=read_only)[0], "tuned")
        before = {path: path.read_bytes() for path in self.cache.rglob("*.k")}
        self.assertEqual(self.explained("--remeasure", env=read_only)[0], "measured")
        self.assertEqual({path: path.read_bytes() for path in self.cache.rglob("*.k")}, before)
        self.assertEqual(self.explained("--measure", env={"RICCI_CACHE": "off"})[0], "measured")
        # A site's directory beside an empty one of one's own.
        elsewhere = {"RICCI_CACHE_DIR": str(self.folder / "own"), "RICCI_CACHE_RO": str(self.cache)}
        self.assertEqual(self.explained(env=elsewhere)[0], "tuned")
        if os.geteuid() != 0:
            self.cache.chmod(0o500)
            self.addCleanup(self.cache.chmod, 0o700)
            self.assertEqual(self.explained("--measure")[0], "tuned")

    def test_of_several_processes_one_measures(self):
        environment = {**os.environ, **self.env}
        words = [cli_tool.COMMAND, "show", *PROBLEM, "--plan", "--measure"]
        started = [subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                   for _ in range(4)]
        choices = []
        for process in started:
            out, err = process.communicate()
            self.assertEqual((process.returncode, err), (0, ""))
            choices += [line.split()[1] for line in out.splitlines() if line.startswith("choice")]
        self.assertEqual(sorted(choices), ["measured", "tuned", "tuned", "tuned"])
        self.assertEqual(len(tuned(self.cache)), 1)

    def test_refusals(self):
        done = self.ricci("explain", *PROBLEM, "--target", "sm_90", "--measure", code=2)
        self.assertIn("sm_90 is planned for without a device, so nothing can be measured", done.stderr)
        self.assertIn("excludes", self.ricci("explain", *PROBLEM, "--measure", "--schedule", "x", code=2).stderr)
        self.ricci("explain", *PROBLEM, "--measure", "--untuned", code=2)
        self.assertFalse(self.cache.exists())


PERMUTATIONS = "id,dims,perm\nfirst,12 20 16,2 1 0\nsecond,40 24,1 0\nthird,8 6 4 10,3 1 2 0\n"
PRODUCTS = 'id,spec,extents\nmatrices,"ab,bc->ac",a=20 b=30 c=24\n'
FEW = ["--candidates", "2"]  # of each case, where the course of things is tested and not what is found


class Tune(TuningCase):
    def tune(self, *words, **more):
        return self.json("tune", "cases.csv", *words, **more)

    def write(self, text):
        (self.folder / "cases.csv").write_text(text)

    def test_a_list_is_tuned_once(self):
        self.write(PERMUTATIONS)
        result = self.tune()
        self.assertEqual([case["id"] for case in result["cases"]], ["first", "second", "third"])
        self.assertEqual([case["state"] for case in result["cases"]], ["measured"] * 3)
        for case in result["cases"]:
            self.assertGreater(case["ms"], 0)
            self.assertGreater(case["over_model"], 0.9)  # the winner, but for the tie rule
        self.assertEqual((result["measured"], result["there"], result["failed"], result["left"]), (3, 0, 0, 0))
        self.assertEqual(len(tuned(self.cache)), 3)
        before = {path: path.read_bytes() for path in tuned(self.cache)}
        again = self.tune()
        self.assertEqual((again["measured"], again["there"]), (0, 3))
        self.assertEqual([case["plan"] for case in again["cases"]], [case["plan"] for case in result["cases"]])
        self.assertEqual({path: path.read_bytes() for path in tuned(self.cache)}, before)
        self.assertEqual(self.tune("--only", "second", "--remeasure")["measured"], 1)
        self.assertEqual(self.tune("--dtype", "f32", "--only", "second")["measured"], 1)
        self.assertEqual(self.tune("--threads", "1", "--only", "third", "--candidates", "1")["measured"], 1)
        plan = self.json("explain", "ab->ba", "a=24", "b=40")["plan"]
        self.assertEqual((plan["choice"], plan["schedule"]), ("tuned", self.tune()["cases"][1]["plan"]))
        text = self.ricci("tune", "cases.csv").stdout
        self.assertIn("0 measured, 3 there already, 0 failed, 0 left; ", text)
        self.assertRegex(text, r"(?m)^third +there +\S+ ms +\d\.\d\dx  ")

    def test_einsums(self):
        self.write('id,spec,extents\nmatrices,"ab,bc->ac",a=20 b=30 c=24\nchain,"ab,bc,cd->ad",a=8 b=9 c=10 d=11\n')
        self.assertEqual(self.tune(*FEW)["measured"], 2)
        self.assertEqual(self.tune(*FEW)["there"], 2)
        self.assertEqual(self.json("explain", "ij,jk->ik", "i=20", "j=30", "k=24")["plan"]["choice"], "tuned")

    def test_the_cache_commands_know_what_was_tuned(self):
        self.write(PERMUTATIONS)
        self.tune(*FEW)
        entries = [e for e in self.json("cache", "ls")["entries"] if e["kind"] == "tuning"]
        self.assertEqual(len(entries), 3)
        self.assertEqual(self.ricci("cache", "ls").stdout.count(": tuned, "), 3)
        text = self.ricci("cache", "show", entries[0]["name"]).stdout
        self.assertTrue(text.startswith("microseconds\tsamples\tschedule, the winner first\n"), text)
        self.assertEqual(text.splitlines()[1].split("\t")[2], entries[0]["metadata"]["schedule"])
        self.ricci("cache", "export", "all.ricci")
        other = {"RICCI_CACHE_DIR": str(self.folder / "other")}
        self.ricci("cache", "import", "all.ricci", env=other)
        self.assertEqual(self.tune(env=other)["there"], 3)
        self.assertEqual(self.json("cache", "verify")["damaged"], [])
        self.ricci("cache", "prune", "--all")
        self.assertEqual(tuned(self.cache), [])
        self.assertEqual(self.json("explain", "ab->ba", "a=24", "b=40")["plan"]["choice"], "estimated")

    def started(self, **more):
        environment = {**os.environ, **self.env}
        return subprocess.Popen([cli_tool.COMMAND, "tune", "cases.csv", *FEW], cwd=self.folder, env=environment,
                                text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)

    def test_it_goes_on_where_it_was_interrupted(self):
        count = 10
        self.write("id,dims,perm\n" + "".join(f"c{k},{20 + k} 16 24,2 0 1\n" for k in range(count)))
        process = self.started()
        process.stdout.readline()  # the heading
        self.assertTrue(process.stdout.readline().startswith("c0 "))
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
        self.assertEqual((process.returncode, err), (-signal.SIGINT, ""))
        self.assertIn("stopped; the same command goes on with those that are left\n", out)
        some = len(tuned(self.cache))
        self.assertIn(some, range(1, count))
        process = self.started()
        process.stdout.readline()
        for _ in range(some + 2):
            process.stdout.readline()
        process.kill()
        process.communicate()
        more = len(tuned(self.cache))
        self.assertIn(more, range(some + 1, count + 1))
        self.assertEqual(self.json("cache", "verify")["damaged"], [])
        result = self.tune(*FEW)
        self.assertEqual((result["measured"], result["there"], result["left"]), (count - more, more, 0))

    def test_a_bar_and_the_time_left_stand_on_a_terminal(self):
        # More cases than any machine is done with before the first second, when a bar appears.
        self.write("id,dims,perm\n" + "".join(f"c{k},{40 + k} 36 44,2 1 0\n" for k in range(400)))
        bar = rb"\r\x1b\[Ktuning \[=* *\] +\d+ % \d+\.\d s, about \d+ (s|min|h) left"
        ours, theirs = pty.openpty()
        with subprocess.Popen([cli_tool.COMMAND, "tune", "cases.csv", *FEW], cwd=self.folder,
                              env={**os.environ, **self.env}, stdout=subprocess.DEVNULL, stderr=theirs) as process:
            said, stopped = b"", False
            while process.poll() is None or select.select([ours], [], [], 0)[0]:
                if select.select([ours], [], [], 0.1)[0]:
                    said += os.read(ours, 10000)
                if not stopped and re.search(bar, said):
                    process.send_signal(signal.SIGINT)  # once: the second one ends it at once
                    stopped = True
            self.assertEqual(process.returncode, -signal.SIGINT)
        os.close(ours)
        os.close(theirs)
        self.assertRegex(said, bar)
        self.assertTrue(said.endswith(b"\r\x1b[K"), said)

    def test_device_model(self):
        def memory():
            line, = [found["text"] for found in self.json("doctor")["found"] if found["subject"] == "cpu memory"]
            return line
        del self.env["RICCI_CACHE_RO"]
        self.assertIn("not measured", memory())
        self.explained()
        self.assertIn("not measured", memory())  # an estimate measures nothing
        self.explained("--measure")
        measured = memory()
        self.assertRegex(measured, r"^copies at [\d.]+ GB/s with 1 thread \([\d.]+ by nontemporal stores\), .* 2 threads "
                                   r".*; multiply-adds of f64 at [1-9]\d* GF/s with 1 thread, .* ns for a page")
        self.explained("--remeasure")
        self.assertEqual(memory(), measured)  # once for each kind of device
        entry, = [path for path in self.cache.rglob("*.k") if b"ricci device_model 2\n" in path.read_bytes()]
        good = entry.read_bytes()
        entry.write_bytes(good[:-1])
        self.assertIn("not measured", memory())
        self.ricci("doctor", "--measure")
        self.assertRegex(memory(), r"^copies at ")
        self.assertIn("RICCI_CACHE=ro", self.ricci("doctor", "--measure", env={"RICCI_CACHE": "ro"}, code=2).stderr)

    def test_what_is_timed_goes_before_what_a_file_says(self):
        self.write(PERMUTATIONS)
        (self.folder / "peers.csv").write_text("id,blocked loops_ms,numpy_ms\n" + "".join(
            f"{line.split(',')[0]},123456789,500\n" for line in PERMUTATIONS.splitlines()[1:]))
        result = self.bench("permute", "cases.csv", "--repeat", "1", "--peers", "peers.csv")
        for case in result["cases"]:
            self.assertLess(case["peers"]["blocked loops"], 1e6)
            self.assertEqual(case["peers"]["numpy"], 500)
        self.assertLess(result["over_blocked_loops"]["max"], 1e6)

    def test_contractions_of_bytes_are_timed_with_sums_of_32_bits(self):
        self.write(PRODUCTS)
        whole = self.bench("contract", "cases.csv", "--repeat", "1", "--dtype", "f32")
        result = self.bench("contract", "cases.csv", "--repeat", "1", "--dtype", "i8")
        self.assertEqual(result["dtype"], "i8")
        for case, same in zip(result["cases"], whole["cases"], strict=True):
            self.assertEqual(case["flop"], same["flop"])
            self.assertGreater(case["GFs"], 0)
            self.assertLess(case["bytes"], same["bytes"])

    def test_the_benches_take_measured_plans(self):
        self.write(PERMUTATIONS)
        result = self.bench("permute", "cases.csv", "--repeat", "1", "--output", "result.json")
        self.assertEqual([case["choice"] for case in result["cases"]], ["estimated"] * 3)
        self.assertNotIn("estimate_of_measured", result)
        self.assertEqual(tuned(self.cache), [])
        for choice in "measured", "tuned":
            result = self.bench("permute", "cases.csv", "--repeat", "1", "--measure", "--only", "second")
            self.assertEqual([case["choice"] for case in result["cases"]], [choice])
            self.assertGreater(result["estimate_of_measured"]["geomean"], 0)
            self.assertEqual({*result["cases"][0]["estimate"]}, {"plan", "ms"})
        self.write(PRODUCTS)
        result = self.bench("contract", "cases.csv", "--repeat", "1", "--measure")
        for case in result["cases"]:
            self.assertGreater(case["model_ms"], 0)
            self.assertEqual(case["peers"], {})
        self.assertGreater(result["estimate_of_measured"]["geomean"], 0)
        self.assertNotIn("estimate_of_measured", self.bench("contract", "cases.csv", "--repeat", "1"))
        self.write(PERMUTATIONS)
        result = self.bench("sweep", "cases.csv", "--repeat", "1", "--sizes", "256K,64K", "--dtype", "f32")
        self.assertEqual([size["size"] for size in result["rounds"]], [65536, 262144])
        for case in result["cases"]:
            self.assertAlmostEqual(case["bytes"] / 2 / case["size"], 1, delta=0.1)
        for size in result["rounds"]:
            self.assertTrue(0 < size["min_GBs"] <= size["median_GBs"] <= size["max_GBs"])
        result = self.bench("sweep", "cases.csv", "--repeat", "1", "--sizes", "64K", "--threads", "2,1")
        self.assertEqual([(r["size"], r["threads"]) for r in result["rounds"]], [(65536, 2), (65536, 1)])
        self.assertEqual([case["threads"] for case in result["cases"]], [2] * 3 + [1] * 3)
        self.assertIn("--sizes 64K --threads 2,1", result["command"])
        self.assertIn("'2X' is no number of bytes",
                      self.ricci("sweep", "cases.csv", "--sizes", "2X", code=2, program="ricci-bench").stderr)

    def test_refusals(self):
        self.write("id,dims\nx,1 2\n")
        self.assertIn('has neither a column "perm" nor a column "spec"', self.ricci("tune", "cases.csv", code=2).stderr)
        self.write(PERMUTATIONS)
        self.assertIn("no case that begins", self.ricci("tune", "cases.csv", "--only", "x", code=2).stderr)
        for mode, why in ("ro", "is not to be changed: RICCI_CACHE=ro is set"), ("off", "there is no cache directory"):
            self.assertIn(why, self.ricci("tune", "cases.csv", env={"RICCI_CACHE": mode}, code=2).stderr)
        self.write("id,dims,perm\nhuge,4000000 4000000,1 0\n" + PERMUTATIONS.split("\n", 1)[1])
        result = json.loads(self.ricci("tune", "cases.csv", *FEW, "--json", code=1).stdout)
        self.assertEqual([case["state"] for case in result["cases"]], ["failed"] + ["measured"] * 3)
        self.assertIn("memory", result["cases"][0]["error"])


if __name__ == "__main__":
    cli_tool.main()
