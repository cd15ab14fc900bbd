"""Everyday programs of several steps, which hand large tensors on: cases behind those of everyday_cases.py."""

import torch
from everyday_cases import FLOATS, REAL, case
from torch import einsum as e
from torch.nn import functional as nn

case(
    "attention",
    ["f32", "bf16"],
    "b=16 h=16 q=1024 k=1024 d=64; x(b,h,q,d) y(b,h,k,d) v(b,h,k,d) -> z(b,h,q,d); "
    "S(b,h,q,k) P(b,h,q,k) M(b,h,q) L(b,h,q)",
    "S(b,h,q,k) = 0.125*sum(d, x(b,h,q,d)*y(b,h,k,d)); M(b,h,q) = maximum(k, S(b,h,q,k)); "
    "P(b,h,q,k) = exp(S(b,h,q,k)-M(b,h,q)); L(b,h,q) = sum(k, P(b,h,q,k)); "
    "z(b,h,q,d) = sum(k, P(b,h,q,k)*v(b,h,k,d))/L(b,h,q)",
    lambda x, y, v: nn.scaled_dot_product_attention(x, y, v, scale=0.125),
)
case(
    "attention_causal",
    ["f32", "bf16"],
    "b=16 h=16 q=1024 k=1024 d=64; x(b,h,q,d) y(b,h,k,d) v(b,h,k,d) -> z(b,h,q,d); "
    "S(b,h,q,k) P(b,h,q,k) M(b,h,q) L(b,h,q)",
    "S(b,h,q,k) = 0.125*sum(d, x(b,h,q,d)*y(b,h,k,d)); M(b,h,q) = maximum(k, guard(k<=q, S(b,h,q,k))); "
    "P(b,h,q,k) = exp(S(b,h,q,k)-M(b,h,q)); L(b,h,q) = sum(k, guard(k<=q, P(b,h,q,k))); "
    "z(b,h,q,d) = sum(k, guard(k<=q, P(b,h,q,k)*v(b,h,k,d)))/L(b,h,q)",
    lambda x, y, v: nn.scaled_dot_product_attention(x, y, v, scale=0.125, is_causal=True),
)
case(
    "gauss_matvec",
    REAL,
    "i=16384 j=16384 k=16; x(i,k) y(j,k) v(j) -> z(i); K(i,j)",
    "K(i,j) = exp(-0.5*sum(k, (x(i,k)-y(j,k))*(x(i,k)-y(j,k)))); z(i) = sum(j, K(i,j)*v(j))",
    lambda x, y, v: torch.exp(-0.5 * torch.cdist(x, y).square_()) @ v,
)
case(
    "mp2_df",
    REAL,
    "i=40 a=160 j=40 b=160 P=800; B(P,i,a) eo(i) ev(a) -> z(); v(i,a,j,b)",
    "v(i,a,j,b) = sum(P, B(P,i,a)*B(P,j,b)); "
    "z() = sum(i a j b, v(i,a,j,b)*(2*v(i,a,j,b)-v(i,b,j,a))/(eo(i)+eo(j)-ev(a)-ev(b)))",
    lambda B, eo, ev: (
        lambda v: (
            v * (2 * v - v.permute(0, 3, 2, 1)) / (eo[:, None, None, None] + eo[:, None] - ev[:, None, None] - ev)
        ).sum()
    )(e("Pia,Pjb->iajb", B, B)),
)
case(
    "trmm",
    FLOATS,
    "i=4096 j=4096 k=4096; x(i,k) y(k,j) -> z(i,j)",
    "z(i,j) = sum(k, guard(k<=i, x(i,k)*y(k,j)))",
    lambda x, y: x.tril() @ y,
)
case(
    "syrk_lower",
    FLOATS,
    "i=4096 j=4096 k=4096; x(i,k) -> z(i,j)",
    "z(i,j) = sum(k, guard(j<=i, x(i,k)*x(j,k)))",
    lambda x: (x @ x.T).tril(),
)
case(
    "masked_mm",
    FLOATS,
    "b=16 i=1024 j=1024 k=1024; x(b,i,k) m(i,k) y(b,k,j) -> z(b,i,j)",
    "z(b,i,j) = sum(k, guard(m(i,k)<0.5, x(b,i,k)*y(b,k,j)))",
    lambda x, m, y: torch.where(m < 0.5, x, 0) @ y,
)
