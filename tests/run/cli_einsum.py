"""`ricci einsum` on the CPU: roles of axes, types, factors, paths; the commands that make its kernels again."""
import itertools
import re
import shlex
import struct

import cli_tool
from cli_tool import Case, load, pack, product, save, unpack

SPECS = [("ab,bc->ac", [(3, 4), (4, 5)]), ("labi,kjcl->kjicba", [(2, 3, 2, 4), (3, 2, 5, 2)]), ("ab,b->a", [(5, 3), (3,)]),
         ("ii->i", [(4, 4)]), ("ii->", [(4, 4)]), ("ab->", [(3, 5)]), ("a,b->ab", [(3,), (4,)]), (",a->a", [(), (6,)]),
         ("bij,bjk->bik", [(2, 3, 4), (2, 4, 3)]), ("ij,k->k", [(2, 3), (4,)]), ("ab,ab->", [(3, 4), (3, 4)]),
         ("ab,bc,cd->ad", [(3, 4), (4, 5), (5, 2)]), ("ab,bc,cd,de->ae", [(2, 3), (3, 4), (4, 2), (2, 5)]),
         ("ab,bc->ac", [(3, 0), (0, 5)]), ("ab,bc->ac", [(0, 4), (4, 5)]), ("ab,bc->ac", [(1, 4), (4, 1)]),
         ("occ vir, vir aux -> aux occ", [(3, 4), (4, 2)])]


def terms(spec):
    """Operands' and output's axes."""
    left, right = spec.split("->")
    words = " " in left.strip()
    split = (lambda term: term.split()) if words else (lambda term: list(term.strip()))
    return [split(term) for term in left.split(",")], split(right)


def einsum(spec, shapes, operands):
    """(shape, values), by one loop over all axes."""
    left, right = terms(spec)
    extents = {axis: n for term, shape in zip(left, shapes) for axis, n in zip(term, shape)}
    axes = list(extents)
    shape = tuple(extents[axis] for axis in right)
    values = dict.fromkeys(itertools.product(*map(range, shape)), 0)
    for point in itertools.product(*(range(extents[axis]) for axis in axes)):
        at = dict(zip(axes, point))
        value = 1
        for term, term_shape, operand in zip(left, shapes, operands):
            value *= operand[cli_tool.row_major([at[axis] for axis in term], term_shape)]
        values[tuple(at[axis] for axis in right)] += value
    return shape, list(values.values())


class Einsum(Case):
    def inputs(self, shapes, code="d", descr="<f8", first=1):
        """Small whole numbers, so that every order of the sums gives the same."""
        operands = []
        for k, shape in enumerate(shapes):
            values = [(first + 3 * k + 5 * i) % 11 - 5 for i in range(product(shape))]
            save(self.folder / f"in{k}.npy", shape, descr, pack(code, values))
            operands.append(values)
        return operands, [f"in{k}.npy" for k in range(len(shapes))]

    def test_roles(self):
        for spec, shapes in SPECS:
            with self.subTest(spec=spec, shapes=shapes):
                operands, files = self.inputs(shapes)
                self.ricci("einsum", spec, *files, "-o", "out.npy", "--verify")
                _, _, shape, elements = load(self.folder / "out.npy")
                self.assertEqual((shape, unpack("d", elements)), einsum(spec, shapes, operands))

    def test_ellipsis_and_no_arrow(self):
        operands, files = self.inputs([(2, 3, 4), (4, 5)])
        expected = einsum("xij,jk->xik", [(2, 3, 4), (4, 5)], operands)
        for spec in ["...ij,jk->...ik", "xij,jk->xik"]:
            self.ricci("einsum", spec, *files, "-o", "out.npy", "--verify")
            self.assertEqual((load(self.folder / "out.npy")[2], unpack("d", load(self.folder / "out.npy")[3])), expected)
        operands, files = self.inputs([(3, 4), (4, 5)])
        self.ricci("einsum", "ij,jk", *files, "-o", "out.npy")
        self.assertEqual(unpack("d", load(self.folder / "out.npy")[3]), einsum("ij,jk->ik", [(3, 4), (4, 5)], operands)[1])

    def test_types(self):
        shapes = [(3, 4), (4, 5)]
        for code, descr in [("d", "<f8"), ("f", "<f4"), ("e", "<f2"), ("i", "<i4"), ("q", "<i8"), ("b", "|i1")]:
            with self.subTest(descr=descr):
                operands, files = self.inputs(shapes, code, descr)
                done = self.json("einsum", "ab,bc->ac", *files, "-o", "out.npy", "--verify")
                out_descr, _, _, elements = load(self.folder / "out.npy")
                self.assertEqual(done["output"]["dtype"], cli_tool.NAMES[out_descr])
                wrap = (lambda x: (x + 128) % 256 - 128) if code == "b" else (lambda x: x)
                self.assertEqual(unpack(code, elements), [wrap(x) for x in einsum("ab,bc->ac", shapes, operands)[1]])
        operands, files = self.inputs(shapes)
        self.ricci("einsum", "ab,bc->ac", *files, "-o", "out.npy", "--dtype", "f32", "--verify", "--order", "F")
        descr, fortran, _, elements = load(self.folder / "out.npy")
        self.assertEqual((descr, fortran), ("<f4", True))
        self.assertEqual(unpack("f", elements), einsum("ab,bc->ac", shapes, operands)[1])

    def test_complex(self):
        a = [1 + 2j, 3 - 1j, 2j, -1 + 1j]
        b = [2.0, -1.0, 0.5, 4.0]
        save(self.folder / "a.npy", (2, 2), "<c16", [struct.pack("<dd", x.real, x.imag) for x in a])
        save(self.folder / "b.npy", (2, 2), "<f8", pack("d", b))
        for options, operand in [([], a), (["--conj=1"], [x.conjugate() for x in a]), (["--conj"], [x.conjugate() for x in a]),
                                 (["--conj=2"], a)]:
            self.ricci("einsum", "ab,bc->ac", "a.npy", "b.npy", "-o", "c.npy", "--verify", "--alpha", "2i", *options)
            values = [complex(*struct.unpack("<dd", e)) for e in load(self.folder / "c.npy")[3]]
            self.assertEqual(values, [2j * x for x in einsum("ab,bc->ac", [(2, 2)] * 2, [operand, b])[1]])

    def test_packed_contractions_of_other_types(self):
        """Whole numbers, so that every order of the sums gives NumPy's result exactly."""
        i, j, k = 67, 46, 39
        count = lambda n, low: [(7 * x + low) % 5 - 2 for x in range(n)]
        a, b, c = count(i * k, 1), count(k * j, 3), count(i * j, 2)
        for dtype, code in [("<c16", "dd"), ("<c8", "ff"), ("<i4", "i"), ("<i8", "q")]:
            cx = dtype[1] == "c"
            number = (lambda x: complex(x, (x * x) % 3 - 1)) if cx else (lambda x: x)
            each = lambda x: struct.pack("<" + code, *((x.real, x.imag) if cx else (x,)))
            values = [[number(x) for x in list_] for list_ in (a, b, c)]
            for name, shape, list_ in zip("abc", [(i, k), (k, j), (i, j)], values):
                save(self.folder / f"{name}.npy", shape, dtype, [each(x) for x in list_])
            for options, left, right in [([], False, False)] + ([(["--conj=1"], True, False), (["--conj=2"], False, True),
                                                                 (["--conj"], True, True)] if cx else []):
                save(self.folder / "c.npy", (i, j), dtype, [each(x) for x in values[2]])
                self.ricci("einsum", "ik,kj->ij", "a.npy", "b.npy", "-o", "c.npy", "--beta", "2", "--alpha",
                           "3i" if cx else "3", *options)
                x = [v.conjugate() if left else v for v in values[0]]
                y = [v.conjugate() if right else v for v in values[1]]
                want = [(3j if cx else 3) * sum(x[p * k + r] * y[r * j + q] for r in range(k)) + 2 * values[2][p * j + q]
                        for p in range(i) for q in range(j)]
                got = [struct.unpack("<" + code, e) for e in load(self.folder / "c.npy")[3]]
                self.assertEqual([complex(*e) if cx else e[0] for e in got], want, (dtype, options))

    def test_beta_adds_to_what_is_there(self):
        operands, files = self.inputs([(3, 4), (4, 5)])
        old = [float(i) for i in range(15)]
        save(self.folder / "c.npy", (3, 5), "<f8", pack("d", old))
        self.ricci("einsum", "ab,bc->ac", *files, "-o", "c.npy", "--alpha", "-2", "--beta", "0.5", "--verify", "--repeat", "3")
        expected = [-2 * x + 0.5 * y for x, y in zip(einsum("ab,bc->ac", [(3, 4), (4, 5)], operands)[1], old)]
        self.assertEqual(unpack("d", load(self.folder / "c.npy")[3]), expected)

    def test_addend_from_a_file_of_its_own(self):
        operands, files = self.inputs([(3, 4), (4, 5)])
        products = einsum("ab,bc->ac", [(3, 4), (4, 5)], operands)[1]
        old = [float(i) for i in range(15)]
        for code, descr, fortran in [("d", "<f8", False), ("f", "<f4", False), ("d", "<f8", True)]:
            save(self.folder / "c.npy", (3, 5), descr, pack(code, old), fortran)
            done = self.json("einsum", "ab,bc->ac", *files, "-o", "d.npy", "--addend", "c.npy", "--alpha", "-2", "--beta", "0.5",
                             "--verify", "--repeat", "3")
            self.assertEqual(done["addend"]["path"], "c.npy")
            self.assertEqual(unpack("d", load(self.folder / "d.npy")[3]), [-2 * x + 0.5 * y for x, y in zip(products, old)])
        self.assertIn("addend", self.ricci("einsum", "ab,bc->ac", *files, "-o", "d.npy", "--addend", "c.npy", "--beta", "1").stdout)
        save(self.folder / "bool.npy", (3, 5), "|b1", pack("B", [1] * 15))
        for words, text in [(["c.npy"], "--addend: --beta is 0"), (["none.npy", "--beta", "1"], "none.npy"),
                            (["in0.npy", "--beta", "1"], "--addend: in0.npy has shape (3, 4), the output has (3, 5)"),
                            (["bool.npy", "--beta", "1"], "bool.npy: holds bool")]:
            refused = self.ricci("einsum", "ab,bc->ac", *files, "-o", "d.npy", "--addend", *words, code=2)
            self.assertIn(text, refused.stderr)

    def test_verify_goes_pair_by_pair_where_one_nest_of_loops_would_take_too_long(self):
        # 14^8 products at once, 4 * 14^5 in pairs.
        shapes, spec = [(14,) * 4] + [(14, 14)] * 4, "pqrs,pt,qu,rv,sw->tuvw"
        _, files = self.inputs(shapes, "b", "|i1")
        self.assertTrue(self.json("einsum", spec, *files, "-o", "out.npy", "--verify")["verified"])
        _, files = self.inputs(shapes)
        save(self.folder / "c.npy", (14,) * 4, "<f8", pack("d", range(14 ** 4)))
        self.ricci("einsum", spec, *files, "-o", "out.npy", "--verify", "--alpha", "3", "--beta", "-1", "--addend", "c.npy")
        # As many products in any order.
        save(self.folder / "x.npy", (3000,), "<f8", pack("d", [1] * 3000))
        refused = self.ricci("einsum", "a,b,c->abc", *["x.npy"] * 3, "-o", "out.npy", "--verify", code=2)
        self.assertIn("--verify: the interpreter would go through 2.7e+10 products", refused.stderr)

    def test_report(self):
        _, files = self.inputs([(17, 13), (13, 19), (19, 3)])
        done = self.json("einsum", "ab,bc,cd->ad", *files, "-o", "out.npy", "--verify", "--repeat", "4")
        self.assertEqual(done["plan"]["steps"], 2)
        self.assertGreater(done["plan"]["workspace_bytes"], 0)
        self.assertEqual(done["plan"]["flops"], 2 * 13 * 19 * 3 + 2 * 17 * 13 * 3)
        self.assertEqual(done["plan"]["compulsory_bytes"], 8 * (17 * 13 + 13 * 19 + 19 * 3 + 17 * 3))
        self.assertTrue(done["verified"])
        self.assertEqual(done["runs"], 4)
        self.assertIn("intermediate", done["path"])
        again = self.json(*shlex.split(done["show"])[1:], "--key")
        self.assertEqual(again["plan"]["kernel"], done["plan"]["kernel"])
        self.assertEqual(again["plan"]["origin"], "disk")
        text = self.ricci("einsum", "ab,bc,cd->ad", *files, "-o", "out.npy").stdout
        self.assertIn("workspace", text)
        self.assertIn("GF/s", text)

    def test_kernels_name_their_own_commands(self):
        """The head of every kernel says how to make it again; that command does."""
        for words in [["ab,bc->ac", "a=5", "b=7", "c=6"], ["ii->i", "i=9"], ["ii->", "i=9"], ["a,b->ab", "a=7", "b=5"],
                      ["bij,bjk->bik", "b=3", "i=4", "j=5", "k=6", "--dtype", "f32"],
                      ["ab,bc->ac", "a=5", "b=7", "c=6", "--dtype", "c128", "--conj=1", "--alpha", "any", "--beta", "1"],
                      ["ab,bc->ac", "a=5", "b=7", "c=6", "--dtype", "c128,f64", "--beta", "1"],
                      ["ab,bc->ac", "a=5", "b=7", "c=6", "--dtype", "i8"],
                      ["ab,bc->ac", "a=5", "b=7", "c=6", "--strides-in", "F;C", "--strides-out", "1,5", "--beta", "any"],
                      ["ab,bc->ac", "a=5", "b=7", "c=6", "--dtype", "f16", "--out-dtype", "f64"],
                      ["ab->b", "a=40", "b=6", "--dtype", "i32", "--out-dtype", "i64"]]:
            with self.subTest(words=words):
                source = self.ricci("show", *words).stdout
                again = re.search(r"reproduce +ricci (show .*)", source)
                self.assertIsNotNone(again, source)
                self.assertNotIn("PROGRAM", again.group(1))
                self.assertEqual(self.ricci(*shlex.split(again.group(1))).stdout, source)

    def test_sections_of_several_kernels(self):
        words = ["ab,bc,cd->ad", "a=5", "b=4", "c=6", "d=3", "--path", "flops"]
        for section, comment in [("--ir", "#"), ("--passes", "#"), ("--source", "//"), ("--key", "#"), ("--asm", "#")]:
            text = self.ricci("show", *words, section).stdout
            self.assertEqual(re.findall(rf"^{comment} step (\d) of 2: (.*)$", text, re.M),
                             [("1", "B, C -> W1"), ("2", "A, W1 -> D")], section)
        explained = self.json("explain", *words)
        self.assertEqual({candidate["step"] for candidate in explained["candidates"]}, {0, 1})
        text = self.ricci("explain", *words).stdout
        steps = text.partition("\norders of the products, ")[0]
        self.assertEqual(steps.count("\n* "), 2 + 2)  # the row that is taken, and why, of each


if __name__ == "__main__":
    cli_tool.main()
