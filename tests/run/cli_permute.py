"""`ricci permute` on the CPU: files of every type and order, factors, conversions; the second run starts warm."""
import itertools
import os
import pty
import select
import re
import shlex
import struct
import subprocess
import time

import cli_tool
from cli_tool import Case, bytes_pattern, load, pack, permuted, save, unpack


class Permute(Case):
    def check(self, shape, descr, spec, *options, fortran=False, order="C", size=None):
        elements = bytes_pattern(cli_tool.product(shape), cli_tool.BYTES[descr])
        save(self.folder / "in.npy", shape, descr, elements, fortran)
        before = (self.folder / "in.npy").read_bytes()
        self.ricci("permute", "in.npy", "out.npy", spec, "--verify", "--order", order, *options)
        self.assertEqual((self.folder / "in.npy").read_bytes(), before)
        out_descr, out_fortran, out_shape, out = load(self.folder / "out.npy")
        self.assertEqual(out_descr, descr)
        if order == "C":
            self.assertFalse(out_fortran)
        self.assertEqual((out_shape, out), permuted(shape, elements, spec))
        self.assertEqual(set(self.files()), {"in.npy", "out.npy"})
        return out_fortran

    def test_every_type_and_order(self):
        for descr, (fortran, order) in itertools.product(cli_tool.BYTES, itertools.product([False, True], "CF")):
            with self.subTest(descr=descr, fortran=fortran, order=order):
                options = ["--dtype", "bf16"] if descr == "<V2" else []
                is_fortran = self.check((3, 5, 7), descr, "abc->cab", *options, fortran=fortran, order=order)
                self.assertEqual(is_fortran, order == "F")

    def test_shapes(self):
        for shape, spec in [((), "->"), ((7,), "a->a"), ((0,), "a->a"), ((3, 0, 2), "abc->cba"), ((1, 1), "ab->ba"),
                            ((17, 13), "ab->ba"), ((64, 65), "ab->ba"), ((2, 3, 4, 5, 6), "abcde->ecadb"),
                            ((2,) * 10, "abcdefghij->jihgfedcba"), ((4, 1, 9), "abc->abc")]:
            with self.subTest(spec=spec, shape=shape):
                self.check(shape, "<f8", spec)

    def test_named_axes(self):
        elements = bytes_pattern(3 * 4 * 5, 8)
        save(self.folder / "in.npy", (3, 4, 5), "<f8", elements)
        self.ricci("permute", "in.npy", "out.npy", "occ vir aux -> aux occ vir")
        self.assertEqual(load(self.folder / "out.npy")[2:], permuted((3, 4, 5), elements, "abc->cab"))

    def test_factors(self):
        a, b = [0.5 * i for i in range(6)], [100.0 - i for i in range(6)]
        save(self.folder / "a.npy", (2, 3), "<f8", pack("d", a))
        save(self.folder / "b.npy", (3, 2), "<f8", pack("d", b))
        self.ricci("permute", "a.npy", "b.npy", "ij->ji", "--alpha", "-2", "--beta", "0.5", "--verify", "--repeat", "3")
        expected = [-2 * a[3 * i + j] + 0.5 * b[2 * j + i] for j in range(3) for i in range(2)]
        self.assertEqual(unpack("d", load(self.folder / "b.npy")[3]), expected)
        # beta follows the order of the file that is there
        save(self.folder / "b.npy", (3, 2), "<f8", pack("d", b), fortran=True)
        self.ricci("permute", "a.npy", "b.npy", "ij->ji", "--alpha", "-2", "--beta", "0.5", "--verify")
        self.assertEqual(load(self.folder / "b.npy")[1], True)
        self.assertEqual(unpack("d", load(self.folder / "b.npy")[3]), expected)

    def test_complex(self):
        save(self.folder / "a.npy", (2,), "<c16", [struct.pack("<dd", 1, 2), struct.pack("<dd", -3, 0.5)])
        self.ricci("permute", "a.npy", "b.npy", "i->i", "--conj", "--alpha", "2i", "--verify")
        values = [complex(*struct.unpack("<dd", element)) for element in load(self.folder / "b.npy")[3]]
        self.assertEqual(values, [2j * (1 - 2j), 2j * (-3 - 0.5j)])

    def test_conversions(self):
        values = [0.0, 1.5, -2.25, 1024.0, 0.125, -7.0]
        save(self.folder / "f64.npy", (2, 3), "<f8", pack("d", values))
        transposed = [values[i] for i in (0, 3, 1, 4, 2, 5)]
        for dtype, descr, code in [("f32", "<f4", "f"), ("float16", "<f2", "e"), ("f64", "<f8", "d")]:
            self.ricci("permute", "f64.npy", "out.npy", "ab->ba", "--dtype", dtype, "--verify")
            self.assertEqual(load(self.folder / "out.npy")[0], descr)
            self.assertEqual(unpack(code, load(self.folder / "out.npy")[3]), transposed)
        # bfloat16 has no NumPy type: two opaque bytes, which --in-dtype explains
        self.ricci("permute", "f64.npy", "brain.npy", "ab->ba", "--dtype", "bf16", "--verify")
        self.assertEqual(load(self.folder / "brain.npy")[0], "<V2")
        self.ricci("permute", "brain.npy", "wide.npy", "ab->ba", "--in-dtype", "bf16", "--dtype", "f32", "--verify")
        self.assertEqual(unpack("f", load(self.folder / "wide.npy")[3]), values)
        self.ricci("permute", "f64.npy", "complex.npy", "ab->ba", "--dtype", "c128", "--verify")
        self.assertEqual([struct.unpack("<dd", e) for e in load(self.folder / "complex.npy")[3]],
                         [(value, 0) for value in transposed])

    def test_big_endian(self):
        save(self.folder / "in.npy", (2, 3), "<i4", [struct.pack(">i", i) for i in range(6)])
        data = (self.folder / "in.npy").read_bytes().replace(b"'<i4'", b"'>i4'")
        (self.folder / "in.npy").write_bytes(data)
        done = self.ricci("permute", "in.npy", "out.npy", "ab->ba", "--verify")
        self.assertIn("big-endian", done.stdout)
        self.assertEqual(unpack("i", load(self.folder / "out.npy")[3]), [0, 3, 1, 4, 2, 5])

    def test_in_place(self):
        elements = bytes_pattern(6 * 7, 4)
        save(self.folder / "x.npy", (6, 7), "<f4", elements)
        self.ricci("permute", "x.npy", "x.npy", "ab->ba")
        self.assertEqual(load(self.folder / "x.npy")[2:], permuted((6, 7), elements, "ab->ba"))

    def test_pipe_and_progress(self):
        """A slow pipe is a file, and on a terminal one line says what it is waiting for; elsewhere nothing does."""
        elements = bytes_pattern(6, 8)
        save(self.folder / "whole.npy", (2, 3), "<f8", elements)
        data = (self.folder / "whole.npy").read_bytes()
        os.mkfifo(self.folder / "pipe")
        for terminal in [True, False]:
            ours, theirs = pty.openpty() if terminal else os.pipe()
            with subprocess.Popen([cli_tool.COMMAND, "permute", "ab->ba", "pipe", "-o", "out.npy"], cwd=self.folder,
                                  stdout=subprocess.DEVNULL, stderr=theirs) as process:
                with open(self.folder / "pipe", "wb") as pipe:
                    pipe.write(data[:140])
                    pipe.flush()
                    time.sleep(1.6)
                    pipe.write(data[140:])
                self.assertEqual(process.wait(), 0)
            # A terminal hands over what was written a little later: read until nothing has come for half a second.
            said = b""
            while select.select([ours], [], [], 0.5)[0]:
                said += os.read(ours, 10000)
            os.close(ours)
            os.close(theirs)
            self.assertEqual(load(self.folder / "out.npy")[2:], permuted((2, 3), elements, "ab->ba"))
            if terminal:
                self.assertRegex(said, rb"\r\x1b\[Kreading pipe .*[1-9]\d*\.\d s")
                self.assertTrue(said.endswith(b"\r\x1b[K"), said)
            else:
                self.assertEqual(said, b"")

    def test_report(self):
        cache = {"RICCI_CACHE_DIR": str(self.folder / "cache")}
        save(self.folder / "in.npy", (31, 29, 23), "<f8", bytes_pattern(31 * 29 * 23, 8))
        cold = self.json("permute", "in.npy", "out.npy", "abc->cab", "--repeat", "5", "--verify", env=cache)
        self.assertEqual(cold["plan"]["origin"], "compiled")
        self.assertEqual(cold["runs"], 5)
        self.assertTrue(cold["verified"])
        self.assertEqual(cold["output"]["shape"], [23, 31, 29])
        self.assertEqual(cold["plan"]["compulsory_bytes"], 2 * 8 * 31 * 29 * 23)
        self.assertLessEqual(cold["best_ms"], cold["median_ms"])
        self.assertGreater(cold["GBs"], 0)
        warm = self.json("permute", "in.npy", "out.npy", "abc->cab", env=cache)
        self.assertEqual(warm["plan"]["origin"], "disk")
        self.assertEqual(warm["plan"]["compile_ms"], 0)
        self.assertEqual(warm["plan"]["cache_path"], cold["plan"]["cache_path"])
        self.assertTrue((self.folder / cold["plan"]["cache_path"]).is_file())
        # the command that it names shows that very kernel, without compiling it again
        self.assertEqual(warm["show"], "ricci show 'abc->cab' a=31 b=29 c=23 --dtype f64")
        shown = self.json("show", "abc->cab", "a=31", "b=29", "c=23", "--dtype", "f64", "--source", env=cache)
        self.assertEqual(shown["plan"]["origin"], "disk")
        self.assertEqual(shown["plan"]["kernel"], warm["plan"]["kernel"])
        self.assertIn(warm["plan"]["kernel"], shown["source"])
        text = self.ricci("permute", "in.npy", "out.npy", "abc->cab", env=cache).stdout
        for word in ["f64 (31, 29, 23)", "from disk", "GB/s", warm["plan"]["cache_path"], warm["show"]]:
            self.assertIn(word, text)

    def test_schedule(self):
        """Every candidate that explain lists can be asked for, and gives the same tensor."""
        save(self.folder / "in.npy", (70, 66), "<f8", bytes_pattern(70 * 66, 8))
        table = self.ricci("explain", "ab->ba", "a=70", "b=66").stdout
        names = re.findall(r"^[* ] {1,2}(\S.*?) +[0-9.]+ us ", table, re.M)
        self.assertGreater(len(names), 1, table)
        for name in names:
            done = self.json("permute", "in.npy", "out.npy", "ab->ba", "--schedule", name, "--verify")
            self.assertTrue(done["plan"]["schedule"].startswith(name), done["plan"]["schedule"])
            self.assertIn(f"--schedule {shlex.quote(name)}", done["show"])


if __name__ == "__main__":
    cli_tool.main()
