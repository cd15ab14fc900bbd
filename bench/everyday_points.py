"""Programs of points and samples for everyday.py: pairs of points, statistics, normalisations (everyday_cases.case).

What of pairs PyTorch has no function for is an array of all of them.
"""

import torch
from everyday_cases import FLOATS, REAL, case
from torch.nn import functional as nn

DISTANCE2 = "((x(j,0)-x(i,0))*(x(j,0)-x(i,0))+(x(j,1)-x(i,1))*(x(j,1)-x(i,1))+(x(j,2)-x(i,2))*(x(j,2)-x(i,2))+0.01)"
case(
    "nbody",
    REAL,
    "i=8192 j=8192 c=3; x(i,c) m(j) -> a(i,c)",
    f"a(i,c) = sum(j, m(j)*rsqrt({DISTANCE2})/{DISTANCE2}*(x(j,c)-x(i,c)))",
    lambda x, m: (lambda d: torch.einsum("ijc,ij->ic", d, m * (d.square().sum(2) + 0.01) ** -1.5))(x - x[:, None]),
)
case(
    "pair_energy",
    REAL,
    "i=8192 j=8192 c=3; x(i,c) -> z()",
    f"z() = sum(i j, guard(i < j, (1/{DISTANCE2}-1)/({DISTANCE2}*{DISTANCE2})))",
    lambda x: (lambda r: torch.triu((r - 1) * r * r, 1).sum())(1 / ((x - x[:, None]).square().sum(2) + 0.01)),
)
case(
    "gauss_field",
    REAL,
    "g=262144 m=512 c=3; r(g,c) q(m,c) w(m) a(m) -> z(g)",
    "z(g) = sum(m, w(m)*exp(-a(m)*sum(c, (r(g,c)-q(m,c))*(r(g,c)-q(m,c)))))",
    lambda r, q, w, a: (w * torch.exp(-a * (r[:, None] - q).square().sum(2))).sum(1),
)
case(
    "structure",
    REAL,
    "k=8192 i=8192 c=3; q(k,c) x(i,c) -> z(k); p(k) s(k)",
    "p(k) = sum(i, cos(sum(c, q(k,c)*x(i,c)))); s(k) = sum(i, sin(sum(c, q(k,c)*x(i,c)))); z(k) = p(k)*p(k)+s(k)*s(k)",
    lambda q, x: (lambda a: a.cos().sum(1) ** 2 + a.sin().sum(1) ** 2)(q @ x.T),
)
case(
    "cov",
    REAL,
    "n=65536 i=512 j=512; x(n,i) -> z(i,j); m(i)",
    "m(i) = sum(n, x(n,i))/{n}; z(i,j) = sum(n, (x(n,i)-m(i))*(x(n,j)-m(j)))/({n}-1)",
    lambda x: torch.cov(x.T),
)
case(
    "weighted",
    REAL,
    "g=100000 m=200 n=200; p(g,m) w(g) -> z(m,n)",
    "z(m,n) = sum(g, p(g,m)*w(g)*p(g,n))",
    lambda p, w: (p * w[:, None]).T @ p,
)
case(
    "batchnorm",
    REAL,
    "n=64 c=256 h=56 w=56; x(n,c,h,w) g(c) b(c) -> z(n,c,h,w); m(c) v(c)",
    "m(c) = sum(n h w, x(n,c,h,w))/({n}*{h}*{w}); v(c) = rsqrt(sum(n h w, (x(n,c,h,w)-m(c))*(x(n,c,h,w)-m(c)))/({n}*{h}*{w}) + 1e-5); z(n,c,h,w) = (x(n,c,h,w)-m(c))*v(c)*g(c)+b(c)",
    lambda x, g, b: nn.batch_norm(x, None, None, g, b, True),
)
case(
    "causal_softmax",
    FLOATS,
    "b=64 q=1024 k=1024; x(b,q,k) -> z(b,q,k); m(b,q) s(b,q)",
    "m(b,q) = maximum(k, guard(k <= q, x(b,q,k))); s(b,q) = sum(k, guard(k <= q, exp(x(b,q,k)-m(b,q)))); z(b,q,k) = select(k <= q, exp(x(b,q,k)-m(b,q))/s(b,q), 0.0)",
    lambda x: torch.softmax(
        x.masked_fill(torch.ones(x.shape[1:], dtype=torch.bool, device=x.device).triu(1), -torch.inf), 2
    ),
)
