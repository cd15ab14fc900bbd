"""What `ricci` refuses: exit code 2, a text that names the cause, nothing written."""
import json
import os
import pathlib
import re
import resource
import shlex
import signal
import struct
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "run"))
import cli_tool
from cli_tool import Case, bytes_pattern, pack, save

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"
SHAPE = ["a=4", "b=3", "c=5"]


class Refused(Case):
    def refuse(self, words, *texts, type=None, **more):
        """Runs, and expects exactly these texts on stderr and an unchanged directory."""
        before = self.files()
        done = self.ricci(*words, code=2, **more)
        self.assertEqual(done.stdout, "")
        program = more.get("program", "ricci")
        self.assertTrue(done.stderr.startswith(f"{program}: "), done.stderr)
        for text in texts:
            self.assertIn(text, done.stderr)
        self.assertEqual(self.files(), before)
        if type:
            error = json.loads(self.ricci(*words, "--json", code=2, **more).stdout)["error"]
            self.assertEqual(error["type"], type)
            self.assertEqual(f"{program}: {error['text']}\n", done.stderr)
        return done.stderr


class Spec(Refused):
    def caret(self, words, text, spec, carets, type="spec"):
        self.refuse(words, f"ricci: {text}", f"\n  {spec}\n  {carets}\n", type=type)

    def test_notation(self):
        for spec, text, carets in [
                ("abc->cab->b", "a spec has one '->'", "        ^"),
                ("ab->b,a", "a spec has one output", "     ^"),
                ("a1->1a", "an axis name starts with a letter", " ^"),
                ("ab->b?", "'?' is not part of index notation", "     ^"),
                ("a..->a", "'.' is part of an ellipsis alone", " ^")]:
            with self.subTest(spec=spec):
                self.caret(["show", spec, *SHAPE], text, spec, carets)

    def test_axes(self):
        self.caret(["show", "abc->cad", *SHAPE, "d=2"], "output axis d is not an axis of the input", "abc->cad", "       ^")
        self.caret(["show", "abc->cabb", *SHAPE], "axis b appears twice in the output", "abc->cabb", "       ^^")
        self.caret(["show", "ab,bc->ad", *SHAPE, "d=2"], "output axis d is not an axis of any operand", "ab,bc->ad", "        ^")
        self.refuse(["show", "...a->a...", "a=3"], "an ellipsis stands for axes that only tensors tell; name them here\n"
                    "  ...a->a...", type="spec")

    def test_permutations(self):
        save(self.folder / "in.npy", (4, 3, 5), "<f8", bytes_pattern(60, 8))
        for spec, text, carets in [
                ("abc", "a spec says its output after '->'", "   ^"),
                ("abc->ca", "input axis b is missing in the output", " ^"),
                ("aba->ab", "axis a appears twice in the input", "^ ^")]:
            with self.subTest(spec=spec):
                self.caret(["permute", "in.npy", "out.npy", spec], text, spec, carets)
        self.refuse(["permute", "in.npy", "out.npy", "ab,bc->ac"],
                    "a permutation has one operand, this spec has 2\n  ab,bc->ac", type="spec")

    def test_extents(self):
        self.caret(["show", "abc->cab", *SHAPE, "x=1"], "axis x of 'x=1' is not an axis of the spec; it has a, b, c",
                   "abc->cab", "^^^  ^^^")
        self.caret(["show", "occ vir -> vir occ", "occ=3", "cic=4"], "axis cic of 'cic=4' is not an axis",
                   "occ vir -> vir occ", "^   ^      ^   ^")
        self.caret(["show", "abc->cab", "a=4", "c=5"], "no extent for axis b; add b=...", "abc->cab", " ^", "shape")
        self.caret(["explain", "abc->cab", "b=4"], "no extent for axes a, c; add a=... c=...", "abc->cab", "^ ^", "shape")
        self.caret(["show", "abc->cab", *SHAPE, "b=7"], "axis b is given two extents, 3 and 7", "abc->cab", " ^     ^",
                   "shape")
        self.caret(["show", "abc->cab", "a=-4", "b=3", "c=5"], "axis a has extent -4; extents start at 0", "abc->cab",
                   "^     ^", "shape")
        for word, text in [("a=", "'' is no whole number"), ("a=4.5", "'4.5' is no whole number"),
                           ("a=99999999999999999999", "does not fit in 64 bits"), ("a", "'a' is no extent"),
                           ("=4", "'=4' is no extent")]:
            self.refuse(["show", "abc->cab", word, "b=3", "c=5"], text, type="shape")
        self.refuse(["show", "ab->ba", "a=4294967296", "b=4294967296"], "ricci: ", type="shape")

    def test_options(self):
        for options, text, type in [
                (["--dtype", "f128"], 'no element type "f128"; there are i8, i16', "shape"),
                (["--dtype", "i32", "--out-dtype", "f32"], "no conversion from i32 to f32", "shape"),
                (["--dtype", "c64", "--out-dtype", "f32"], "no conversion from c64 to f32", "shape"),
                (["--strides-in", "1,2"], "--strides-in: 2 strides for 3 axes", "shape"),
                (["--strides-in", "1,x,2"], "--strides-in: 'x' is no whole number", "shape"),
                (["--strides-out", "1,0,20"], "stride 0", "shape"),
                (["--strides-out", "1,1,1"], "overlap", "shape"),
                (["--alpha", "two"], "--alpha: 'two' is no number", "shape"),
                (["--target", "gfx90a"], "--target: 'gfx90a' is no compute capability", "device"),
                (["--target", "sm_90", "--device", "cpu"], "--target is for --device gpu", "device"),
                (["--schedule", "nosuch"], "nosuch", "plan"),
                (["--conj=2"], "--conj: there is no operand 2; they count from 1 to 1", "shape"),
                (["--dtype", "f64,f32"], "--dtype: 2 given for 1 tensors", "shape"),
                (["--align", "3"], "alignment of 3 bytes", "shape"),
                (["--device", "tpu"], "--device: tpu not in {cpu,gpu}; see ricci show --help", "usage"),
                (["--frob"], "--frob; see ricci show --help", "usage")]:
            with self.subTest(options=options):
                self.refuse(["show", "abc->cab", *SHAPE, *options], text, type=type)

    def test_usage(self):
        for words, text in [([], "A subcommand is required; see ricci --help"), (["frob"], "frob"),
                            (["show"], "spec is required; see ricci show --help"), (["permute", "a.npy"], "in is required"),
                            (["permute", "a", "b", "c", "d"], "d; see ricci permute --help"),
                            (["doctor", "--require", "npu"], "npu not in {cpu,gpu}"),
                            (["permute", "a", "b", "a->a", "--repeat", "x"], "--repeat")]:
            with self.subTest(words=words):
                self.refuse(words, text)


PROGRAM = """program scaled
index i
param s : f64
input x(i) : f64
output y(i) : f64
inout z() : f64
y(i) = s * x(i)
z() += sum(i, x(i))
"""


class Einsum(Refused):
    def setUp(self):
        super().setUp()
        save(self.folder / "a.npy", (4, 3), "<f8", bytes_pattern(12, 8))
        save(self.folder / "b.npy", (3, 5), "<f8", bytes_pattern(15, 8))
        save(self.folder / "yes.npy", (4, 3), "|b1", [b"\x01"] * 12)

    def test_refused(self):
        two = ["a.npy", "b.npy", "-o", "c.npy"]
        for words, text, type in [
                (["ab,bc->ac", "a.npy", "-o", "c.npy"], "the spec has 2 operands, 1 file was given\n  ab,bc->ac", "spec"),
                (["ab,bc->ad", *two], "output axis d is not an axis of any operand", "spec"),
                (["ab,ac->bc", *two], "axis a has extent 4 in operand A but 3 in operand B", "shape"),
                (["abc,bc->a", *two], "operand A", "shape"),
                (["ab,bc->ac", *two, "--dtype", "i32"], "i32", "shape"),
                (["ab,bc->ac", *two, "--conj=3"], "--conj: there is no operand 3; they count from 1 to 2", "shape"),
                (["ab,bc->ac", *two, "--alpha", "i"], "alpha", "shape"),
                (["ab,bc->ac", *two, "--beta", "1"], "c.npy: cannot be read", "io"),
                (["ab,bc->ac", *two, "--repeat", "0"], "--repeat: at least 1", "shape"),
                (["ab,bc->ac", *two, "--path", "luck"], "--path: luck not in {time,flops,memory}", "usage"),
                (["ab,bc->ac", "a.npy", "b.npy"], "--output is required; see ricci einsum --help", "usage"),
                (["ab,bc->ac", "a.npy", "b.npy", "-o", "no/c.npy"], "no/c.npy: cannot be written: no directory no", "io"),
                (["ab,ab->", "yes.npy", "a.npy", "-o", "c.npy"], "yes.npy: holds bool, which has no sums", "shape")]:
            with self.subTest(words=words):
                self.refuse(["einsum", *words], text, type=type)


class Run(Refused):
    def setUp(self):
        super().setUp()
        (self.folder / "p.ricci").write_text(PROGRAM)
        save(self.folder / "x.npy", (4,), "<f8", bytes_pattern(4, 8))
        save(self.folder / "x2.npy", (4, 1), "<f8", bytes_pattern(4, 8))
        save(self.folder / "xf.npy", (4,), "<f4", bytes_pattern(4, 4))
        save(self.folder / "z.npy", (), "<f8", bytes_pattern(1, 8))

    def test_refused(self):
        good = ["x=x.npy", "z=z.npy", "s=2"]
        for words, text, type in [
                (["none.ricci", *good], "none.ricci: cannot be read", "io"),
                (["p.ricci", *good[:2]], "p.ricci: parameter s needs a value; add s=...", "shape"),
                (["p.ricci", "z=z.npy", "s=2"], "p.ricci: x needs a file; add x=FILE.npy", "shape"),
                (["p.ricci", *good, "w=1"], "p.ricci: w is no input and no parameter; there are x, z, s", "spec"),
                (["p.ricci", *good, "y=y.npy"], "(its result is written with -o y=...)", "spec"),
                (["p.ricci", *good, "x=x.npy"], "x is given twice", "shape"),
                (["p.ricci", *good, "x.npy"], "'x.npy' says nothing; write name=file.npy or parameter=0.5", "shape"),
                (["p.ricci", *good, "-o", "x=o.npy"], "-o x=o.npy: no result is called x; there are y, z", "spec"),
                (["p.ricci", *good, "-o", "y=no/o.npy"], "no/o.npy: cannot be written: no directory no", "io"),
                (["p.ricci", "x=xf.npy", *good[1:]], "xf.npy holds f32, and p.ricci says that x is f64", "shape"),
                (["p.ricci", "x=x2.npy", *good[1:]], "p.ricci: ExtentMismatch: 'x' is an array of shape", "shape"),
                (["p.ricci", *good[:2], "s=1i"], "parameter s = (0, 1) has an imaginary part, but it is f64", "shape"),
                (["p.ricci", *good, "--extent", "i"], "p.ricci: 'i' is no extent; write index=extent, such as p=24", "shape")]:
            with self.subTest(words=words):
                self.refuse(["run", *words], text, type=type)

    def test_program(self):
        (self.folder / "bad.ricci").write_text("index i = 3\noutput y(i) : f64\ny(i) = x(i)\n")
        self.refuse(["run", "bad.ricci"], "ricci: bad.ricci: NameError: 'x' is not declared\n  line 3, column 8:\n", type="spec")
        self.refuse(["show", "p.ricci"], "p.ricci: no extent for index i; add --extent i=...", type="shape")
        self.refuse(["show", "p.ricci", "i=4", "--dtype", "f32"], "--dtype is for index notation; p.ricci says itself",
                    type="spec")


class Files(Refused):
    def setUp(self):
        super().setUp()
        save(self.folder / "in.npy", (4, 3, 5), "<f8", bytes_pattern(60, 8))
        (self.folder / "old.npy").write_bytes(b"what was there")

    def permute(self, *words, texts, out="old.npy", spec="abc->cab", **more):
        return self.refuse(["permute", "in.npy", out, spec, *words], *texts, **more)

    def damage(self, data, *texts):
        (self.folder / "in.npy").write_bytes(data)
        self.permute(texts=["ricci: in.npy: byte ", *texts], type="io")

    def test_damaged_input(self):
        good = (self.folder / "in.npy").read_bytes()
        header = lambda text: b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + bytes(480)
        dictionary = lambda descr, order, shape: header(
            f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}}}\n".encode())
        for data, text in [
                (b"", "byte 0: the file is empty"),
                (b"a,b,c\n1,2,3\n", "byte 0: not a .npy file"),
                (b"PK\x03\x04" + bytes(100), "byte 0: this is an .npz archive"),
                (good[:5], "byte 5: the file ends inside its first 8 bytes"),
                (good[:6] + b"\x04" + good[7:], "byte 6: version 4.0 of the format"),
                (good[:9], "byte 9: the file ends inside the length"),
                (good[:8] + b"\xff\xff" + good[10:], "byte 608: the file ends after 598 of the 65535 bytes of its header"),
                (good[:60], "byte 60: the file ends after 50 of the"),
                (header(b"[1, 2]"), "byte 10: expected '{', found '['"),
                (header(b"{'descr': '<f8"), "byte 20: the quote that opens here is not closed"),
                (header(b"{'descr': '<f8', 'shape': (60,)}"), "the header has no 'fortran_order'"),
                (header(b"{'descr': '<f8', 'descr': '<f8'}"), "byte 27: the key 'descr' is there twice"),
                (header(b"{'kind': '<f8'}"), "byte 11: unknown key 'kind'"),
                (dictionary("'<f8'", "None", "(60,)"), "fortran_order must be True or False"),
                (dictionary("'<f8'", "False", "60"), "shape must be a tuple"),
                (dictionary("'<f8'", "False", "(4, -3, 5)"), "an extent is negative"),
                (dictionary("'<f8'", "False", "(9" + 30 * "0" + ",)"), "an extent is larger than 2^63 - 1"),
                (dictionary("'<f8'", "False", "(4294967296, 4294967296)"), "multiply to more bytes than 2^63 - 1"),
                (dictionary("'<f8'", "False", "(0, 4294967296, 4294967296)"), "multiply to more bytes than 2^63 - 1"),
                (dictionary("'<f8'", "False", "(" + 33 * "1, " + ")"), "more than 32 axes"),
                (dictionary("'<f8'", "False", "(1000000, 1000000, 1000)"), "needs 8000000000000000 bytes of data, 480 are"),
                (dictionary("'|O'", "False", "(4, 3, 5)"), "element type '|O' is none that Ricci has"),
                (dictionary("'<f16'", "False", "(4, 3, 5)"), "element type '<f16' is none that Ricci has"),
                (dictionary("'<U2'", "False", "(4, 3, 5)"), "element type '<U2' is none that Ricci has"),
                (dictionary("'<M8[ns]'", "False", "(4, 3, 5)"), "element type '<M8[ns]' is none"),
                (dictionary("'<V2'", "False", "(4, 3, 5)"), "two bytes of unknown meaning; if they are bfloat16, say so with"),
                (dictionary("[('x', '<f8')]", "False", "(60,)"), "a structured type"),
                (dictionary("'f8'", "False", "(4, 3, 5)"), "does not begin with a byte order"),
                (good[:-1], "byte 607: the data is cut short: shape (4, 3, 5) of '<f8' needs 480 bytes of data, 479 are"),
                (good + b"x", "byte 608: 1 bytes too many after the data")]:
            with self.subTest(text=text):
                self.damage(data, text)

    def test_inputs_that_are_none(self):
        self.refuse(["permute", "absent.npy", "out.npy", "a->a"], "absent.npy: cannot be read: No such file", type="io")
        self.refuse(["permute", ".", "out.npy", "a->a"], ".: is a directory", type="io")
        if os.geteuid() != 0:
            (self.folder / "in.npy").chmod(0)
            self.refuse(["permute", "in.npy", "out.npy", "abc->cab"], "cannot be read: Permission denied", type="io")
            (self.folder / "in.npy").chmod(0o600)

    def test_spec_and_file_disagree(self):
        self.permute(texts=["the spec gives the input 2 axes, its layout has 3: extents (4, 3, 5)\n  ab->ba"], spec="ab->ba",
                     type="shape")
        self.permute(texts=["output axis d is not an axis of the input\n  abc->cad\n         ^\n"], spec="abc->cad",
                     type="spec")
        self.permute("--beta", "1", texts=["input axis b is missing in the output", "\n  abc->ca\n   ^\n"], spec="abc->ca",
                     type="spec")

    def test_types_and_factors(self):
        for options, text, type in [
                (["--dtype", "f128"], 'no element type "f128"', "shape"), (["--dtype", "i32"], "no conversion from f64 to i32", "shape"),
                (["--alpha", "1+"], "--alpha: '1+' is no number", "shape"), (["--alpha", "2i"], "imaginary part", "shape"),
                (["--in-dtype", "f64"], "--in-dtype: says what two opaque bytes", "shape"),
                (["--repeat", "0"], "--repeat: at least 1", "shape"),
                (["--schedule", "nosuch"], "nosuch", "plan"),
                (["--order", "K"], "--order: K not in {C,F}", "usage")]:
            with self.subTest(options=options):
                self.permute(*options, texts=[text], type=type)
        save(self.folder / "in.npy", (4, 3, 5), "<i4", bytes_pattern(60, 4))
        self.permute("--alpha", "0.5", texts=["alpha = 0.5 is not a whole number"], type="shape")
        save(self.folder / "in.npy", (4, 3, 5), "|b1", [bytes([i % 2]) for i in range(60)])
        self.permute("--alpha", "2", texts=["factors have no meaning for bool; say --dtype u8"], type="shape")

    def test_beta_needs_a_fitting_output(self):
        self.permute("--beta", "1", texts=["absent.npy: cannot be read"], out="absent.npy", type="io")
        self.permute("--beta", "1", texts=["old.npy: byte 0: not a .npy file"], type="io")
        save(self.folder / "old.npy", (4, 3, 5), "<f8", bytes_pattern(60, 8))
        self.permute("--beta", "1", texts=["--beta: old.npy has shape (4, 3, 5), the output has (5, 4, 3)\n  abc->cab"],
                     type="shape")
        save(self.folder / "old.npy", (5, 4, 3), "<f4", bytes_pattern(60, 4))
        self.permute("--beta", "1", texts=["--beta: old.npy holds f32, the output is f64; say --dtype f32"], type="shape")
        save(self.folder / "old.npy", (5, 4, 3), "<f8", bytes_pattern(60, 8), fortran=True)
        self.permute("--beta", "1", "--order", "C", texts=["--beta: old.npy is in F order"], type="shape")

    def test_unwritable_output(self):
        self.permute(texts=["no/where/out.npy: cannot be written: no directory"], out="no/where/out.npy", type="io")
        (self.folder / "sub").mkdir()
        self.permute(texts=["sub: cannot be written: it is a directory"], out="sub", type="io")
        self.permute(texts=["in.npy/out.npy: cannot be written"], out="in.npy/out.npy", type="io")
        self.permute(texts=["/dev/full: cannot be written: No space left"], out="/dev/full", type="io")
        if os.geteuid() != 0:
            (self.folder / "sub").chmod(0o500)
            self.permute(texts=["directory", "Permission denied"], out="sub/out.npy", type="io")
            (self.folder / "sub").chmod(0o700)

    def test_output_that_does_not_fit(self):
        """A file size limit stands for a full disk: the old file stays, and no temporary file does."""
        save(self.folder / "in.npy", (64, 64), "<f8", bytes_pattern(4096, 8))
        cache = {"RICCI_CACHE": "off"}

        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))

        for out in ["old.npy", "new.npy"]:
            self.permute(texts=[f"{out}: cannot be written: File too large"], out=out, spec="ab->ba", env=cache,
                         preexec_fn=limit, type="io")

    def test_interrupt(self):
        """SIGTERM in the middle of writing: the old file stays, and no temporary file does."""
        with open(self.folder / "in.npy", "wb") as file:
            text = "{'descr': '|u1', 'fortran_order': False, 'shape': (8192, 16384), }".ljust(117) + "\n"
            file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode())
            file.truncate(128 + 8192 * 16384)  # zeros, without their blocks
        for _ in range(10):  # a machine that is busy elsewhere may let a process write all before it is interrupted
            (self.folder / "old.npy").write_bytes(b"what was there")
            process = subprocess.Popen([cli_tool.COMMAND, "permute", "ab->ba", "in.npy", "-o", "old.npy"], cwd=self.folder,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            while process.poll() is None and not list(self.folder.glob("*.tmp")):
                pass
            process.terminate()
            self.assertEqual(process.communicate()[1], b"")
            self.assertEqual({path.name for path in self.folder.iterdir()}, {"in.npy", "old.npy"})
            if process.returncode != 0:
                break
        self.assertEqual(process.returncode, -signal.SIGTERM)
        self.assertEqual((self.folder / "old.npy").read_bytes(), b"what was there")

    def test_missing_gpu(self):
        self.permute("--device", "gpu", texts=["ricci: no GPU: ", "use --device cpu"], type="device",
                     env={"CUDA_VISIBLE_DEVICES": ""})


class Outputs(Refused):
    """Several results: all files or none, each its own, and no value that wraps."""
    PROGRAM = """program two
index i
param p : {type}
input x(i) : f64
output y(i) : f64
output z(i) : f64
y(i) = x(i) + 1
z(i) = 2 * x(i) * select(p > 1, 1.0, 2.0)
"""

    def setUp(self):
        super().setUp()
        save(self.folder / "x.npy", (3,), "<f8", pack("d", [1, 2, 3]))
        self.program()

    def program(self, type="i32"):
        (self.folder / "two.ricci").write_text(self.PROGRAM.format(type=type))

    def run_two(self, *words):
        return ["run", "two.ricci", "x=x.npy", "p=1", *words]

    def test_one_file_for_two_results(self):
        save(self.folder / "old.npy", (3,), "<f8", pack("d", [7, 8, 9]))
        os.link(self.folder / "old.npy", self.folder / "other.npy")
        (self.folder / "link.npy").symlink_to("old.npy")
        for y, z in (("same.npy", "same.npy"), ("same.npy", "./same.npy"), ("old.npy", "other.npy"), ("old.npy", "link.npy")):
            with self.subTest(y=y, z=z):
                self.refuse(self.run_two("-o", f"y={y}", "-o", f"z={z}"), "y is written to that file already", type="shape")
        done = self.ricci(*self.run_two("-o", "y=/dev/null", "-o", "z=/dev/null"))
        self.assertEqual(done.stderr, "")

    def test_all_or_nothing(self):
        for words in (["-o", "y=y.npy", "-o", "z=/dev/full"], ["-o", "y=/dev/full", "-o", "z=z.npy"]):
            self.refuse(self.run_two(*words), "/dev/full: cannot be written: No space left", type="io")
        save(self.folder / "y.npy", (3,), "<f8", pack("d", [7, 8, 9]))
        self.refuse(self.run_two("-o", "y=y.npy", "-o", "z=no/where.npy"), "no directory", type="io")
        self.ricci(*self.run_two("-o", "y=y.npy", "-o", "z=z.npy"))
        self.assertEqual(set(self.files()), {"two.ricci", "x.npy", "y.npy", "z.npy"})

    def test_values_out_of_range(self):
        for type, value, text in [
                ("i32", "99999999999", "parameter p = 99999999999 is out of the range of i32: -2147483648 to 2147483647"),
                ("u8", "256", "out of the range of u8: 0 to 255"), ("u8", "-1", "out of the range of u8"),
                ("i8", "128", "out of the range of i8: -128 to 127"), ("u64", "-1", "out of the range of u64: 0 to 18446744073709551615"),
                ("i64", "1e300", "out of the range of i64"), ("f32", "1e39", "out of the range of f32"),
                ("i64", "9007199254740993", "not below 2^53"), ("i16", "1.5", "is not a whole number"),
                ("i16", "nan", "is not a whole number")]:
            with self.subTest(type=type, value=value):
                self.program(type)
                self.refuse(["run", "two.ricci", "x=x.npy", f"p={value}", "-o", "y=y.npy"], text, type="shape")
        self.program("i8")
        for value in ("-128", "127"):
            self.ricci("run", "two.ricci", "x=x.npy", f"p={value}")
        save(self.folder / "small.npy", (2, 2), "|i1", pack("b", [1, 2, 3, 4]))
        self.refuse(["permute", "ab->ba", "small.npy", "-o", "out.npy", "--alpha", "300"], "alpha = 300 is out of the range of i8: -128 to 127",
                    type="shape")
        self.refuse(["einsum", "ab->a", "small.npy", "-o", "out.npy", "--alpha", "300"], "alpha = 300 is out of the range of i8", type="shape")

    def test_names(self):
        for name in ("y.npz", "y.txt", "y.csv", "y.h5"):
            self.refuse(self.run_two("-o", f"y={name}"), f"{name}: would hold one tensor as .npy", "write y.npy", type="io")
            self.refuse(["permute", "a->a", "x.npy", "-o", name], "would hold one tensor as .npy", type="io")
            self.refuse(["einsum", "a->", "x.npy", "-o", name], "would hold one tensor as .npy", type="io")
        name = "n" * 246 + ".npy"  # 250 characters
        self.ricci("permute", "a->a", "x.npy", "-o", name)
        self.assertEqual(set(self.files()), {"two.ricci", "x.npy", name})
        self.refuse(["permute", "a->a", "x.npy", "-o", "n" * 300 + ".npy"], "cannot be written: File name too long", type="io")

    def test_what_the_killed_left(self):
        dead = subprocess.Popen(["true"])
        dead.wait()
        left = [f"y.npy.{dead.pid}.0.tmp", f"y.npy.{dead.pid}.3.tmp"]
        kept = [f"y.npy.{os.getpid()}.0.tmp", f"z.npy.{dead.pid}.0.tmp", "y.npy.tmp", f"y.npy.{dead.pid}.x.tmp"]
        for name in left + kept:
            (self.folder / name).write_bytes(b"half")
        self.ricci(*self.run_two("-o", "y=y.npy"))
        self.assertEqual(set(self.files()), {"two.ricci", "x.npy", "y.npy", *kept})


class Texts(Refused):
    """Programs that are none, and messages that quote a screen at most."""
    def test_files_that_are_no_programs(self):
        self.refuse(["run", "."], ".: is a directory, not a file", type="io")
        self.refuse(["show", "."], ".: is a directory, not a file", type="io")
        for name in ("/dev/zero", "/dev/urandom"):
            self.refuse(["run", name], f"{name}: ", type="io")
        (self.folder / "wide.ricci").write_bytes("program wide".encode("utf-16"))
        self.refuse(["run", "wide.ricci"], "wide.ricci: is UTF-16; save it as UTF-8", type="io")

    def test_byte_order_mark(self):
        (self.folder / "marked.ricci").write_bytes(b"\xef\xbb\xbf" + b"program marked\noutput y() : f64\ny() = 2.0\n")
        self.assertIn("y = 2", self.ricci("run", "marked.ricci").stdout)

    def test_long_lines(self):
        long = "x" * 1000000
        for text in (f"program p\noutput y() : f64\ny() = {long}\n", f"program p\noutput y() : f64\ny() = 1 + {long}(\n",
                     f"program p\noutput y() : f64\ny() = 1 {' ' * 900000}?\n", f"program p\n{long} y() : f64\n"):
            (self.folder / "long.ricci").write_text(text)
            self.assertLess(len(self.refuse(["run", "long.ricci"])), 3000)
        self.assertLess(len(self.refuse(["show", "a" * 60000 + "->b", "a=3", "b=2"])), 7000)

    def test_characters_stay_whole(self):
        for spec, told in (("aé->éa", "'é' is not part of index notation"), ("a\u2192b", "'\u2192' is not part of index notation")):
            self.refuse(["show", spec, "a=3"], told, f"\n  {spec}\n   ^\n", type="spec")
        for k in range(90, 110):
            (self.folder / "p.ricci").write_text("program p\noutput y() : f64\n# comment\ny() = " + "1 + " * 40 + "é" * k + "\n", encoding="utf-8")
            said = subprocess.run([cli_tool.COMMAND, "run", "p.ricci"], cwd=self.folder, capture_output=True)
            self.assertEqual(said.returncode, 2)
            said.stderr.decode("utf-8")  # throws where a part of a character is left
            self.assertIn("'é' is not part of the language", said.stderr.decode())

    def test_operands_are_counted(self):
        save(self.folder / "x.npy", (3,), "<f8", pack("d", [1, 2, 3]))
        self.refuse(["einsum", "a->a", "x.npy", "x.npy", "-o", "o.npy"], "the spec has 1 operand, 2 files were given", type="spec")
        self.refuse(["einsum", "a,a->a", "x.npy", "-o", "o.npy"], "the spec has 2 operands, 1 file was given", type="spec")


class Environment(Refused):
    """Every value that says nothing is told, and changes nothing."""
    def test_warnings(self):
        save(self.folder / "x.npy", (3, 4), "<f8", bytes_pattern(12, 8))
        for name, value, text in [
                ("RICCI_PIN", "yes", "RICCI_PIN=yes is neither 0 nor 1; ignored"),
                ("RICCI_CACHE_SHARED", "banana", "RICCI_CACHE_SHARED=banana is neither 0 nor 1"),
                ("RICCI_PERF_MAP", "2", "RICCI_PERF_MAP=2 is neither 0 nor 1; ignored"),
                ("RICCI_CACHE_RO", "/nonexistent", "RICCI_CACHE_RO: /nonexistent: "),
                ("RICCI_THREADS", "99999999999", "RICCI_THREADS=99999999999 is more than 1024; these are taken"),
                ("RICCI_THREADS", "two", "RICCI_THREADS=two is not a number from 1 to 1024; ignored"),
                ("RICCI_CACHE", "of", "RICCI_CACHE=of is not understood"), ("RICCI_CACHE_MAX", "lots", "RICCI_CACHE_MAX=lots"),
                ("RICCI_LOG", "noise", 'RICCI_LOG: no topic "noise"'), ("RICCI_DUMP", "x.npy", "RICCI_DUMP: cannot write to x.npy")]:
            with self.subTest(name=name, value=value):
                done = subprocess.run([cli_tool.COMMAND, "permute", "ab->ba", "x.npy", "-o", "y.npy"], cwd=self.folder, text=True,
                                      capture_output=True, env={**os.environ, name: value})
                self.assertEqual(done.returncode, 0)
                self.assertIn(text, done.stderr)
                self.assertEqual(done.stderr.count("\n"), 1, done.stderr)

    def test_damaged_kernels(self):
        save(self.folder / "x.npy", (3, 4), "<f8", bytes_pattern(12, 8))
        words = ["permute", "ab->ba", "x.npy", "-o", "y.npy"]
        env = {"RICCI_CACHE_DIR": str(self.folder / "cache")}
        self.ricci(*words, env=env)
        kernels = list((self.folder / "cache").glob("??/*.k"))
        self.assertGreater(len(kernels), 0)
        for kernel in kernels:
            kernel.write_bytes(kernel.read_bytes()[:-1] + b"?")
        told = self.ricci(*words, env=env).stderr
        for kernel in kernels:
            self.assertIn(f"{kernel} is damaged", told)
        self.assertEqual(self.ricci(*words, env=env).stderr, "")


class Programs(Refused):
    def test_subcommands(self):
        self.refuse(["bench", "permute", "cases.csv"], "ricci: no subcommand 'bench'; ", "`ricci-bench permute cases.csv`", type="usage")
        self.refuse(["permutation"], "ricci: no subcommand 'permutation'; see ricci --help\n", type="usage")
        self.refuse(["tune", "cases.csv"], "ricci-bench: no subcommand 'tune'; see ricci-bench --help\n", type="usage", program="ricci-bench")


class Peers(Refused):
    """Libraries that `ricci-bench permute` times beside Ricci are looked at before a device is."""
    def test_libraries(self):
        (self.folder / "cases.csv").write_text("id,dims,perm\nx,8 4,1 0\n")
        (self.folder / "no.so").write_bytes(b"not a library")
        libc = next(line.split()[-1] for line in open("/proc/self/maps") if "/libc" in line and ".so" in line)
        for option, title, device, function in [("--hptt", "HPTT", "cpu", "sTensorTranspose"),
                                                ("--hptt-measured", "HPTT", "cpu", "sTensorTranspose"),
                                                ("--cutensor", "cuTENSOR", "gpu", "cutensorGetErrorString"),
                                                ("--cutt", "cuTT", "gpu", "cuttPlan")]:
            words = ["permute", "cases.csv", "--device", device, option]
            with self.subTest(option=option):
                for file in "/nowhere/x.so", str(self.folder / "no.so"):
                    self.refuse([*words, file], f"{title}'s library cannot be opened: {file}: ", type="io",
                                program="ricci-bench")
                self.refuse([*words, libc], f"{libc} has no {function}; is it {title}'s shared library?", type="io",
                            program="ricci-bench")
                words[3] = "gpu" if device == "cpu" else "cpu"
                self.refuse([*words, libc], f"{option}: {title} permutes tensors of the {device.upper()}; take --device {device}",
                            type="plan", program="ricci-bench")


class Documents(Refused):
    def test_examples(self):
        """Every refusal that docs/ shows after "$ ricci" is what is said."""
        save(self.folder / "in.npy", (4, 3, 5), "<f8", bytes_pattern(60, 8))
        seen = 0
        for path in sorted(DOCS.glob("*.md")):
            for command, said in re.findall(r"^\$ ricci (.*)\n((?:(?!```|\$ ).*\n)*)", path.read_text(), re.M):
                if not said.startswith("ricci: "):
                    continue
                with self.subTest(document=path.name, command=command):
                    expected = re.sub(r"<[^>]*>", "*", re.escape(said)).replace("*", ".*")
                    done = self.ricci(*shlex.split(command), code=2, env={"CUDA_VISIBLE_DEVICES": ""})
                    self.assertRegex(done.stderr, "^" + expected + "$")
                    seen += 1
        self.assertGreaterEqual(seen, 5)

    def test_spec_table(self):
        """The table of refused specs in docs/spec.md."""
        rows = re.findall(r"^\| `([^`]*)`( as a permutation)? \| (.*) \|$",
                          (DOCS / "spec.md").read_text().split("## What is refused")[1], re.M)
        self.assertGreaterEqual(len(rows), 10)
        save(self.folder / "in.npy", (2, 2), "<f8", bytes_pattern(4, 8))
        for spec, permutation, said in rows:
            with self.subTest(spec=spec):
                letters = sorted(set(re.findall("[a-z]", spec)))
                words = ["show", spec, *(f"{letter}=2" for letter in letters)]
                if permutation:
                    words = ["permute", "in.npy", "out.npy", spec]
                elif "..." in spec:
                    words = ["einsum", spec, "in.npy", "-o", "out.npy"]
                done = self.ricci(*words, code=2)
                self.assertTrue(done.stderr.startswith(f"ricci: {said}\n  {spec}"), done.stderr)


if __name__ == "__main__":
    cli_tool.main()
