"""Programs of a statement or a few, as users of tensors write them every day, each with what PyTorch computes for it.

case(name, types, "extents; inputs -> outputs; temps", "statements", function of the inputs): types are those that it is
timed in, of tensors that name none (`real`: the parts of a complex one). {i} in a statement is an extent.
"""

import dataclasses
import re

import torch
from torch import einsum as e
from torch.nn import functional as nn

REAL, FLOATS, COMPLEX = ["f64", "f32"], ["f64", "f32", "bf16"], ["c128", "c64"]
PARTS = {"c128": "f64", "c64": "f32"}
CASES = []


def reach(slot, extents):
    """One more than the greatest value of a sum of indices, `2*i+r` or `i+2`, as in programs."""
    values = re.findall(r"(?:(\d+)\*)?(\w+)", slot)
    return 1 + sum(int(of) if of.isdigit() else int(factor or 1) * (extents[of] - 1) for factor, of in values)


@dataclasses.dataclass
class Case:
    name: str
    types: list
    declared: str
    statements: str
    function: object

    def extents(self, most=None):
        """of the indices, none above `most`, and different ones where that makes them smaller"""
        pairs = re.findall(r"(\w)=(\d+)", self.declared.split(";")[0])
        if most is None:
            return {name: int(value) for name, value in pairs}
        values = sorted({int(value) for _, value in pairs})
        return {name: min(int(value), most - values.index(int(value)) % 4) for name, value in pairs}

    def tensors(self, text, dtype, extents):
        """(name, shape, type, attributes) of what `x(i,j+2) y(2*i+r):real ~z(i)` declares; of ~z 0 is read beyond its ends"""
        made = []
        for wide, name, slots, _, own in re.findall(r"(~?)(\w+)\(([^)]*)\)(:(\w+))?", text):
            shape = [reach(slot, extents) for slot in slots.split(",") if slot]
            made.append((name, shape, PARTS[dtype] if own == "real" else own or dtype, " outside(0)" if wide else ""))
        return made

    def parts(self, dtype, extents):
        _, tensors, *temps = self.declared.split(";")
        inputs, outputs = tensors.split("->")
        # Rounding every intermediate value to 8 bits of a bf16 is what nobody means.
        return (
            self.tensors(inputs, dtype, extents),
            self.tensors(outputs, dtype, extents),
            self.tensors(temps[0] if temps else "", "f32" if dtype == "bf16" else dtype, extents),
        )

    def text(self, dtype, extents):
        lines = [f"index {name} = {extent}" for name, extent in extents.items()]
        for role, tensors in zip(("input", "output", "temp"), self.parts(dtype, extents)):
            lines += [f"{role} {name}({', '.join(map(str, shape))}) : {of}{more}" for name, shape, of, more in tensors]
        named = re.sub(r"\{(\w)\}", lambda index: str(extents[index.group(1)]), self.statements)
        return "\n".join(lines + named.split("; ")) + "\n"


def case(*parts):
    CASES.append(Case(*parts))


case("outer", FLOATS, "i=8192 j=8192; x(i) y(j) -> z(i,j)", "z(i,j) = x(i)*y(j)", lambda x, y: x[:, None] * y)
case("hadamard", FLOATS, "i=8192 j=8192; x(i,j) y(i,j) -> z(i,j)", "z(i,j) = x(i,j)*y(i,j)", lambda x, y: x * y)
case("hadamardT", FLOATS, "i=8192 j=8192; x(i,j) y(j,i) -> z(i,j)", "z(i,j) = x(i,j)*y(j,i)", lambda x, y: x * y.T)
case("symm", FLOATS, "i=8192 j=8192; x(i,j) -> z(i,j)", "z(i,j) = 0.5*(x(i,j)+x(j,i))", lambda x: 0.5 * (x + x.T))
case(
    "diagb",
    REAL,
    "b=65536 i=64; x(b,i,i) -> z(b,i)",
    "z(b,i) = diag(x(b,i,i))",
    lambda x: torch.diagonal(x, dim1=1, dim2=2).contiguous(),
)
case("traceb", REAL, "b=65536 i=64; x(b,i,i) -> z(b)", "z(b) = sum(i, diag(x(b,i,i)))", lambda x: e("bii->b", x))
case("rowsum", FLOATS, "i=16384 j=8192; x(i,j) -> z(i)", "z(i) = sum(j, x(i,j))", lambda x: x.sum(1))
case("colsum", FLOATS, "i=16384 j=8192; x(i,j) -> z(j)", "z(j) = sum(i, x(i,j))", lambda x: x.sum(0))
case("colsum_tall", FLOATS, "i=8388608 j=8; x(i,j) -> z(j)", "z(j) = sum(i, x(i,j))", lambda x: x.sum(0))
case("total", FLOATS, "i=16384 j=8192; x(i,j) -> z()", "z() = sum(i j, x(i,j))", lambda x: x.sum())
case("midsum", FLOATS, "i=512 j=512 k=512; x(i,j,k) -> z(i,k)", "z(i,k) = sum(j, x(i,j,k))", lambda x: x.sum(1))
case("outsum", FLOATS, "i=512 j=512 k=512; x(i,j,k) -> z(j)", "z(j) = sum(i k, x(i,j,k))", lambda x: x.sum((0, 2)))
case("rowmax", FLOATS, "i=16384 j=8192; x(i,j) -> z(i)", "z(i) = maximum(j, x(i,j))", lambda x: x.amax(1))
case("colmax", FLOATS, "i=16384 j=8192; x(i,j) -> z(j)", "z(j) = maximum(i, x(i,j))", lambda x: x.amax(0))
case(
    "softmax",
    FLOATS,
    "i=16384 j=4096; x(i,j) -> z(i,j); m(i) s(i)",
    "m(i) = maximum(j, x(i,j)); s(i) = sum(j, exp(x(i,j)-m(i))); z(i,j) = exp(x(i,j)-m(i))/s(i)",
    lambda x: torch.softmax(x, 1),
)
case(
    "softmax_short",
    FLOATS,
    "i=1048576 j=64; x(i,j) -> z(i,j); m(i) s(i)",
    "m(i) = maximum(j, x(i,j)); s(i) = sum(j, exp(x(i,j)-m(i))); z(i,j) = exp(x(i,j)-m(i))/s(i)",
    lambda x: torch.softmax(x, 1),
)
case(
    "logsumexp",
    FLOATS,
    "i=16384 j=4096; x(i,j) -> z(i); m(i)",
    "m(i) = maximum(j, x(i,j)); z(i) = m(i) + log(sum(j, exp(x(i,j)-m(i))))",
    lambda x: torch.logsumexp(x, 1),
)
case(
    "layernorm",
    FLOATS,
    "i=16384 j=4096; x(i,j) w(j) b(j) -> z(i,j); m(i) v(i)",
    "m(i) = sum(j, x(i,j))/{j}; v(i) = rsqrt(sum(j, (x(i,j)-m(i))*(x(i,j)-m(i)))/{j} + 1e-5); z(i,j) = (x(i,j)-m(i))*v(i)*w(j)+b(j)",
    lambda x, w, b: nn.layer_norm(x, x.shape[1:], w, b),
)
case(
    "rmsnorm",
    FLOATS,
    "i=16384 j=4096; x(i,j) w(j) -> z(i,j); v(i)",
    "v(i) = rsqrt(sum(j, x(i,j)*x(i,j))/{j} + 1e-5); z(i,j) = x(i,j)*v(i)*w(j)",
    lambda x, w: nn.rms_norm(x, x.shape[1:], w, 1e-5),
)
case(
    "gelu",
    FLOATS,
    "i=16384 j=4096; x(i,j) -> z(i,j)",
    "z(i,j) = 0.5*x(i,j)*(1+tanh(0.7978845608028654*(x(i,j)+0.044715*x(i,j)*x(i,j)*x(i,j))))",
    lambda x: nn.gelu(x, approximate="tanh"),
)
case(
    "silu_mul",
    FLOATS,
    "i=16384 j=4096; x(i,j) y(i,j) -> z(i,j)",
    "z(i,j) = x(i,j)/(1+exp(-x(i,j)))*y(i,j)",
    lambda x, y: nn.silu(x) * y,
)
case(
    "relu_bias",
    FLOATS,
    "i=16384 j=4096; x(i,j) b(j) -> z(i,j)",
    "z(i,j) = max(x(i,j)+b(j), 0.0)",
    lambda x, b: torch.relu(x + b),
)
case("cast_bf16_f32", ["bf16"], "i=16384 j=8192; x(i,j) -> z(i,j):f32", "z(i,j) = x(i,j)", lambda x: x.float())
case(
    "linear_gelu",
    FLOATS,
    "i=8192 j=4096 k=4096; x(i,k) w(j,k) b(j) -> z(i,j); y(i,j)",
    "y(i,j) = sum(k, x(i,k)*w(j,k)) + b(j); z(i,j) = 0.5*y(i,j)*(1+tanh(0.7978845608028654*(y(i,j)+0.044715*y(i,j)*y(i,j)*y(i,j))))",
    lambda x, w, b: nn.gelu(nn.linear(x, w, b), approximate="tanh"),
)
case(
    "scores",
    FLOATS,
    "b=16 h=16 q=1024 k=1024 d=64; x(b,q,h,d) y(b,k,h,d) -> z(b,h,q,k)",
    "z(b,h,q,k) = sum(d, x(b,q,h,d)*y(b,k,h,d))",
    lambda x, y: e("bqhd,bkhd->bhqk", x, y),
)
case(
    "attnv",
    FLOATS,
    "b=16 h=16 q=1024 k=1024 d=64; p(b,h,q,k) y(b,k,h,d) -> z(b,q,h,d)",
    "z(b,q,h,d) = sum(k, p(b,h,q,k)*y(b,k,h,d))",
    lambda p, y: e("bhqk,bkhd->bqhd", p, y),
)
case(
    "bilinear",
    FLOATS,
    "n=4096 o=128 p=128 q=128; x(n,p) w(o,p,q) y(n,q) -> z(n,o)",
    "z(n,o) = sum(p q, x(n,p)*w(o,p,q)*y(n,q))",
    lambda x, w, y: nn.bilinear(x, y, w),
)
case(
    "mttkrp",
    FLOATS,
    "i=512 j=512 k=512 r=64; t(i,j,k) b(j,r) d(k,r) -> z(i,r)",
    "z(i,r) = sum(j k, t(i,j,k)*b(j,r)*d(k,r))",
    lambda t, b, d: e("ijr,jr->ir", e("ijk,kr->ijr", t, d), b),
)
case(
    "mttkrp_mid",
    FLOATS,
    "i=512 j=512 k=512 r=64; t(i,j,k) b(i,r) d(k,r) -> z(j,r)",
    "z(j,r) = sum(i k, t(i,j,k)*b(i,r)*d(k,r))",
    lambda t, b, d: e("ijr,ir->jr", e("ijk,kr->ijr", t, d), b),
)
case(
    "tucker",
    FLOATS,
    "i=512 j=512 k=512 a=64 b=64 c=64; t(i,j,k) x(i,a) y(j,b) z(k,c) -> o(a,b,c)",
    "o(a,b,c) = sum(i j k, t(i,j,k)*x(i,a)*y(j,b)*z(k,c))",
    lambda t, x, y, z: e("ibc,ia->abc", e("ijc,jb->ibc", e("ijk,kc->ijc", t, z), y), x),
)
case(
    "cp",
    FLOATS,
    "i=512 j=512 k=512 r=64; x(i,r) y(j,r) z(k,r) -> o(i,j,k)",
    "o(i,j,k) = sum(r, x(i,r)*y(j,r)*z(k,r))",
    lambda x, y, z: e("ijr,kr->ijk", e("ir,jr->ijr", x, y), z),
)
case(
    "khatri",
    FLOATS,
    "i=1024 j=1024 r=64; x(i,r) y(j,r) -> o(i,j,r)",
    "o(i,j,r) = x(i,r)*y(j,r)",
    lambda x, y: e("ir,jr->ijr", x, y),
)
case(
    "bmm3",
    FLOATS,
    "b=2000000 i=3 j=3 k=3; x(b,i,j) y(b,j,k) -> z(b,i,k)",
    "z(b,i,k) = sum(j, x(b,i,j)*y(b,j,k))",
    lambda x, y: torch.bmm(x, y),
)
case(
    "bmm4",
    FLOATS,
    "b=1000000 i=4 j=4 k=4; x(b,i,j) y(b,j,k) -> z(b,i,k)",
    "z(b,i,k) = sum(j, x(b,i,j)*y(b,j,k))",
    lambda x, y: torch.bmm(x, y),
)
case(
    "bmm8",
    FLOATS,
    "b=400000 i=8 j=8 k=8; x(b,i,j) y(b,j,k) -> z(b,i,k)",
    "z(b,i,k) = sum(j, x(b,i,j)*y(b,j,k))",
    lambda x, y: torch.bmm(x, y),
)
case(
    "bmm16",
    FLOATS,
    "b=100000 i=16 j=16 k=16; x(b,i,j) y(b,j,k) -> z(b,i,k)",
    "z(b,i,k) = sum(j, x(b,i,j)*y(b,j,k))",
    lambda x, y: torch.bmm(x, y),
)
case(
    "bmm4_soa",
    REAL,
    "b=1000000 i=4 j=4 k=4; x(i,j,b) y(j,k,b) -> z(i,k,b)",
    "z(i,k,b) = sum(j, x(i,j,b)*y(j,k,b))",
    lambda x, y: e("ijb,jkb->ikb", x, y),
)
case(
    "bgemv",
    FLOATS,
    "b=65536 i=32 j=32; x(b,i,j) y(b,j) -> z(b,i)",
    "z(b,i) = sum(j, x(b,i,j)*y(b,j))",
    lambda x, y: e("bij,bj->bi", x, y),
)
case(
    "quad",
    FLOATS,
    "b=262144 i=128 j=128; x(b,i) w(i,j) y(b,j) -> z(b)",
    "z(b) = sum(i j, x(b,i)*w(i,j)*y(b,j))",
    lambda x, w, y: ((x @ w) * y).sum(1),
)
case(
    "rho",
    REAL,
    "g=200000 m=200 n=200; p(g,m) d(m,n) -> z(g)",
    "z(g) = sum(m n, p(g,m)*d(m,n)*p(g,n))",
    lambda p, d: ((p @ d) * p).sum(1),
)
case(
    "dist2",
    FLOATS,
    "i=4096 j=4096 k=64; x(i,k) y(j,k) -> z(i,j)",
    "z(i,j) = sum(k, (x(i,k)-y(j,k))*(x(i,k)-y(j,k)))",
    lambda x, y: (x * x).sum(1)[:, None] + (y * y).sum(1) - 2 * x @ y.T,
)
case(
    "rbf",
    REAL,
    "i=4096 j=4096 k=64; x(i,k) y(j,k) -> z(i,j)",
    "z(i,j) = exp(-0.5*sum(k, (x(i,k)-y(j,k))*(x(i,k)-y(j,k))))",
    lambda x, y: torch.exp(-0.5 * ((x * x).sum(1)[:, None] + (y * y).sum(1) - 2 * x @ y.T)),
)
case(
    "l1dist",
    REAL,
    "i=4096 j=4096 k=64; x(i,k) y(j,k) -> z(i,j)",
    "z(i,j) = sum(k, abs(x(i,k)-y(j,k)))",
    lambda x, y: torch.cdist(x, y, p=1),
)
case(
    "linfdist",
    REAL,
    "i=4096 j=4096 k=64; x(i,k) y(j,k) -> z(i,j)",
    "z(i,j) = maximum(k, abs(x(i,k)-y(j,k)))",
    lambda x, y: torch.cdist(x, y, p=float("inf")),
)
case(
    "gauss_sum",
    REAL,
    "i=4096 j=4096 k=16; x(i,k) y(j,k) -> z(i,j)",
    "z(i,j) = sum(k, exp(-(x(i,k)-y(j,k))*(x(i,k)-y(j,k))))",
    lambda x, y: torch.exp(-((x[:, None] - y).square_())).sum(2),
)
case(
    "minplus",
    REAL,
    "i=1024 j=1024 k=1024; x(i,k) y(k,j) -> z(i,j)",
    "z(i,j) = minimum(k, x(i,k)+y(k,j))",
    lambda x, y: (x[:, None] + y.T).amin(2),
)
case(
    "viterbi",
    REAL,
    "i=1024 j=1024 k=1024; x(i,k) y(k,j) -> z(i,j)",
    "z(i,j) = maximum(k, x(i,k)*y(k,j))",
    lambda x, y: (x[:, None] * y.T).amax(2),
)
case(
    "fock_j",
    REAL,
    "p=96 q=96 r=96 s=96; g(p,q,r,s) d(r,s) -> z(p,q)",
    "z(p,q) = sum(r s, g(p,q,r,s)*d(r,s))",
    lambda g, d: e("pqrs,rs->pq", g, d),
)
case(
    "fock_k",
    REAL,
    "p=96 q=96 r=96 s=96; g(p,r,q,s) d(r,s) -> z(p,q)",
    "z(p,q) = sum(r s, g(p,r,q,s)*d(r,s))",
    lambda g, d: e("prqs,rs->pq", g, d),
)
case(
    "fock_2jk",
    REAL,
    "p=96 q=96 r=96 s=96; g(p,q,r,s) d(r,s) h(p,q) -> z(p,q)",
    "z(p,q) = h(p,q) + sum(r s, (2*g(p,q,r,s)-g(p,r,q,s))*d(r,s))",
    lambda g, d, h: h + 2 * e("pqrs,rs->pq", g, d) - e("prqs,rs->pq", g, d),
)
case(
    "df_k",
    REAL,
    "P=800 m=256 n=256 i=64; B(P,m,n) D(n,i) -> z(m,n); X(P,m,i)",
    "X(P,m,i) = sum(n, B(P,m,n)*D(n,i)); z(m,n) = sum(P i, X(P,m,i)*X(P,n,i))",
    lambda B, D: (lambda X: e("Pmi,Pni->mn", X, X))(B @ D),
)
case(
    "df_j",
    REAL,
    "P=800 m=256 n=256; B(P,m,n) D(m,n) -> z(m,n); X(P)",
    "X(P) = sum(m n, B(P,m,n)*D(m,n)); z(m,n) = sum(P, X(P)*B(P,m,n))",
    lambda B, D: e("P,Pmn->mn", e("Pmn,mn->P", B, D), B),
)
case(
    "exch",
    REAL,
    "i=40 a=120 j=40 b=120; t(i,a,j,b) v(i,a,j,b) -> z()",
    "z() = sum(i a j b, t(i,a,j,b)*v(i,b,j,a))",
    lambda t, v: (t * v.permute(0, 3, 2, 1)).sum(),
)
case(
    "exch3",
    REAL,
    "i=300 j=300 k=300; t(i,j,k) v(k,j,i) -> z()",
    "z() = sum(i j k, t(i,j,k)*v(k,j,i))",
    lambda t, v: (t * v.permute(2, 1, 0)).sum(),
)
case(
    "mp2",
    REAL,
    "i=40 a=160 j=40 b=160; v(i,a,j,b) eo(i) ev(a) -> z()",
    "z() = sum(i a j b, v(i,a,j,b)*(2*v(i,a,j,b)-v(i,b,j,a))/(eo(i)+eo(j)-ev(a)-ev(b)))",
    lambda v, eo, ev: (
        v * (2 * v - v.permute(0, 3, 2, 1)) / (eo[:, None, None, None] + eo[:, None] - ev[:, None, None] - ev)
    ).sum(),
)
case(
    "antisym4",
    REAL,
    "a=96 b=96 i=40 j=40; t(a,b,i,j) -> z(a,b,i,j)",
    "z(a,b,i,j) = t(a,b,i,j)-t(b,a,i,j)-t(a,b,j,i)+t(b,a,j,i)",
    lambda t: (lambda u: u - u.transpose(2, 3))(t - t.transpose(0, 1)),
)
case(
    "antisym_prod",
    REAL,
    "a=96 b=96 i=40 j=40 m=40 e=96; t(a,e,i,m) w(m,b,e,j) -> z(a,b,i,j)",
    "z(a,b,i,j) = sum(m e, t(a,e,i,m)*w(m,b,e,j)) - sum(m e, t(b,e,i,m)*w(m,a,e,j)) - sum(m e, t(a,e,j,m)*w(m,b,e,i)) + sum(m e, t(b,e,j,m)*w(m,a,e,i))",
    lambda t, w: (lambda u: u - u.transpose(2, 3))((lambda y: y - y.transpose(0, 1))(e("aeim,mbej->abij", t, w))),
)
case(
    "denom",
    REAL,
    "a=120 b=120 i=40 j=40; t(a,b,i,j) eo(i) ev(a) -> z(a,b,i,j)",
    "z(a,b,i,j) = t(a,b,i,j)/(eo(i)+eo(j)-ev(a)-ev(b))",
    lambda t, eo, ev: t / (eo[:, None] + eo - ev[:, None, None, None] - ev[:, None, None]),
)
case(
    "tau",
    REAL,
    "a=120 b=120 i=40 j=40; t(a,b,i,j) s(a,i) -> z(a,b,i,j)",
    "z(a,b,i,j) = t(a,b,i,j)+s(a,i)*s(b,j)-s(b,i)*s(a,j)",
    lambda t, s: t + e("ai,bj->abij", s, s) - e("bi,aj->abij", s, s),
)
case("scan_row", REAL, "i=16384 j=8192; x(i,j) -> z(i,j)", "z(i,j) = scan(sum, j, x(i,j))", lambda x: x.cumsum(1))
case("scan_col", REAL, "i=8192 j=16384; x(i,j) -> z(i,j)", "z(i,j) = scan(sum, i, x(i,j))", lambda x: x.cumsum(0))
case(
    "tril_mul",
    REAL,
    "i=8192 j=8192; x(i,j) y(i,j) -> z(i,j)",
    "z(i,j) = select(j <= i, x(i,j)*y(i,j), 0.0)",
    lambda x, y: torch.tril(x * y),
)
case(
    "causal",
    FLOATS,
    "b=16 h=16 q=1024 k=1024 d=64; x(b,h,q,d) y(b,h,k,d) -> z(b,h,q,k)",
    "z(b,h,q,k) = select(k <= q, sum(d, x(b,h,q,d)*y(b,h,k,d)), -1e30)",
    lambda x, y: torch.where(
        torch.tril(torch.ones(x.shape[2], y.shape[2], dtype=torch.bool, device=x.device)),
        e("bhqd,bhkd->bhqk", x, y),
        torch.tensor(-1e30, dtype=x.dtype, device=x.device),
    ),
)
case(
    "skinny8",
    FLOATS,
    "i=4000000 k=8 j=8; x(i,k) w(k,j) -> z(i,j)",
    "z(i,j) = sum(k, x(i,k)*w(k,j))",
    lambda x, w: x @ w,
)
case("rot3", REAL, "i=8000000 k=3 j=3; x(i,k) w(k,j) -> z(i,j)", "z(i,j) = sum(k, x(i,k)*w(k,j))", lambda x, w: x @ w)
case(
    "gram8",
    FLOATS,
    "k=4000000 i=8 j=8; x(k,i) y(k,j) -> z(i,j)",
    "z(i,j) = sum(k, x(k,i)*y(k,j))",
    lambda x, y: x.T @ y,
)
case(
    "gram32",
    FLOATS,
    "k=1000000 i=32 j=32; x(k,i) y(k,j) -> z(i,j)",
    "z(i,j) = sum(k, x(k,i)*y(k,j))",
    lambda x, y: x.T @ y,
)
case("gemv", FLOATS, "i=16384 k=8192; x(i,k) y(k) -> z(i)", "z(i) = sum(k, x(i,k)*y(k))", lambda x, y: x @ y)
case("gemvT", FLOATS, "i=16384 k=8192; x(i,k) y(i) -> z(k)", "z(k) = sum(i, x(i,k)*y(i))", lambda x, y: y @ x)
case(
    "var",
    REAL,
    "i=65536 j=1024; x(i,j) -> z(j); m(j)",
    "m(j) = sum(i, x(i,j))/{i}; z(j) = sum(i, (x(i,j)-m(j))*(x(i,j)-m(j)))/({i}-1)",
    lambda x: x.var(0),
)
case(
    "cosine",
    FLOATS,
    "i=4096 j=4096 k=512; x(i,k) y(j,k) -> z(i,j); a(i) b(j)",
    "a(i) = rsqrt(sum(k, x(i,k)*x(i,k))); b(j) = rsqrt(sum(k, y(j,k)*y(j,k))); z(i,j) = a(i)*b(j)*sum(k, x(i,k)*y(j,k))",
    lambda x, y: nn.normalize(x) @ nn.normalize(y).T,
)
case(
    "norm_rows",
    REAL,
    "i=65536 j=1024 k=1024; x(i,j) -> z(i,j)",
    "z(i,j) = x(i,j)/sqrt(sum(k, x(i,k)*x(i,k)))",
    lambda x: x / x.norm(dim=1, keepdim=True),
)
case(
    "kron",
    FLOATS,
    "i=96 j=96 k=96 l=96; x(i,j) y(k,l) -> z(i,k,j,l)",
    "z(i,k,j,l) = x(i,j)*y(k,l)",
    lambda x, y: torch.kron(x, y),
)
case(
    "chain",
    FLOATS,
    "a=4096 b=64 c=4096 d=64 f=4096; x(a,b) y(b,c) z(c,d) w(d,f) -> o(a,f)",
    "o(a,f) = sum(b c d, x(a,b)*y(b,c)*z(c,d)*w(d,f))",
    lambda x, y, z, w: x @ (y @ z) @ w,
)
case(
    "ada",
    FLOATS,
    "i=4096 j=4096 k=4096; x(i,k) d(k) -> z(i,j)",
    "z(i,j) = sum(k, x(i,k)*d(k)*x(j,k))",
    lambda x, d: (x * d) @ x.T,
)
case(
    "partial_tr",
    REAL,
    "a=64 i=64 b=64 j=64; x(a,i,b,j) -> z(a,b)",
    "z(a,b) = sum(i, diag(x(a,i,b,i)))",
    lambda x: e("aibi->ab", x),
)
case(
    "ijkl_lj",
    REAL,
    "i=128 j=128 k=128 l=64; x(i,j,k,l) y(l,j) -> z(i,k)",
    "z(i,k) = sum(j l, x(i,j,k,l)*y(l,j))",
    lambda x, y: e("ijkl,lj->ik", x, y),
)
case(
    "mps",
    REAL,
    "a=512 s=4 b=512 c=512 d=512; L(a,c) M(a,s,b) N(c,s,d) -> z(b,d)",
    "z(b,d) = sum(a c s, L(a,c)*M(a,s,b)*N(c,s,d))",
    lambda L, M, N: e("asb,asd->bd", M, e("ac,csd->asd", L, N)),
)
case(
    "jacobi",
    FLOATS,
    "i=8190 j=8190; u(i+2,j+2) -> z(i,j)",
    "z(i,j) = 0.25*(u(i+0,j+1)+u(i+2,j+1)+u(i+1,j+0)+u(i+1,j+2))",
    lambda u: 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]),
)
case(
    "moments",
    REAL,
    "i=134217728; x(i) -> s() q() m()",
    "s() = sum(i, x(i)); q() = sum(i, x(i)*x(i)); m() = maximum(i, abs(x(i)))",
    lambda x: (x.sum(), (x * x).sum(), x.abs().amax()),
)
case("dot", FLOATS, "i=134217728; x(i) y(i) -> z()", "z() = sum(i, x(i)*y(i))", lambda x, y: x @ y)
case(
    "axpby", FLOATS, "i=134217728; x(i) y(i) -> z(i)", "z(i) = 2*x(i)+3*y(i)", lambda x, y: torch.add(2 * x, y, alpha=3)
)
case("count", REAL, "i=134217728; x(i) -> z():i64", "z() = sum(i, x(i) > 0.5)", lambda x: (x > 0.5).sum())
case(
    "entropy",
    REAL,
    "i=16384 j=4096; x(i,j) -> z(i)",
    "z(i) = -sum(j, (x(i,j)+1.5)*log(x(i,j)+1.5))",
    lambda x: -((x + 1.5) * torch.log(x + 1.5)).sum(1),
)
case("cdot", COMPLEX, "i=33554432; x(i) y(i) -> z()", "z() = sum(i, conj(x(i))*y(i))", lambda x, y: torch.vdot(x, y))
case(
    "cabs2",
    COMPLEX,
    "i=8192 j=4096; x(i,j) -> z(i,j):real",
    "z(i,j) = real(x(i,j)*conj(x(i,j)))",
    lambda x: (x * x.conj()).real.contiguous(),
)
case(
    "cphase",
    COMPLEX,
    "i=8192 j=4096; x(i,j) p(j) -> z(i,j)",
    "z(i,j) = x(i,j)*exp(1i*p(j))",
    lambda x, p: x * torch.exp(1j * p),
)
case(
    "cherk",
    COMPLEX,
    "i=2048 j=2048 k=2048; x(i,k) -> z(i,j)",
    "z(i,j) = sum(k, x(i,k)*conj(x(j,k)))",
    lambda x: x @ x.conj().T,
)
case(
    "creal",
    COMPLEX,
    "i=2048 k=2048 j=2048; x(i,k) y(k,j):real -> z(i,j)",
    "z(i,j) = sum(k, x(i,k)*y(k,j))",
    lambda x, y: x @ y.to(x.dtype),
)
case(
    "cbmm4",
    COMPLEX,
    "b=500000 i=4 j=4 k=4; x(b,i,j) y(b,j,k) -> z(b,i,k)",
    "z(b,i,k) = sum(j, x(b,i,j)*y(b,j,k))",
    lambda x, y: torch.bmm(x, y),
)
case(
    "apply_gate",
    COMPLEX,
    "a=4096 s=2 t=2 b=8192; u(s,t) x(a,t,b) -> z(a,s,b)",
    "z(a,s,b) = sum(t, u(s,t)*x(a,t,b))",
    lambda u, x: e("st,atb->asb", u, x),
)
case(
    "gate2",
    COMPLEX,
    "a=256 s=2 t=2 m=128 p=2 q=2 b=512; u(s,p,t,q) x(a,t,m,q,b) -> z(a,s,m,p,b)",
    "z(a,s,m,p,b) = sum(t q, u(s,p,t,q)*x(a,t,m,q,b))",
    lambda u, x: e("sptq,atmqb->asmpb", u, x),
)
