"""`ricci run` on the CPU: tensors, parameters, open extents, fields in every layout; `show` and `explain` of programs."""
import cmath
import math
import os
import pty
import re
import select
import shlex
import signal
import struct
import subprocess

import cli_tool
from cli_tool import Case, load, pack, save, unpack

ENERGY = """program energy
index i j
param scale : f64
input v(i, j) : f64
input e(i) : f64
output E() : f64
output rows(i) : f64
inout total() : f64
temp w(i, j) : f64
w(i, j) = v(i, j) * v(i, j)
E() = scale * sum(i j, w(i, j) / (e(i) + 1))
rows(i) = sum(j, w(i, j))
total() += sum(i j, v(i, j))
"""

FIELD = """program trace_free
index i j k = 3
grid x
input  K(3,3) : f64 sym(0,1) on x {layout}
output A(3,3) : f64 sym(0,1) on x {layout}
local  t() : f64 on x
t() = sum(k, diag(K(k, k)))
A(i, j) = K(i, j) - delta(i, j) * t() / 3.0
"""

COUNT = """program count
index i j = 6
input a(i) : u64
output n() : i64
n() = sum(i j, cast(i64, popcount(and(a(i), a(j))) >= 2))
"""

PREFIX = """program prefix
index i
input x(i) : i32
output y(i + 1) : i32
y(i) = exclusive_scan(sum, i, x(i))
"""


class Run(Case):
    def write(self, name, text):
        (self.folder / name).write_text(text)

    def test_statements(self):
        """Outputs, an old value that counts, a parameter, a workspace; extents from the arrays."""
        self.write("energy.ricci", ENERGY)
        v = [0.5 * i - 2 for i in range(12)]
        e = [1.0, 3.0, 7.0]
        save(self.folder / "v.npy", (3, 4), "<f8", pack("d", v))
        save(self.folder / "e.npy", (3,), "<f8", pack("d", e))
        save(self.folder / "t.npy", (), "<f8", pack("d", [100.0]))
        words = ["run", "energy.ricci", "v=v.npy", "e=e.npy", "total=t.npy", "-o", "rows=r.npy", "-o", "total=t2.npy"]
        energy = sum(v[4 * i + j] ** 2 / (e[i] + 1) for i in range(3) for j in range(4))
        for scale in [1.0, -2.5]:  # the parameter changes, the kernels do not
            done = self.json(*words, f"scale={scale}", "--verify", "--repeat", "3")
            self.assertTrue(done["verified"])
            results = {output["name"]: output for output in done["outputs"]}
            self.assertTrue(math.isclose(results["E"]["values"][0], scale * energy, rel_tol=1e-14))
            self.assertEqual(results["total"]["values"], [100 + sum(v)])  # of one run, however many there were
        self.assertEqual(done["plan"]["origin"], "disk")
        self.assertEqual(unpack("d", load(self.folder / "r.npy")[3]),
                         [sum(v[4 * i + j] ** 2 for j in range(4)) for i in range(3)])
        self.assertEqual(unpack("d", load(self.folder / "t2.npy")[3]), [100 + sum(v)])
        self.assertEqual(unpack("d", load(self.folder / "t.npy")[3]), [100.0])
        text = self.ricci(*words, "scale=1").stdout
        self.assertRegex(text, rf"result +E = {energy:.15g}\n")
        self.assertIn("rows = r.npy  f64 (3,)", text)
        # Fortran order says the same tensor
        save(self.folder / "v.npy", (3, 4), "<f8", pack("d", v), fortran=True)
        again = self.json(*words, "scale=1", "--verify")
        self.assertTrue(math.isclose(again["outputs"][0]["values"][0], energy, rel_tol=1e-14))

    def test_fields(self):
        """Structure of arrays, one array per component, blocked: the same points."""
        points, block = 24, 8
        components = [[math.sin(3 * c + x) for x in range(points)] for c in range(6)]  # 00 01 02 11 12 22
        traces = [components[0][x] + components[3][x] + components[5][x] for x in range(points)]
        expected = [[value - (traces[x] / 3 if c in (0, 3, 5) else 0) for x, value in enumerate(component)]
                    for c, component in enumerate(components)]
        blocked = lambda rows: [rows[c][b * block + x] for b in range(points // block) for c in range(6) for x in range(block)]
        for layout, shape, arrange in [("", (6, points), None), ("layout pointers", (6, points), None),
                                       (f"layout blocked({block})", (points // block, 6, block), blocked)]:
            with self.subTest(layout=layout):
                self.write("field.ricci", FIELD.format(layout=layout))
                arrange = arrange or (lambda rows: [value for row in rows for value in row])
                save(self.folder / "K.npy", shape, "<f8", pack("d", arrange(components)))
                extent = ["--extent", f"x={points}"] if "blocked" in layout else []
                self.ricci("run", "field.ricci", "K=K.npy", "-o", "A=A.npy", "--verify", *extent)
                _, _, out_shape, elements = load(self.folder / "A.npy")
                self.assertEqual(out_shape, shape)
                for got, right in zip(unpack("d", elements), arrange(expected)):
                    self.assertAlmostEqual(got, right, delta=1e-15)

    def test_integers(self):
        self.write("count.ricci", COUNT)
        states = [0b0111, 0b1011, 0b1101, 0b1110, 0b10000, 0b110000]
        save(self.folder / "a.npy", (6,), "<u8", [struct.pack("<Q", state) for state in states])
        done = self.json("run", "count.ricci", "a=a.npy", "--verify")
        pairs = sum(bin(a & b).count("1") >= 2 for a in states for b in states)
        self.assertEqual(done["outputs"][0]["values"], [pairs])
        self.assertEqual(done["largest_relative_difference"], 0)

    def test_complex_functions(self):
        """On the CPU, against Python's and against the interpreter."""
        z = [complex(0.3 * k - 1.7, 0.2 * k - 0.9) for k in range(12)]
        w = [complex(1.1 - 0.2 * k, 0.4 + 0.1 * k) for k in range(12)]
        for name, values in (("z", z), ("w", w)):
            save(self.folder / f"{name}.npy", (12,), "<c16", [struct.pack("<dd", v.real, v.imag) for v in values])
        for text, function in [
                ("exp(z(i))", lambda z, w: cmath.exp(z)), ("log(z(i))", lambda z, w: cmath.log(z)),
                ("sqrt(z(i))", lambda z, w: cmath.sqrt(z)), ("rsqrt(z(i))", lambda z, w: 1 / cmath.sqrt(z)),
                ("sin(z(i))", lambda z, w: cmath.sin(z)), ("cos(z(i))", lambda z, w: cmath.cos(z)),
                ("tan(z(i))", lambda z, w: cmath.tan(z)), ("asin(z(i))", lambda z, w: cmath.asin(z)),
                ("acos(z(i))", lambda z, w: cmath.acos(z)), ("atan(z(i))", lambda z, w: cmath.atan(z)),
                ("cbrt(z(i))", lambda z, w: z**(1 / 3)), ("sinh(z(i))", lambda z, w: cmath.sinh(z)),
                ("cosh(z(i))", lambda z, w: cmath.cosh(z)), ("tanh(z(i))", lambda z, w: cmath.tanh(z)),
                ("pow(z(i), w(i))", lambda z, w: z**w), ("abs(z(i)) + real(w(i))*imag(z(i))", lambda z, w: abs(z) + w.real * z.imag),
                ("conj(w(i))*exp(-1i*z(i))", lambda z, w: w.conjugate() * cmath.exp(-1j * z))]:
            with self.subTest(function=text):
                self.write("f.ricci", f"program f\nindex i\ninput z(i) : c128; input w(i) : c128; output y(i) : c128\n"
                                      f"y(i) = {text} + 0*w(i)*z(i)\n")
                self.ricci("run", "f.ricci", "z=z.npy", "w=w.npy", "-o", "y=y.npy", "--verify")
                for got, a, b in zip((complex(*struct.unpack("<dd", e)) for e in load(self.folder / "y.npy")[3]), z, w):
                    want = function(a, b)
                    self.assertLess(abs(got - want), 1e-13 * (1 + abs(want)))

    def test_branch_cuts(self):
        """Both sides of every cut, its ends, zeros of both signs and what is not finite: Python's values, signs of zeros
        included."""
        parts = [0.0, 0.5, 1.0, 1.5, 2.0, 1e10, math.inf]
        parts += [-part for part in parts] + [math.nan]
        z = [complex(re, im) for re in parts for im in parts]
        save(self.folder / "z.npy", (len(z),), "<c16", [struct.pack("<dd", v.real, v.imag) for v in z])
        for function in ("sqrt", "log", "asin", "acos", "atan"):
            self.write("f.ricci", f"program f\nindex i\ninput z(i) : c128; output y(i) : c128\ny(i) = {function}(z(i))\n")
            self.ricci("run", "f.ricci", "z=z.npy", "-o", "y=y.npy")
            for value, got in zip(z, (complex(*struct.unpack("<dd", e)) for e in load(self.folder / "y.npy")[3])):
                try:
                    want = getattr(cmath, function)(value)
                except ValueError:  # Python's for what C gives an infinity at: log 0, atan of +-i
                    self.assertTrue(math.isinf(got.real) or math.isinf(got.imag), (function, value, got))
                    continue
                open_sign = cmath.isnan(value)  # C leaves it open beside a NaN
                for a, b in ((got.real, want.real), (got.imag, want.imag)):
                    with self.subTest(function=function, z=value, got=got, want=want):
                        if math.isnan(b):
                            self.assertTrue(math.isnan(a))
                            continue
                        if open_sign:
                            a, b = abs(a), abs(b)
                        self.assertTrue(math.isclose(a, b, rel_tol=4e-15) or abs(a - b) < 1e-30)
                        self.assertEqual(math.copysign(1, a), math.copysign(1, b))

    def test_words_between_operands(self):
        """and, or, xor and not, as Python reads them; the remainder of real numbers."""
        a, b = [3, -5, 12, 7], [1.5, -2.25, 0.0, 9.75]
        save(self.folder / "a.npy", (4,), "<i8", pack("q", a))
        save(self.folder / "b.npy", (4,), "<f8", pack("d", b))
        self.write("f.ricci", "program f\nindex i\ninput a(i) : i64; input b(i) : f64; output y(i) : i64; output r(i) : f64\n"
                              "y(i) = (a(i) < 8 and not b(i) < 0 or a(i) == 12 xor b(i) == 9.75) + 2*(a(i) and 6) + 100*(a(i) xor 1)\n"
                              "r(i) = mod(b(i), 0.7)\n")
        self.ricci("run", "f.ricci", "a=a.npy", "b=b.npy", "-o", "y=y.npy", "-o", "r=r.npy", "--verify")
        self.assertEqual(unpack("q", load(self.folder / "y.npy")[3]),
                         [int(x < 8 and not y < 0 or ((x == 12) != (y == 9.75))) + 2 * (x & 6) + 100 * (x ^ 1) for x, y in zip(a, b)])
        self.assertEqual(unpack("d", load(self.folder / "r.npy")[3]), [math.fmod(y, 0.7) for y in b])

    def test_a_long_run_tells_how_far_it_is_and_can_be_interrupted(self):
        count = 600000  # 3.6 * 10^11 pairs: minutes
        self.write("count.ricci", COUNT.replace("= 6", f"= {count}"))
        save(self.folder / "a.npy", (count,), "<u8", [struct.pack(f"<{count}Q", *range(count))])
        ours, theirs = pty.openpty()
        with subprocess.Popen([cli_tool.COMMAND, "run", "count.ricci", "a=a.npy", "-o", "n=n.npy"], cwd=self.folder,
                              stdout=subprocess.DEVNULL, stderr=theirs) as process:
            said = b""
            while not re.search(rb"running \[=* *\] +[1-9]\d* %", said):
                self.assertTrue(select.select([ours], [], [], 60)[0], said)
                said += os.read(ours, 10000)
            process.send_signal(signal.SIGINT)
            self.assertEqual(process.wait(10), -signal.SIGINT)
        os.close(ours)
        os.close(theirs)
        self.assertEqual(sorted(path.name for path in self.folder.iterdir() if "n.npy" in path.name), [])

    def test_prefix_sum(self):
        self.write("prefix.ricci", PREFIX.replace("y(i + 1)", "y(8)").replace("index i", "index i = 7"))
        values = [3, -1, 4, 1, -5, 9, 2]
        save(self.folder / "x.npy", (7,), "<i4", pack("i", values))
        self.ricci("run", "prefix.ricci", "x=x.npy", "-o", "y=y.npy", "--verify")
        self.assertEqual(unpack("i", load(self.folder / "y.npy")[3]), [sum(values[:k]) for k in range(8)])

    def test_show_and_explain(self):
        self.write("energy.ricci", ENERGY)
        words = ["energy.ricci", "i=3", "j=4"]
        shown = self.json("show", *words, "--ir", "--passes", "--source", "--key")
        steps = shown["plan"]["steps"]
        self.assertGreater(steps, 1)
        for section in ["ir", "passes", "source", "key"]:
            comment = "//" if section == "source" else "#"
            numbers = re.findall(rf"^{comment} step (\d+) of {steps}: ", shown[section], re.M)
            self.assertEqual(numbers, [str(k + 1) for k in range(steps)], section)
        self.assertEqual(self.ricci("show", "energy.ricci", "--extent", "i=3", "--extent", "j=4").stdout, shown["source"])
        # Each kernel says how to make it again: as an einsum where it is one, else from a program.
        commands = re.findall(r"reproduce +(ricci show .*)", shown["source"])
        self.assertEqual(len(commands), steps)
        for command in commands:
            if "PROGRAM" in command:
                command = command.replace("PROGRAM", "energy.ricci i=3 j=4").split("  (")[0]
            source = self.ricci(*shlex.split(command)[1:]).stdout
            self.assertIn(re.search(r'extern "C" void (\w+)', source).group(1), shown["source"])
        explained = self.json("explain", *words)
        self.assertEqual({candidate["step"] for candidate in explained["candidates"]}, set(range(steps)))


if __name__ == "__main__":
    cli_tool.main()
