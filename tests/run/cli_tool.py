"""The command line under test, and .npy files without NumPy. Tests are called with the path of `ricci`; `ricci-bench` is
beside it."""
import itertools
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

BYTES = {"|i1": 1, "<i2": 2, "<i4": 4, "<i8": 8, "|u1": 1, "<u2": 2, "<u4": 4, "<u8": 8, "|b1": 1, "<f2": 2, "<V2": 2,
         "<f4": 4, "<f8": 8, "<c8": 8, "<c16": 16}
NAMES = {"|i1": "i8", "<i2": "i16", "<i4": "i32", "<i8": "i64", "|u1": "u8", "<u2": "u16", "<u4": "u32", "<u8": "u64",
         "<f2": "f16", "<V2": "bf16", "<f4": "f32", "<f8": "f64", "<c8": "c64", "<c16": "c128"}


def product(extents):
    result = 1
    for extent in extents:
        result *= extent
    return result


def save(path, shape, descr, elements, fortran=False):
    """Writes a tensor; `elements` are byte strings in row-major order of the indices."""
    if fortran:
        elements = [elements[row_major(index, shape)] for index in column_major_indices(shape)]
    text = "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }" % (descr, fortran, tuple(shape))
    text += " " * (-(10 + len(text) + 1) % 64) + "\n"
    header = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode()
    pathlib.Path(path).write_bytes(header + b"".join(elements))


def load(path):
    """(descr, fortran, shape, elements as save takes them)."""
    data = pathlib.Path(path).read_bytes()
    assert data[:8] == b"\x93NUMPY\x01\x00", data[:8]
    length, = struct.unpack("<H", data[8:10])
    header = eval(data[10:10 + length], {"__builtins__": {}})  # as NumPy does: a literal
    shape, descr = header["shape"], header["descr"]
    size = BYTES[descr]
    data = data[10 + length:]
    assert len(data) == size * product(shape), (len(data), shape)
    elements = [data[i:i + size] for i in range(0, len(data), size)]
    if header["fortran_order"]:
        stored = dict(zip(column_major_indices(shape), elements))
        elements = [stored[index] for index in itertools.product(*map(range, shape))]
    return descr, header["fortran_order"], shape, elements


def column_major_indices(shape):
    return [index[::-1] for index in itertools.product(*map(range, shape[::-1]))]


def row_major(index, shape):
    at = 0
    for i, extent in zip(index, shape):
        at = at * extent + i
    return at


def permuted(shape, elements, spec):
    """(shape, elements) after "abc->cab", plainly."""
    left, right = spec.replace(" ", "").split("->")
    places = [left.index(axis) for axis in right]
    result = []
    for index in itertools.product(*(range(shape[place]) for place in places)):
        source = [0] * len(shape)
        for place, i in zip(places, index):
            source[place] = i
        result.append(elements[row_major(source, shape)])
    return tuple(shape[place] for place in places), result


def bytes_pattern(count, size):
    """Elements that are all different and no NaN of any type."""
    return [((i * 2654435761 + 12345) & (256**size - 1) & ~(0x4040 << (8 * size - 16) if size > 1 else 0))
            .to_bytes(size, "little") for i in range(count)]


def pack(code, values):
    return [struct.pack("<" + code, value) for value in values]


def unpack(code, elements):
    return [struct.unpack("<" + code, element)[0] for element in elements]


class Case(unittest.TestCase):
    """A test with a directory of its own, in which `ricci` runs."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="ricci-cli-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def ricci(self, *words, code=0, env=None, program="ricci", **more):
        """Runs it, or another program beside it; checks the exit code; returns the finished process."""
        environment = {**os.environ, **(env or {})}
        done = subprocess.run([pathlib.Path(COMMAND).with_name(program), *map(str, words)], cwd=self.folder, env=environment, text=True,
                              stdout=more.pop("stdout", subprocess.PIPE), stderr=subprocess.PIPE, **more)
        self.assertEqual(done.returncode, code, f"{program} {' '.join(map(str, words))}\n{done.stdout}{done.stderr}")
        if code == 0:
            self.assertNotIn(f"{program}: ", done.stderr)
        return done

    def json(self, *words, **more):
        return json.loads(self.ricci(*words, "--json", **more).stdout)

    def bench(self, *words, **more):
        """What `ricci-bench` says, as JSON."""
        return self.json(*words, program="ricci-bench", **more)

    def files(self):
        """Everything in the directory, with its bytes."""
        return {path.name: path.read_bytes() if path.is_file() else None for path in self.folder.iterdir()}


COMMAND = ""


def main():
    global COMMAND
    if len(sys.argv) < 2:
        sys.exit(f"usage: {sys.argv[0]} RICCI [test ...]")
    # The test files import this module by its name, so the path goes there and not into __main__.
    sys.modules["cli_tool"].COMMAND = sys.argv.pop(1)
    unittest.main(module="__main__", verbosity=1)
