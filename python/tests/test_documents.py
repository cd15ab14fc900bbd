"""The Python of docs/python.md and README.md runs, each document in one piece."""
import pathlib
import re
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[2]


class Documents(unittest.TestCase):
    def run_blocks(self, name):
        text = (SOURCE / name).read_text(encoding="utf-8")
        names = {}
        blocks = list(re.finditer(r"^```python\n(.*?)^```", text, re.S | re.M))
        self.assertGreater(len(blocks), 0)
        for block in blocks:
            line = text.count("\n", 0, block.start(1))
            exec(compile("\n" * line + block.group(1), name, "exec"), names)

    def test_readme(self):
        self.run_blocks("README.md")

    def test_manual(self):
        self.run_blocks("docs/python.md")


if __name__ == "__main__":
    unittest.main()
