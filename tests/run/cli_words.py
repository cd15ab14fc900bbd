"""The words of the command line: one order for all subcommands, names that others use, help, completion, the manual page."""
import re
import shutil
import subprocess

import cli_tool
from cli_tool import Case, load, pack, permuted, save

BASH = """source <({program} completion bash)
COMP_WORDS=({words}) COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
{function}
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


class Words(Case):
    def setUp(self):
        super().setUp()
        self.elements = pack("d", range(24))
        save(self.folder / "in.npy", (2, 3, 4), "<f8", self.elements)

    def check_output(self, name="out.npy"):
        self.assertEqual(load(self.folder / name)[2:], permuted((2, 3, 4), self.elements, "abc->cab"))
        (self.folder / name).unlink()

    def test_the_spec_stands_first(self):
        for words in (["abc->cab", "in.npy", "out.npy"], ["abc->cab", "in.npy", "-o", "out.npy"],
                      ["-o", "out.npy", "abc->cab", "in.npy"]):
            with self.subTest(words=words):
                self.assertEqual(self.ricci("permute", *words).stderr, "")
                self.check_output()
        done = self.ricci("permute", "in.npy", "out.npy", "abc->cab")
        self.check_output()
        self.assertEqual(done.stderr, "hint: the spec stands first: `ricci permute 'abc->cab' in.npy -o out.npy`\n")
        for words, text in ((["abc->cab", "in.npy"], "no output is named; add -o FILE.npy"),
                            (["abc->cab", "in.npy", "a.npy", "-o", "b.npy"], "two outputs are named, a.npy and b.npy")):
            self.assertIn(text, self.ricci("permute", *words, code=2).stderr)
        self.assertEqual(set(self.files()), {"in.npy"})

    def test_names_that_others_use(self):
        self.ricci("permute", "abc->cab", "in.npy", "-o", "out.npy", "--dtype", "double")
        self.check_output()
        for other, own in (("double", "f64"), ("float", "f32"), ("single", "f32"), ("half", "f16"), ("complex128", "c128")):
            key = ["show", "ab->ba", "a=3", "b=5", "--key", "--dtype"]
            self.assertEqual(self.ricci(*key, other).stdout, self.ricci(*key, own).stdout)
        plan = ["show", "ab->ba", "a=3", "b=5", "--target", "sm_90", "--plan", "--device"]
        self.assertEqual(self.json(*plan, "cuda")["plan"]["device"], self.json(*plan, "gpu")["plan"]["device"])
        self.assertIn("--device: opencl not in {cpu,gpu}", self.ricci(*plan, "opencl", code=2).stderr)

    def test_help_and_version(self):
        for program in ("ricci", "ricci-bench"):
            whole = self.ricci("--help", program=program).stdout
            self.assertEqual(self.ricci("help", program=program).stdout, whole)
            for name in self.subcommands(program):
                self.assertEqual(self.ricci("help", name, program=program).stdout, self.ricci(name, "--help", program=program).stdout)
            self.assertEqual(self.ricci("-V", program=program).stdout, self.ricci("--version", program=program).stdout)
            self.assertIn("no subcommand 'nonsense'", self.ricci("help", "nonsense", program=program, code=2).stderr)
        self.assertEqual(self.ricci("help", "cache", "ls").stdout, self.ricci("cache", "ls", "--help").stdout)

    def subcommands(self, program="ricci"):
        listed = self.ricci("--help", program=program).stdout.split("Subcommands:\n")[1].split("\n\n")[0]
        names = re.findall(r"^  (\S+)", listed, re.MULTILINE)
        self.assertGreater(len(names), 5)
        return names

    def completed(self, *words, program="ricci"):
        """What bash offers for the last of these words."""
        path = cli_tool.pathlib.Path(cli_tool.COMMAND).with_name(program)
        script = BASH.format(program=path, words=" ".join(f"'{word}'" for word in words), function="_" + program.replace("-", "_"))
        done = subprocess.run(["bash", "-c", script], cwd=self.folder, text=True, capture_output=True, check=True)
        self.assertEqual(done.stderr, "")
        return done.stdout.split()

    def test_completion_in_bash(self):
        for program in ("ricci", "ricci-bench"):
            self.assertLessEqual(set(self.subcommands(program)), set(self.completed(program, "", program=program)))
        self.assertEqual(self.completed("ricci", "ei"), ["einsum"])
        self.assertEqual(self.completed("ricci", "permute", "abc->cab", "--al"), ["--alpha"])
        self.assertEqual(self.completed("ricci", "permute", "abc->cab", "--device", ""), ["cpu", "gpu"])
        self.assertEqual(self.completed("ricci", "einsum", "--path", "m"), ["memory"])
        self.assertEqual(self.completed("ricci", "cache", "ver"), ["verify"])
        self.assertEqual(self.completed("ricci", "cache", "verify", "--rem"), ["--remove"])

    def test_completion_in_zsh(self):
        text = self.ricci("completion", "zsh").stdout
        self.assertTrue(text.startswith("#compdef ricci\n"))
        for name in self.subcommands():
            self.assertIn(f'"ricci {name}")', text)
            self.assertIn(f"'{name}:", text)
        self.assertIn("'--device[Where to run, cpu or gpu]:value:(cpu gpu)'", text)
        if shutil.which("zsh"):
            (self.folder / "_ricci").write_text(text)
            subprocess.run(["zsh", "-n", self.folder / "_ricci"], check=True)
        self.assertIn("shell: fish not in {bash,zsh}", self.ricci("completion", "fish", code=2).stderr)

    def test_manual_page(self):
        for program in ("ricci", "ricci-bench"):
            text = self.ricci("manual", program=program).stdout
            plain = text.replace("\\-", "-").replace("\\fB", "").replace("\\fR", "")
            for name in self.subcommands(program):
                self.assertIn(f".SS {program} {name}\n", plain)
                for option in re.findall(r"(?<![\w-])--[a-z][a-z-]*", self.ricci(name, "--help", program=program).stdout):
                    self.assertIn(option, plain)
            if shutil.which("groff"):
                done = subprocess.run(["groff", "-man", "-Tutf8", "-ww"], input=text, text=True, capture_output=True, check=True)
                self.assertEqual(done.stderr, "")
                self.assertGreater(len(done.stdout.splitlines()), 100)


if __name__ == "__main__":
    cli_tool.main()
