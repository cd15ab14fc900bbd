"""`ricci cache`: what is listed, shown, checked, removed and carried is what `ricci show` made."""
import json

import cli_tool
from cli_tool import Case

PROBLEMS = [["abc->cab", "a=8", "b=9", "c=10"], ["ab->ba", "a=33", "b=65"], ["ab->ba", "a=33", "b=65", "--dtype", "f32"]]


class Cache(Case):
    def setUp(self):
        super().setUp()
        self.env = {"RICCI_CACHE_DIR": str(self.folder / "cache")}
        self.shown = [self.json("show", *problem, "--source", "--key", env=self.env) for problem in PROBLEMS]

    def ricci(self, *words, **more):
        return super().ricci(*words, **{"env": self.env, **more})

    def entries(self, kind="kernel", **more):
        return [e for e in self.json("cache", "ls", **more)["entries"] if e["kind"] == kind]

    def test_ls(self):
        entries = self.entries()
        self.assertEqual(sorted(e["kernel"] for e in entries), sorted(s["plan"]["kernel"] for s in self.shown))
        self.assertEqual({e["path"] for e in entries}, {s["plan"]["cache_path"] for s in self.shown})
        text = self.ricci("cache", "ls").stdout
        self.assertEqual(len(text.splitlines()), 3 + 1)
        self.assertIn("what the model chose for 3 of them", text)
        self.assertEqual(sorted(e["kernel"] for e in self.entries("choice")), sorted(e["kernel"] for e in entries))
        for entry in entries:
            self.assertIn(f"{entry['name'][:12]}  ", text)
            self.assertIn(entry["kernel"], text)
            self.assertRegex(entry["used"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
        self.assertEqual(entries[0], self.json("cache", "ls", entries[0]["name"])["entries"][0])
        choice = self.entries("choice")[0]
        self.assertIn(f": chosen, {choice['metadata']['schedule']}", self.ricci("cache", "ls", choice["name"]).stdout)
        self.assertEqual(self.ricci("cache", "ls", entries[0]["name"].upper()).stdout.count("\n"), 1)

    def test_show(self):
        for shown in self.shown:
            name, = [e["name"] for e in self.entries() if e["path"] == shown["plan"]["cache_path"]]
            self.assertEqual(self.ricci("cache", "show", name).stdout, shown["source"])
            self.assertEqual(self.ricci("cache", "show", name[:10], "--source").stdout, shown["source"])
            self.assertEqual(self.ricci("cache", "show", name, "--key").stdout.rstrip("\n"), shown["key"].rstrip("\n"))
            metadata = json.loads(self.ricci("cache", "show", name, "--metadata").stdout)
            self.assertEqual(metadata["kernel"], shown["plan"]["kernel"])
            self.assertEqual(self.ricci("cache", "show", name, "--binary", "kernel.o").stdout, "")
            self.assertTrue((self.folder / "kernel.o").read_bytes().startswith(b"\x7fELF"))
            whole = self.json("cache", "show", name)
            self.assertEqual((whole["source"], whole["key"]), (shown["source"], shown["key"]))
            self.assertEqual(whole["binary_bytes"], len((self.folder / "kernel.o").read_bytes()))

    def test_stats(self):
        stats = self.json("cache", "stats")
        root, = stats["roots"]
        self.assertEqual((root["root"], root["entries"]), (str(self.folder / "cache"), 6))
        self.assertEqual(root["bytes"], sum(e["file_bytes"] for e in self.entries() + self.entries("choice")))
        self.assertIn("6 entries", self.ricci("cache", "stats").stdout)
        off = {"RICCI_CACHE": "off"}
        self.assertIn("memory only", self.ricci("cache", "stats", env=off).stdout)
        self.assertEqual(self.json("cache", "stats", env=off)["roots"], [])

    def test_verify(self):
        self.assertEqual(self.json("cache", "verify")["sound"], 6)
        path = self.folder / "cache" / self.shown[0]["plan"]["cache_path"]
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 1
        path.write_bytes(data)
        done = self.ricci("cache", "verify", code=1)
        self.assertIn(f"damaged     {path}: ", done.stdout)
        self.assertIn("5 sound, 0 of other versions, 1 damaged (0 removed)", done.stdout)
        # a damaged entry costs a compilation, and nothing else
        again = self.json("show", *PROBLEMS[0], "--source")
        self.assertEqual(again["plan"]["origin"], "compiled")
        self.assertEqual(again["source"], self.shown[0]["source"])
        self.assertEqual(self.json("cache", "verify")["sound"], 6)
        path.write_bytes(data)
        self.assertEqual(self.json("cache", "verify", "--remove")["removed"], 1)
        self.assertFalse(path.exists())

    def test_prune(self):
        self.assertEqual(self.json("cache", "prune")["removed_entries"], 0)
        self.assertEqual(self.json("cache", "prune", "--older-than", "1h")["removed_entries"], 0)
        total = self.json("cache", "stats")["roots"][0]["bytes"]
        pruned = self.json("cache", "prune", "--max", str(total - 1))
        self.assertEqual((pruned["removed_entries"], pruned["entries"]), (1, 5))
        self.assertEqual(self.json("cache", "prune", "--all")["entries"], 0)
        self.assertEqual(self.entries(), [])

    def test_export_and_import(self):
        packed = self.json("cache", "export", "all.ricci")
        self.assertEqual(packed["entries"], 6)
        self.assertEqual(packed["bytes"], (self.folder / "all.ricci").stat().st_size)
        one = self.entries()[0]
        self.assertEqual(self.json("cache", "export", "one.ricci", one["name"][:12])["entries"], 1)
        other = {"RICCI_CACHE_DIR": str(self.folder / "other")}
        self.assertEqual(self.json("cache", "import", "one.ricci", env=other)["entries"], 1)
        self.assertEqual([e["kernel"] for e in self.entries(env=other)], [one["kernel"]])
        added = self.json("cache", "import", "all.ricci", env=other)
        self.assertEqual((added["entries"], added["already_present"]), (5, 1))
        for problem in PROBLEMS:
            self.assertEqual(self.json("show", *problem, env=other)["plan"]["origin"], "disk")

    def test_refused(self):
        for words, text in [(["show", "0123456789"], "ricci: "), (["show", "xyz"], "'xyz' is no name of a kernel"),
                            (["ls", "../.."], "'../..' is no name of a kernel"), (["import", "absent"], "absent"),
                            (["export", "no/such/file"], "no/such"), (["export", "x", "0123456789"], "0123456789"),
                            (["prune", "--max", "much"], "--max: 'much' is no number of bytes"),
                            (["prune", "--older-than", "1y"], "--older-than: '1y' is no age"),
                            ([], "subcommand is required; see ricci cache --help"), (["frob"], "see ricci cache --help")]:
            with self.subTest(words=words):
                before = self.files()
                self.assertIn(text, self.ricci("cache", *words, code=2).stderr)
                self.assertEqual(self.files(), before)
        (self.folder / "bundle").write_bytes(b"no bundle")
        self.assertIn("bundle", self.ricci("cache", "import", "bundle", code=2).stderr)
        self.assertEqual(len(self.entries()), 3)


if __name__ == "__main__":
    cli_tool.main()
