#!/usr/bin/env python3
"""Runs the cells of a notebook one after the other, as Jupyter would, without it.

usage: notebook.py FILE [IMAGE]

What a cell ends in is shown by its _repr_html_, or printed. Figures are drawn without a screen, and the last one written
to IMAGE. A cell that fails is shown, with the error; without NumPy nothing is run.
"""
import ast
import importlib.util
import json
import os
import pathlib
import sys

if importlib.util.find_spec("numpy") is None:
    print(f"[SKIP] {sys.executable} has no numpy")
    sys.exit(0)
os.environ["MPLBACKEND"] = "Agg"
path = pathlib.Path(sys.argv[1]).resolve()
notebook = json.loads(path.read_text(encoding="utf-8"))
assert notebook["nbformat"] == 4
os.chdir(path.parent)
names = {"__name__": "__main__"}
shown = ran = 0
for number, cell in enumerate(notebook["cells"]):
    if cell["cell_type"] != "code":
        continue
    assert not cell["outputs"], f"cell {number} has outputs: clear them before it is kept"
    text = "".join(cell["source"])
    tree = ast.parse(text)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    try:
        exec(compile(tree, f"{path.name}, cell {number}", "exec"), names)
        value = None if last is None else eval(compile(ast.Expression(last.value), f"{path.name}, cell {number}", "eval"), names)
        if hasattr(value, "_repr_html_"):
            html = value._repr_html_()
            assert "<table>" in html and "<pre" in html, html[:200]
            shown += 1
    except Exception:
        print(f"cell {number} of {path.name}:\n{text}\n", file=sys.stderr)
        raise
    ran += 1
if len(sys.argv) > 2 and "plt" in names:
    names["plt"].savefig(sys.argv[2])
assert ran > 5 and shown == 2, (ran, shown)
print(f"{ran} cells")
