"""Programs that read in windows (convolutions and their gradients, pooling, filters, stencils), as everyday_cases.py."""

import torch
from everyday_cases import FLOATS, REAL, case
from torch.nn import functional as nn

case(
    "conv3x3",
    FLOATS,
    "n=32 c=64 k=64 i=56 j=56 r=3 s=3; x(n,c,i+r,j+s) w(k,c,r,s) -> z(n,k,i,j)",
    "z(n,k,i,j) = sum(c r s, x(n,c,i+r,j+s)*w(k,c,r,s))",
    lambda x, w: nn.conv2d(x, w),
)
case(
    "conv3x3_deep",
    FLOATS,
    "n=32 c=256 k=256 i=14 j=14 r=3 s=3; x(n,c,i+r,j+s) w(k,c,r,s) -> z(n,k,i,j)",
    "z(n,k,i,j) = sum(c r s, x(n,c,i+r,j+s)*w(k,c,r,s))",
    lambda x, w: nn.conv2d(x, w),
)
case(
    "conv3x3_nhwc",
    FLOATS,
    "n=32 c=64 k=64 i=56 j=56 r=3 s=3; x(n,i+r,j+s,c) w(k,r,s,c) -> z(n,i,j,k)",
    "z(n,i,j,k) = sum(c r s, x(n,i+r,j+s,c)*w(k,r,s,c))",
    lambda x, w: nn.conv2d(x.permute(0, 3, 1, 2), w.permute(0, 3, 1, 2)).permute(0, 2, 3, 1),
)
case(
    "conv1x1",
    FLOATS,
    "n=32 c=64 k=256 i=56 j=56; x(n,c,i,j) w(k,c) -> z(n,k,i,j)",
    "z(n,k,i,j) = sum(c, x(n,c,i,j)*w(k,c))",
    lambda x, w: nn.conv2d(x, w[:, :, None, None]),
)
case(
    "conv3x3_half",
    FLOATS,
    "n=32 c=64 k=128 i=28 j=28 r=3 s=3; x(n,c,2*i+r,2*j+s) w(k,c,r,s) -> z(n,k,i,j)",
    "z(n,k,i,j) = sum(c r s, x(n,c,2*i+r,2*j+s)*w(k,c,r,s))",
    lambda x, w: nn.conv2d(x, w, stride=2),
)
case(
    "conv7x7",
    FLOATS,
    "n=32 c=3 k=64 i=112 j=112 r=7 s=7; x(n,c,2*i+r,2*j+s) w(k,c,r,s) -> z(n,k,i,j)",
    "z(n,k,i,j) = sum(c r s, x(n,c,2*i+r,2*j+s)*w(k,c,r,s))",
    lambda x, w: nn.conv2d(x, w, stride=2),
)
case(
    "conv1d",
    FLOATS,
    "n=32 c=128 k=128 i=4096 r=5; x(n,c,i+r) w(k,c,r) -> z(n,k,i)",
    "z(n,k,i) = sum(c r, x(n,c,i+r)*w(k,c,r))",
    lambda x, w: nn.conv1d(x, w),
)
case(
    "conv3d",
    FLOATS,
    "n=4 c=32 k=32 i=32 j=32 l=32 r=3 s=3 t=3; x(n,c,i+r,j+s,l+t) w(k,c,r,s,t) -> z(n,k,i,j,l)",
    "z(n,k,i,j,l) = sum(c r s t, x(n,c,i+r,j+s,l+t)*w(k,c,r,s,t))",
    lambda x, w: nn.conv3d(x, w),
)
case(
    "depthwise",
    FLOATS,
    "n=32 c=128 i=56 j=56 r=3 s=3; x(n,c,i+r,j+s) w(c,r,s) -> z(n,c,i,j)",
    "z(n,c,i,j) = sum(r s, x(n,c,i+r,j+s)*w(c,r,s))",
    lambda x, w: nn.conv2d(x, w[:, None], groups=len(w)),
)
case(
    "conv3x3_wgrad",
    FLOATS,
    "n=32 c=64 k=64 i=56 j=56 r=3 s=3; x(n,c,i+r,j+s) g(n,k,i,j) -> z(k,c,r,s)",
    "z(k,c,r,s) = sum(n i j, x(n,c,i+r,j+s)*g(n,k,i,j))",
    lambda x, g: torch.nn.grad.conv2d_weight(x, (g.shape[1], x.shape[1], 3, 3), g),
)
case(
    "avgpool",
    FLOATS,
    "n=32 c=64 i=112 j=112 r=2 s=2; x(n,c,2*i+r,2*j+s) -> z(n,c,i,j)",
    "z(n,c,i,j) = 0.25*sum(r s, x(n,c,2*i+r,2*j+s))",
    lambda x: nn.avg_pool2d(x, 2),
)
case(
    "maxpool",
    FLOATS,
    "n=32 c=64 i=56 j=56 r=3 s=3; x(n,c,2*i+r,2*j+s) -> z(n,c,i,j)",
    "z(n,c,i,j) = maximum(r s, x(n,c,2*i+r,2*j+s))",
    lambda x: nn.max_pool2d(x, 3, 2),
)
case(
    "fir",
    REAL,
    "i=16777216 k=64; x(i+k) h(k) -> z(i)",
    "z(i) = sum(k, x(i-k+{k}-1)*h(k))",
    lambda x, h: nn.conv1d(x[None, None], h.flip(0)[None, None])[0, 0],
)
case(
    "stencil27",
    REAL,
    "i=384 j=384 k=384 r=3 s=3 t=3; u(i+r,j+s,k+t) w(r,s,t) -> z(i,j,k)",
    "z(i,j,k) = sum(r s t, u(i+r,j+s,k+t)*w(r,s,t))",
    lambda u, w: nn.conv3d(u[None, None], w[None, None])[0, 0],
)
case(
    "conv3x3_pad",
    FLOATS,
    "n=32 c=64 k=64 i=56 j=56 r=3 s=3; ~x(n,c,i,j) w(k,c,r,s) -> z(n,k,i,j)",
    "z(n,k,i,j) = sum(c r s, x(n,c,i+r-1,j+s-1)*w(k,c,r,s))",
    lambda x, w: nn.conv2d(x, w, padding=1),
)
case(
    "conv3x3_dgrad",
    FLOATS,
    "n=32 c=64 k=64 i=56 j=56 r=3 s=3; ~g(n,k,i,j) w(k,c,r,s) -> z(n,c,i,j)",
    "z(n,c,i,j) = sum(k r s, g(n,k,i-r+1,j-s+1)*w(k,c,r,s))",
    lambda g, w: nn.conv_transpose2d(g, w, padding=1),
)
case(
    "depthwise_pad",
    FLOATS,
    "n=32 c=128 i=56 j=56 r=3 s=3; ~x(n,c,i,j) w(c,r,s) -> z(n,c,i,j)",
    "z(n,c,i,j) = sum(r s, x(n,c,i+r-1,j+s-1)*w(c,r,s))",
    lambda x, w: nn.conv2d(x, w[:, None], padding=1, groups=len(w)),
)
