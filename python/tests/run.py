#!/usr/bin/env python3
"""Runs one file of tests. Without NumPy, which all of them compare with, it says so and runs none.

usage: run.py NAME
"""
import importlib.util
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
if importlib.util.find_spec("numpy") is None:
    print(f"[SKIP] {sys.executable} has no numpy")
    sys.exit(0)
unittest.main(module=sys.argv[1], argv=sys.argv[:1], verbosity=1)
