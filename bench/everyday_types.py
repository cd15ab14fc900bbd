"""Products whose results are of another type than their operands, for everyday.py (everyday_cases.case)."""

import torch
from everyday_cases import case

case(
    "i8mm",
    ["i8"],
    "i=4096 j=4096 k=4096; x(i,k) y(j,k) -> z(i,j):i32",
    "z(i,j) = sum(k, cast(i32, x(i,k))*cast(i32, y(j,k)))",
    lambda x, y: torch._int_mm(x, y.T),
)
case(
    "i8mm_nn",
    ["i8"],
    "i=4096 j=4096 k=4096; x(i,k) y(k,j) -> z(i,j):i32",
    "z(i,j) = sum(k, cast(i32, x(i,k))*cast(i32, y(k,j)))",
    torch._int_mm,
)
case(
    "i8mm_few_rows",
    ["i8"],
    "i=32 j=4096 k=4096; x(i,k) y(j,k) -> z(i,j):i32",
    "z(i,j) = sum(k, cast(i32, x(i,k))*cast(i32, y(j,k)))",
    lambda x, y: torch._int_mm(x, y.T),
)
case(
    "mixed_bf16_f32",
    ["bf16"],
    "i=4096 j=4096 k=4096; x(i,k) y(k,j) -> z(i,j):f32",
    "z(i,j) = sum(k, x(i,k)*y(k,j))",
    lambda x, y: (x @ y).float(),
)
