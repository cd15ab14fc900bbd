#!/usr/bin/env python3
"""Reads what Nsight Compute counted (its raw page as CSV) and writes one row per kernel: what memory and the multiprocessors did.

usage: bench/profile.py RAW OUT.csv     of each kernel the second launch counts, where there are several
"""
import csv
import sys

STALL = "smsp__average_warps_issue_stalled_{}_per_issue_active.ratio"
COLUMNS = {
    "us": ("gpu__time_duration.sum", 1e-3),
    "dram_GBs": ("dram__bytes.sum.per_second", 1e-9),
    "dram_read_MB": ("dram__bytes_read.sum", 1e-6),
    "dram_written_MB": ("dram__bytes_write.sum", 1e-6),
    "dram_active_percent": ("dram__cycles_active.avg.pct_of_peak_sustained_elapsed", 1),
    "l2_read_sectors": ("lts__t_sectors_srcunit_tex_op_read.sum", 1),
    "l2_written_sectors": ("lts__t_sectors_srcunit_tex_op_write.sum", 1),
    "bytes_of_sector_read": ("smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio", 1),
    "bytes_of_sector_written": ("smsp__sass_average_data_bytes_per_sector_mem_global_op_st.ratio", 1),
    "bank_conflicts": ("l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", 1),
    "registers": ("launch__registers_per_thread", 1),
    "warps_active_percent": ("sm__warps_active.avg.pct_of_peak_sustained_active", 1),
    "issue_active_percent": ("sm__issue_active.avg.pct_of_peak_sustained_elapsed", 1),
    **{f"stall_{name}": (STALL.format(name), 1) for name in
       ("long_scoreboard", "barrier", "lg_throttle", "mio_throttle", "short_scoreboard", "math_pipe_throttle", "wait")},
}


def rows(raw):
    """Of each kernel, in the order of its first launch, the row of its second launch, or of the only one."""
    table = list(csv.reader(line for line in raw if line.startswith('"')))
    if len(table) < 3:
        sys.exit("no kernels were profiled; does this machine let the profiler read its counters?")
    header, launches = table[0], table[2:]  # between them the units
    kernels = {}
    for launch in launches:
        row = dict(zip(header, launch))
        kernels.setdefault(row["Kernel Name"], []).append(row)
    return [launches[min(1, len(launches) - 1)] for launches in kernels.values()]


def figure(row, name, scale):
    text = row.get(name, "").replace(",", "")
    return f"{float(text) * scale:.5g}" if text else ""


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with open(sys.argv[1]) as raw, open(sys.argv[2], "w", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(["kernel", *COLUMNS])
        for row in rows(raw):
            writer.writerow([row["Kernel Name"], *(figure(row, name, scale) for name, scale in COLUMNS.values())])


if __name__ == "__main__":
    main()
