"""Plots of bench/results as SVG, with the standard library alone. bench/report.py writes them to docs/plots."""
import csv
import math
import pathlib
from xml.sax.saxutils import escape

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Told apart by lightness as well as by colour.
COLOURS = ["#1b4f8a", "#d9730d", "#3a9a5b", "#8a3a8f", "#6b6b6b", "#c2a200"]
WIDTH, HEIGHT = 640, 400
LEFT, RIGHT, TOP, BOTTOM = 64, 20, 44, 52


def number(value):
    """Coordinates with one decimal: the same text on every machine."""
    return f"{value:.1f}".removesuffix(".0")


def nice_step(span):
    """1, 2 or 5 times a power of ten, so that about six ticks fit."""
    rough = span / 6
    power = 10 ** math.floor(math.log10(rough))
    return next(power * k for k in (1, 2, 5, 10) if power * k >= rough)


class Plot:
    """Axes, then points, lines and bands over them. x may be logarithmic; y begins at 0."""

    def __init__(self, title, x_label, y_label, x_range, y_top, log_x=False):
        self.x_range, self.y_top, self.log_x = x_range, y_top, log_x
        self.parts, self.legend = [], []
        self.text(LEFT, 20, title, size=14, weight="bold")
        self.text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 12, x_label, anchor="middle")
        self.parts.append(f'<text x="16" y="{number((TOP + HEIGHT - BOTTOM) / 2)}" text-anchor="middle" '
                          f'transform="rotate(-90 16 {number((TOP + HEIGHT - BOTTOM) / 2)})">{escape(y_label)}</text>')
        step = nice_step(y_top)
        for k in range(int(y_top / step + 1e-9) + 1):
            y = self.y(k * step)
            self.parts.append(f'<path d="M{LEFT} {number(y)}H{WIDTH - RIGHT}" stroke="#ddd"/>')
            self.text(LEFT - 6, y + 4, f"{k * step:g}", anchor="end")

    def x(self, value):
        low, high = self.x_range
        if self.log_x:
            value, low, high = math.log2(value), math.log2(low), math.log2(high)
        return LEFT + (value - low) / (high - low) * (WIDTH - LEFT - RIGHT)

    def y(self, value):
        return HEIGHT - BOTTOM - value / self.y_top * (HEIGHT - TOP - BOTTOM)

    def text(self, x, y, text, anchor="start", size=12, weight="normal"):
        self.parts.append(f'<text x="{number(x)}" y="{number(y)}" text-anchor="{anchor}" font-size="{size}" '
                          f'font-weight="{weight}">{escape(text)}</text>')

    def x_ticks(self, ticks):
        """(value, text) pairs."""
        for value, text in ticks:
            self.parts.append(f'<path d="M{number(self.x(value))} {HEIGHT - BOTTOM}v5" stroke="#333"/>')
            self.text(self.x(value), HEIGHT - BOTTOM + 18, text, anchor="middle")

    def name(self, name, colour):
        if name:
            self.legend.append((name, colour))

    def line(self, points, colour, name=None, dashed=False):
        path = "M" + "L".join(f"{number(self.x(x))} {number(self.y(y))}" for x, y in points)
        dashes = ' stroke-dasharray="6 4"' if dashed else ""
        self.parts.append(f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="2"{dashes}/>')
        self.name(name, colour)

    def band(self, lower, upper, colour):
        points = lower + upper[::-1]
        path = "M" + "L".join(f"{number(self.x(x))} {number(self.y(y))}" for x, y in points)
        self.parts.append(f'<path d="{path}Z" fill="{colour}" fill-opacity="0.15"/>')

    def dots(self, points, colour, name=None):
        for x, y in points:
            self.parts.append(f'<circle cx="{number(self.x(x))}" cy="{number(self.y(y))}" r="3" fill="{colour}" '
                              f'fill-opacity="0.55"/>')
        self.name(name, colour)

    def svg(self):
        parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
                 f'font-size="12">', f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>', *self.parts,
                 f'<path d="M{LEFT} {TOP}V{HEIGHT - BOTTOM}H{WIDTH - RIGHT}" fill="none" stroke="#333"/>']
        x = LEFT
        for name, colour in self.legend:
            parts.append(f'<rect x="{number(x)}" y="28" width="10" height="10" fill="{colour}"/>')
            parts.append(f'<text x="{number(x + 14)}" y="37">{escape(name)}</text>')
            x += 30 + 6.6 * len(name)
        return "\n".join(parts) + "\n</svg>\n"


def top_of(values):
    """A round number above the largest."""
    step = nice_step(max(values))
    return math.ceil(max(values) * 1.02 / step) * step


def median(values):
    values = sorted(values)
    return (values[(len(values) - 1) // 2] + values[len(values) // 2]) / 2


def ranks_of(set_name):
    """Rank of each case of a set."""
    file = ROOT / "bench/problems" / f"{set_name}.csv"
    if not file.exists():
        return {}
    with file.open(encoding="utf-8", newline="") as stream:
        return {row["id"]: len(row["dims"].split()) for row in csv.DictReader(stream)}


def title_of(result, what):
    return f"{what}: {result['set']} {result['dtype']}, {result['device']}"


def rank_plot(result):
    """Bandwidth against rank, each case a dot, with the medians and the copy."""
    ranks = ranks_of(result["set"])
    points = [(ranks[c["id"]], c["bytes"] / c["ms"] * 1e-6) for c in result["cases"] if c["id"] in ranks]
    copies = [c["bytes"] / c["peers"]["copy"] * 1e-6 for c in result["cases"]]
    if not points:
        return None
    present = sorted({rank for rank, _ in points})
    plot = Plot(title_of(result, "Bandwidth against rank"), "rank", "GB/s read and written",
                (present[0] - 0.5, present[-1] + 0.5), top_of(copies + [y for _, y in points]))
    plot.x_ticks([(rank, str(rank)) for rank in present])
    plot.line([(plot.x_range[0], median(copies)), (plot.x_range[1], median(copies))], COLOURS[4], "copy, median",
              dashed=True)
    plot.dots(points, COLOURS[0], "cases")
    plot.line([(rank, median([y for r, y in points if r == rank])) for rank in present], COLOURS[1], "median of a rank")
    return plot.svg()


def distribution_plot(result):
    """Share of the copy that so many of the cases reach, beside that of peers in the same run."""
    shares = {"Ricci": [c["fraction"] for c in result["cases"]]}
    for case in result["cases"]:
        for peer, ms in case["peers"].items():
            if peer != "copy":
                shares.setdefault(peer, []).append(case["peers"]["copy"] / ms)
        if "estimate" in case:
            shares.setdefault("Ricci, estimate", []).append(case["peers"]["copy"] / case["estimate"]["ms"])
    plot = Plot(title_of(result, "Share of the copy"), "cases, % of the set, worst first", "share of the copy", (0, 100),
                top_of([1.0] + [s for values in shares.values() for s in values]))
    plot.x_ticks([(k, str(k)) for k in range(0, 101, 20)])
    for number_of, (name, values) in enumerate(shares.items()):
        ordered = sorted(values)
        plot.line([(100 * (k + 0.5) / len(ordered), share) for k, share in enumerate(ordered)],
                  COLOURS[number_of % len(COLOURS)], name)
    return plot.svg()


def size_text(size):
    for unit, name in (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"):
        if size >= unit:
            return f"{size / unit:g} {name}"
    return f"{size} B"


def by_threads(result):
    """Whether the rounds of a sweep differ by their threads, and not by their sizes."""
    return len({r["size"] for r in result["rounds"]}) == 1 < len({r.get("threads") for r in result["rounds"]})


def sweep_plot(result):
    """Bandwidth against size, or threads: median of the cases, the span between the worst and the best, and the copy."""
    rounds, threads = result["rounds"], by_threads(result)
    x = "threads" if threads else "size"
    rates = {key: [(r[x], r[key]) for r in rounds] for key in ("copy_GBs", "min_GBs", "median_GBs", "max_GBs")}
    what, label = ("threads", f"threads, tensors of {size_text(rounds[0]['size'])}") if threads else ("size", "bytes of the tensor")
    plot = Plot(title_of(result, f"Bandwidth against {what}"), label, "GB/s read and written",
                (rounds[0][x], max(rounds[-1][x], 2 * rounds[0][x])),
                top_of([rate for line in rates.values() for _, rate in line]), log_x=True)
    plot.x_ticks([(r[x], str(r[x]) if threads else size_text(r[x])) for r in rounds])
    plot.band(rates["min_GBs"], rates["max_GBs"], COLOURS[0])
    plot.line(rates["copy_GBs"], COLOURS[4], "copy", dashed=True)
    plot.line(rates["median_GBs"], COLOURS[0], "median of the cases; shaded: worst to best")
    return plot.svg()


def bins_of(points, count):
    """The points of each of so many parts of the x axis, equally wide by their logarithm; empty ones left out."""
    points = sorted(points)
    low, high = math.log2(points[0][0]), math.log2(points[-1][0])
    parts = {}
    for x, y in points:
        parts.setdefault(min(int((math.log2(x) - low) / max(high - low, 1e-9) * count), count - 1), []).append((x, y))
    return [parts[k] for k in sorted(parts)]


def intensity_plot(result):
    """Arithmetic against arithmetic intensity, as figures 11 to 13 of the cuTT paper: each contraction a dot, the mean
    of each of eight parts of the axis, that of cuTENSOR, and the roofline."""
    if "x86" in result["device"]:
        return None
    own, limit = "predicted_ms" if result.get("predicted") else "ms", result["limit"]
    cases = [c for c in result["cases"] if c["flop"] > 0]
    intensity = [c["flop"] / c["bytes"] for c in cases]
    rates = [c["flop"] / c[own] * 1e-9 for c in cases]
    peers = [(x, c["flop"] / c["peers"]["cutensor"] * 1e-9) for x, c in zip(intensity, cases) if c["peers"].get("cutensor")]
    low, high = 2 ** math.floor(math.log2(min(intensity))), 2 ** math.ceil(math.log2(max(intensity)))
    top = top_of([limit["gemm_TFs"]] + rates + [y for _, y in peers])
    plot = Plot(title_of(result, "Contractions, predicted" if own == "predicted_ms" else "Contractions"),
                "arithmetic intensity, flop per byte", "TFLOP/s", (low, max(high, 2 * low)), top, log_x=True)
    ticks = range(round(math.log2(low)), round(math.log2(plot.x_range[1])) + 1)
    plot.x_ticks([(2.0 ** k, f"{2.0 ** k:g}") for k in ticks[::max(1, len(ticks) // 8)]])
    corner = limit["gemm_TFs"] * 1e3 / limit["copy_GBs"]
    ends = sorted({low, plot.x_range[1], *(low * (plot.x_range[1] / low) ** (k / 48) for k in range(49)),
                   min(max(corner, low), plot.x_range[1])})
    plot.line([(x, min(limit["gemm_TFs"], x * limit["copy_GBs"] * 1e-3)) for x in ends], COLOURS[4], "roofline", dashed=True)
    plot.dots(list(zip(intensity, rates)), COLOURS[0], "Ricci")

    def means(points):
        return [(math.exp(sum(math.log(x) for x, _ in part) / len(part)), sum(y for _, y in part) / len(part))
                for part in bins_of(points, 8)]
    plot.line(means(list(zip(intensity, rates))), COLOURS[0], "Ricci, mean")
    if peers:
        plot.line(means(peers), COLOURS[1], "cuTENSOR's best, mean")
    return plot.svg()


def plots(results):
    """(file name, what it shows, SVG) for each plot of (stem, result) pairs, in their order."""
    kinds = {"permute": [("rank", "bandwidth against rank", rank_plot),
                         ("distribution", "distribution of the share of the copy", distribution_plot)],
             "contract": [("intensity", "arithmetic against its intensity", intensity_plot)],
             "contract-predicted": [("intensity", "arithmetic against its intensity, predicted", intensity_plot)],
             "sweep": [("sweep", "bandwidth against size, or threads", sweep_plot)]}
    for stem, result in results:
        for suffix, what, draw in kinds.get(result["bench"], []):
            svg = draw(result)
            if svg:
                yield f"{stem}-{suffix}.svg", f"{what}, {result['set']} {result['dtype']} on {result['device']}", svg
