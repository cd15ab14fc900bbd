#!/usr/bin/env python3
"""The plots of bench/plots.py: well-formed, inside their frame, the same whenever they are made. usage: plots.py SOURCE"""
import pathlib
import re
import sys
import unittest
import xml.etree.ElementTree as ElementTree

SOURCE = pathlib.Path(sys.argv.pop(1))
sys.path.insert(0, str(SOURCE / "bench"))
import plots  # noqa: E402  (found beside report.py)


def permutations():
    cases = [{"id": id_, "ms": 1 + k / 7, "bytes": 4e8, "fraction": 0.95 - k / 100,
              "peers": {"copy": 0.8, "blocked loops": 3 + k, "a < b": 2.0}, "estimate": {"plan": "x", "ms": 1.1 + k / 7}}
             for k, id_ in enumerate(plots.ranks_of("ttc57"))]
    return {"bench": "permute", "set": "ttc57", "dtype": "f32", "device": "A & B", "cases": cases}


def sweep():
    sizes = [{"size": 1 << (20 + 2 * k), "copy_GBs": 40 + k, "min_GBs": 5, "median_GBs": 20 + k, "max_GBs": 38}
             for k in range(6)]
    return {"bench": "sweep", "set": "ttc57", "dtype": "f64", "device": "a device", "rounds": sizes, "cases": []}


def threads():
    rounds = [{"size": 1 << 28, "threads": 1 << k, "copy_GBs": 40 * (k + 1), "min_GBs": 5, "median_GBs": 20 * (k + 1),
               "max_GBs": 38 * (k + 1)} for k in range(5)]
    return {"bench": "sweep", "set": "ttc57", "dtype": "f32", "device": "a device", "rounds": rounds, "cases": []}


def contractions(device="a GPU", **more):
    own = "predicted_ms" if more else "ms"
    cases = [{"id": f"c{k}", own: 1 + k / 9, "bytes": 2 << k, "flop": 3e9 + 1e6 * k * k,
              "peers": {"cutensor": 2 + k / 9} if k % 2 else {}} for k in range(20)]
    return {"bench": "contract-predicted" if more else "contract", "set": "tccg48", "dtype": "f64", "device": device,
            "limit": {"copy_GBs": 4000, "gemm_TFs": 60}, "cases": cases, **more}


class Plots(unittest.TestCase):
    def drawn(self):
        return list(plots.plots([("p", permutations()), ("s", sweep()), ("t", threads()), ("l", {"bench": "latency"}),
                                 ("c", contractions()), ("cpu", contractions("x86-64-v4 x2")),
                                 ("f", contractions(predicted=True))]))

    def test_names(self):
        self.assertEqual([name for name, _, _ in self.drawn()], ["p-rank.svg", "p-distribution.svg", "s-sweep.svg", "t-sweep.svg",
                                                            "c-intensity.svg", "f-intensity.svg"])

    def test_well_formed_and_in_the_frame(self):
        for name, _, svg in self.drawn():
            root = ElementTree.fromstring(svg)
            for element in root.iter():
                for key, value in element.attrib.items():
                    if key in ("x", "cx"):
                        self.assertTrue(0 <= float(value) <= plots.WIDTH, (name, element.attrib))
                    if key in ("y", "cy"):
                        self.assertTrue(0 <= float(value) <= plots.HEIGHT, (name, element.attrib))
                    if key == "d" and "L" in value:
                        for x, y in re.findall(r"[ML]([-\d.]+) ([-\d.]+)", value):
                            self.assertTrue(plots.LEFT <= float(x) <= plots.WIDTH - plots.RIGHT + 0.1, (name, value))
                            self.assertTrue(plots.TOP - 0.1 <= float(y) <= plots.HEIGHT - plots.BOTTOM, (name, value))

    def test_every_case_and_peer_is_there(self):
        rank, distribution, size, scaling, intensity, predicted = (svg for _, _, svg in self.drawn())
        self.assertEqual(rank.count("<circle"), 57)
        for peer in "Ricci", "blocked loops", "a &lt; b", "Ricci, estimate":
            self.assertIn(f">{peer}</text>", distribution)
        for text in "1 MiB", "1 GiB", "copy", "a device":
            self.assertIn(text, size)
        for text in "against threads", "tensors of 256 MiB", ">16</text>":
            self.assertIn(text, scaling)
        for svg in intensity, predicted:
            self.assertEqual(svg.count("<circle"), 20)
            self.assertIn(">cuTENSOR&apos;s best, mean<".replace("&apos;", "'"), svg)
        self.assertIn("predicted", predicted)
        self.assertEqual(self.drawn(), self.drawn())

    def test_parts_of_an_axis_are_as_wide_by_their_logarithm(self):
        self.assertEqual(plots.bins_of([(1, 5), (16, 7), (1.5, 6), (256, 8)], 8), [[(1, 5), (1.5, 6)], [(16, 7)], [(256, 8)]])

    def test_steps_and_tops_are_round(self):
        for value in 0.3, 1, 7.4, 88, 4155:
            top = plots.top_of([value])
            self.assertTrue(value < top <= 1.5 * value, (value, top))
            self.assertTrue(2 <= top / plots.nice_step(top) <= 6.1, value)


if __name__ == "__main__":
    unittest.main(verbosity=1)
