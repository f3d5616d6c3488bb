"""Formulas as users write them, for test_trace.py: each function is traced and compared with NumPy.

The first line of a function says what it is called with: arrays (of float32 unless a type comes first) with
their extents, then parameters.
"""

import math

import numpy as np
import scipy.special
from numpy.lib.stride_tricks import sliding_window_view
from scipy.special import erf, softmax


def softmax_plain(x):
    """x: M N"""
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def softmax_none(x):
    """x: M N"""
    e = np.exp(x - np.max(x, axis=-1)[:, None])
    return e / np.sum(e, -1)[:, np.newaxis]


def softmax_reciprocal(x):
    """x: M N"""
    m = np.amax(x, 1, keepdims=True)
    e = np.exp(np.subtract(x, m))
    return e * (1.0 / np.add.reduce(e, axis=1, keepdims=True))


def softmax_in_place(x):
    """x: M N"""
    y = x.copy()
    y -= y.max(1)[:, None]
    np.exp(y, out=y)
    y /= np.expand_dims(y.sum(1), 1)
    return y


def softmax_transposed(x):
    """x: M N"""
    t = x.T
    e = np.exp(t - t.max(axis=0))
    return (e / e.sum(axis=0)).T


def softmax_log(x):
    """x: M N"""
    m = x.max(-1, keepdims=True)
    lse = m + np.log(np.sum(np.exp(x - m), -1, keepdims=True))
    return np.exp(x - lse)


def softmax_empty_like(x):
    """x: M N"""
    out = np.empty_like(x)
    e = np.exp(x - x.max(1, keepdims=True))
    out[...] = e / e.sum(1, keepdims=True)
    return out


def logsumexp(x):
    """x: M N"""
    m = x.max(1)
    return m + np.log(np.exp(x - m[:, None]).sum(1))


def logsumexp_reduce(x):
    """x: M N"""
    return np.logaddexp.reduce(x, axis=1)


def log_softmax_scipy(x):
    """x: M N"""
    return scipy.special.log_softmax(x, axis=1)


def softmax_scipy(x):
    """x: M N"""
    return softmax(x, axis=-1)


def layernorm_var(x, g, b, eps):
    """x: M N, g: N, b: N; eps = 1e-05"""
    mu = x.mean(-1, keepdims=True)
    v = x.var(-1, keepdims=True)
    return (x - mu) / np.sqrt(v + eps) * g + b


def layernorm_squares(x, g, b, eps):
    """x: M N, g: N, b: N; eps = 1e-05"""
    mu = np.mean(x, 1)[:, None]
    v = np.mean(x * x, axis=1)[:, None] - mu**2
    return g * (x - mu) * (v + eps) ** (-0.5) + b


def standard_score(x):
    """x: M N"""
    return (x - x.mean(0)) / x.std(axis=0, ddof=1)


def layernorm_two_axes(x, eps):
    """x: B M N; eps = 1e-05"""
    mu = x.mean((1, 2), keepdims=True)
    return (x - mu) / np.sqrt(x.var(axis=(1, 2), keepdims=True) + eps)


def rmsnorm(x, w, eps):
    """x: M N, w: N; eps = 1e-06"""
    return x / np.sqrt(np.mean(np.square(x), -1, keepdims=True) + eps) * w


def rmsnorm_size(x):
    """x: M N"""
    n = x.shape[-1]
    return x * np.sqrt(n) / np.linalg.norm(x, axis=-1, keepdims=True)


def gelu_tanh(x):
    """x: M N"""
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def gelu_erf(x):
    """x: M N"""
    return x * 0.5 * (1.0 + erf(x / np.sqrt(2.0)))


VECTORIZED_ERF = np.vectorize(math.erf)


def gelu_vectorize(x):
    """x: M N"""
    return 0.5 * x * (1 + VECTORIZED_ERF(x / math.sqrt(2)))


def gelu(v):
    c = np.float32(0.7978845608)
    return 0.5 * v * (1 + np.tanh(c * (v + 0.044715 * v * v * v)))


def bias_gelu_residual(x, b, r):
    """x: M N, b: N, r: M N"""
    return gelu(x + b) + r


def sums(x):
    """x: B M N"""
    return (x.sum(), x.sum(0), np.sum(x, axis=(0, 2)), x.sum(axis=-1, keepdims=True))


def minmax(x):
    """x: M N"""
    return (x.min(1), x.argmax(axis=1), np.argmin(x, 0), np.ptp(x, axis=0), x.prod(0))


def any_all(x):
    """x: M N"""
    return (np.any(x > 1, axis=1), (x < 3).all(), np.count_nonzero(x > 0, axis=0))


def matmul(a, b):
    """a: M K, b: K N"""
    return a @ b


def linear(x, w, b):
    """x: M K, w: N K, b: N"""
    return np.maximum(x @ w.T + b, 0)


def dots(a, b, v):
    """a: M K, b: K N, v: K"""
    return (
        np.dot(a, b),
        a.dot(v),
        np.inner(a, b.T),
        np.outer(v, v),
        np.vdot(v, v),
        v @ b,
        np.tensordot(a, b, 1),
        np.tensordot(a, b, axes=([1], [0])),
    )


def batched(a, b):
    """a: B M K, b: K N"""
    return np.matmul(a, b)


def batched_one(a, b):
    """a: B M K, b: K N"""
    return a @ b[None, :, :]


def einsums(a, b):
    """a: B M K, b: K N"""
    return (
        np.einsum("bij,jk->bik", a, b),
        np.einsum("...j,jk", a, b),
        np.einsum("bij->jb", a),
        np.einsum("bij,bij->b", a, a),
        np.einsum("bij,jk,bil->kl", a, b, a),
        np.einsum("bij,jk->bj", a, b),
        np.einsum("i,j->ij", a[0, :, 0], b[0]),
    )


def attention(q, k, v):
    """q: B H M K, k: B H N K, v: B H N C"""
    s = q @ k.transpose(0, 1, 3, 2) / np.sqrt(q.shape[-1])
    s = np.exp(s - s.max(-1, keepdims=True))
    return s / s.sum(-1, keepdims=True) @ v


def causal_attention(q, k, v):
    """q: M K, k: M K, v: M C"""
    n = q.shape[0]
    s = q @ k.T * (1 / math.sqrt(k.shape[1]))
    s = np.where(np.tril(np.ones((n, n), dtype=bool)), s, -np.inf)
    e = np.exp(s - s.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True) @ v


def heads(x, w):
    """x: B M C, w: C C"""
    b, m, c = x.shape
    q = (x @ w).reshape(b, m, 2, -1).transpose(0, 2, 1, 3)
    return q.swapaxes(1, 2).reshape(x.shape)


def conv_groups(x, w, stride, padding, dilation, groups):
    """x: B C P Q, w: K C//groups R S; stride = 2, padding = 1, dilation = 1, groups = 2"""
    n, c = x.shape[:2]
    k, _, r, s = w.shape
    x = np.pad(x, ((0, 0), (0, 0), (padding, padding), (padding, padding)))
    windows = sliding_window_view(x, (dilation * (r - 1) + 1, dilation * (s - 1) + 1), axis=(2, 3))
    windows = windows[:, :, ::stride, ::stride, ::dilation, ::dilation]
    p, q = windows.shape[2:4]
    windows = windows.reshape(n, groups, c // groups, p, q, r, s)
    filters = w.reshape(groups, k // groups, c // groups, r, s)
    y = np.einsum("ngcpqrs,gkcrs->ngkpq", windows, filters, optimize=True)
    return y.reshape(n, k, p, q)


def conv_einsum(x, w):
    """x: B C P Q, w: K C R S"""
    v = sliding_window_view(x, w.shape[2:], axis=(2, 3))
    return np.einsum("nchwrs,kcrs->nkhw", v, w)


def conv_tensordot(x, w, stride, pad):
    """x: B C P Q, w: K C R S; stride = 2, pad = 1"""
    p = np.pad(x, [(0, 0), (0, 0), (pad, pad), (pad, pad)])
    v = sliding_window_view(p, w.shape[2:], (2, 3))[:, :, ::stride, ::stride]
    return np.tensordot(v, w, axes=([1, 4, 5], [1, 2, 3])).transpose(0, 3, 1, 2)


def conv_zeros(x, w, p):
    """x: B C P Q, w: K C R S; p = 2"""
    n, c, h, q = x.shape
    t = np.zeros((n, c, h + 2 * p, q + 2 * p), x.dtype)
    t[:, :, p : p + h, p:-p] = x
    v = sliding_window_view(t, w.shape[2:], axis=(-2, -1))
    return np.einsum("nchwrs,kcrs->nkhw", v, w)


def conv_dilated(x, w, d):
    """x: B C P Q, w: K C R S; d = 2"""
    k, c, r, s = w.shape
    v = sliding_window_view(x, (d * (r - 1) + 1, d * (s - 1) + 1), axis=(2, 3))[..., ::d, ::d]
    return np.einsum("nchwrs,kcrs->nkhw", v, w)


def conv_im2col(x, w, stride, pad):
    """x: B C P Q, w: K C R S; stride = 2, pad = 1"""
    n, c, h, q = x.shape
    k, _, r, s = w.shape
    p = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    v = sliding_window_view(p, (r, s), axis=(2, 3))[:, :, ::stride, ::stride]
    ho, wo = v.shape[2:4]
    cols = v.transpose(0, 2, 3, 1, 4, 5).reshape(n * ho * wo, c * r * s)
    y = cols @ w.reshape(k, -1).T
    return y.reshape(n, ho, wo, k).transpose(0, 3, 1, 2)


def conv_channels_last(x, w):
    """x: B P Q C, w: R S C K"""
    v = sliding_window_view(x, w.shape[:2], axis=(1, 2))
    return np.einsum("nhwcrs,rsck->nhwk", v, w)


def conv_depthwise(x, w):
    """x: B C P Q, w: C R S"""
    v = sliding_window_view(x, w.shape[1:], axis=(2, 3))
    return np.einsum("nchwrs,crs->nchw", v, w)


def conv_plain_image(x, w):
    """x: P Q, w: R S"""
    return np.tensordot(sliding_window_view(x, w.shape), w, 2)


def conv_bias_relu(x, w, b):
    """x: B C P Q, w: K C R S, b: K"""
    v = sliding_window_view(x, w.shape[2:], axis=(2, 3))
    y = np.einsum("nchwrs,kcrs->nhwk", v, w) + b
    return np.maximum(y, 0).transpose(0, 3, 1, 2)


def conv_one_axis(x, w, stride):
    """x: B C P, w: K C R; stride = 2"""
    v = sliding_window_view(x, w.shape[-1], axis=-1)[:, :, ::stride]
    return np.einsum("bclr,kcr->bkl", v, w)


def max_pool(x):
    """x: B C P Q"""
    return sliding_window_view(x, (2, 2), axis=(2, 3))[:, :, ::2, ::2].max(axis=(4, 5))


def average_pool_reshape(x):
    """x: B C P Q"""
    b, c, p, q = x.shape
    return x.reshape(b, c, p // 3, 3, q // 2, 2).mean((3, 5))


def scans(x):
    """x: M N"""
    return (np.cumsum(x, axis=1), x.cumprod(0), np.maximum.accumulate(x, axis=1), np.cumsum(x))


def embedding(table, ids):
    """table: N K, ids: int64 B M"""
    return (table[ids], np.take(table, ids, axis=0), table[:, ids % 3])


def cross_entropy(x, labels):
    """x: M N, labels: int64 M"""
    z = x - x.max(1, keepdims=True)
    lp = z - np.log(np.exp(z).sum(1, keepdims=True))
    return -lp[np.arange(x.shape[0]), labels].mean()


def cross_entropy_along(x, labels):
    """x: M N, labels: int64 M"""
    return np.take_along_axis(x, labels[:, None], axis=1)[:, 0]


def polynomial(x):
    """x: M N"""
    y = np.zeros_like(x)
    for c in [1.0, -2.5, 3, 0.25]:
        y = y * x + c
    return y


COEFFICIENTS = np.array([1.0, -2.5, 3.0])


def polynomial_array(x):
    """x: M N"""
    y = 0
    for c in COEFFICIENTS:
        y = y * x + c
    return y


def mandelbrot(a, b):
    """a: M N, b: M N"""
    x = np.zeros(a.shape, a.dtype)
    y = np.zeros_like(b)
    n = np.zeros(a.shape, np.int32)
    for _ in range(4):
        x, y = (x * x - y * y + a, 2 * x * y + b)
        inside = x * x + y * y <= 4.0
        n += inside
        x = np.where(inside, x, 0)
        y = np.where(inside, y, 0)
    return n


def slices(x):
    """x: M N"""
    return (x[1:, :-1], x[:, ::-1], x[0], x[-1, 2:5], x[..., None, 1], x[::2, 1::3], x[1:-1, ::2])


def rope(x, c, s):
    """x: B M C, c: M C//2, s: M C//2"""
    h = x.shape[-1] // 2
    a, b = (x[..., :h], x[..., h : 2 * h])
    return np.concatenate([a * c - b * s, a * s + b * c], axis=-1)


def stack_split(x):
    """x: M Q"""
    a, b = np.split(x, 2, axis=1)
    return (np.stack([a, b]), np.hstack([b, a]))


def columns(x):
    """x: M N"""
    out = np.empty((x.shape[0], 2), x.dtype)
    out[:, 0] = x.min(1)
    out[:, 1] = x.max(1)
    return out


def layouts(x):
    """x: M N"""
    return (
        x.ravel(),
        x.flatten(),
        x[None].squeeze(0),
        np.moveaxis(x, 0, 1),
        np.roll(x, 1, 1),
        np.repeat(x, 2, axis=0),
        np.tile(x, (2, 1)),
        np.broadcast_to(x[:, :1], x.shape),
        np.flip(x, 0),
    )


def clips(x):
    """x: M N"""
    return (x.clip(-1, 1), np.clip(x, 0, None), np.minimum(np.maximum(0, x), 6))


def logic(x):
    """x: M N"""
    a = (x > 0) & (x < 1)
    return (a, a | ~(x == 0), np.logical_not(a), np.where(a ^ (x > 2), x, -x))


def mask_assignment(x):
    """x: M N"""
    y = x.copy()
    y[y < 0] = 0.25
    return y


def activations(x):
    """x: M N"""
    s = 1 / (1 + np.exp(-x))
    return (
        x * s,
        np.log1p(np.exp(x)),
        np.sign(x) * np.abs(x),
        np.expm1(x),
        np.where(x > 0, x, 0.1 * x),
        np.sinh(x),
        np.exp2(x),
        np.hypot(x, 2),
    )


def integers(x):
    """x: int32 M N"""
    return (x // 3, x % 3, x / 2, x * 2 + 1, x.sum(), -x, x.mean(0))


def casts(x):
    """x: M N"""
    d = x.astype(np.float64)
    return ((d * d).sum(1).astype(np.float32), x.astype(int), (x > 0).astype(x.dtype), (x > 0).sum(0))


def parameters(x, alpha, n):
    """x: M N; alpha = 0.5, n = 2"""
    return (alpha * x + n, np.sqrt(alpha) * x / float(n), x**n)


def checks(x, n):
    """x: M N; n = 7"""
    assert x.shape[1] % n == 0
    assert isinstance(n, int) and isinstance(x, np.ndarray)
    if x.ndim != 2 or not np.issubdtype(x.dtype, np.floating):
        raise ValueError
    print("noise")
    return x * len(x) + np.prod(x.shape) + np.finfo(x.dtype).eps


def numpy_inside(x):
    """x: M N"""
    import numpy
    from numpy import exp as e

    return e(-numpy.abs(x))


def min_of_dims(x):
    """x: M N"""
    return x * min(x.shape) + max(x.shape[0], 2)


def diff_average(x, w):
    """x: M N, w: N"""
    return (np.diff(x, axis=1), np.average(x, axis=1, weights=w))


def identity(x):
    """x: M N"""
    return x


def constant(x):
    """x: M N"""
    return np.ones((x.shape[0], 3), np.float32) * 2


def eye(x):
    """x: M M"""
    return (x + np.eye(x.shape[0], dtype=x.dtype), np.triu(x, 1))


def float_of_a_sum(x):
    """x: M N"""
    return x * float(x.sum())


def diagonals(x, y):
    """x: M M, y: M N"""
    return (np.diag(x), np.diagonal(y), np.diag(x, 1), np.diag(x, -1), np.trace(x), np.diag(x[0]) @ y)


def diagonals_of_batches(x):
    """x: M N N"""
    return (np.diagonal(x, axis1=1, axis2=2), np.einsum("bii->b", x), np.einsum("bii->bi", x))


def einsum_with_a_repeated_label(x, y):
    """x: M M, y: M N"""
    return np.einsum("ii,ij->j", x, y)


def angles(x, y):
    """x: M N, y: M N"""
    inside = np.tanh(x)
    return (
        np.arctan(x), np.arcsin(inside), np.arccos(inside), np.arctan2(y, x), np.arctan2(x * 0, y), np.arctan2(y, x * 0),
        np.arctan2(y / 0.0, x / 0.0), np.arcsinh(x), np.arcsinh(x * 1e30), np.arccosh(1 + x * x),
        np.arccosh(1 + 1e30 * x * x), np.arctanh(0.9 * inside), np.arcsin(np.sign(x)), np.arccos(np.sign(x)),
        scipy.special.gammaln(np.abs(x) + 0.1),
    )  # fmt: skip


def angle_of_integers(k, n):
    """k: int32 M N, n: int64 M N"""
    return np.arctan2(k, n + 1)


def bits(k, n, u, b):
    """k: int32 M N, n: int64 M N, u: uint8 M N, b: bool M N"""
    return (
        k & 3, k | 5, k ^ n, ~k, ~u, u ^ 255, u & (u - 1), k << 3, n >> 1, (k - 2) >> 1, u << 1, 1 << n, b & ~b, b ^ True,
        k & b, np.bitwise_or(u, 128), np.left_shift(n, 2),
    )  # fmt: skip


def quantized(x, q, w):
    """x: M N, q: int8 M K, w: int8 N K"""
    most = np.abs(x).max(axis=1, keepdims=True)
    return (
        np.round(127 * (x / most)).astype(np.int8), np.abs(x * 40).astype(np.int8), q.astype(np.int32) @ w.astype(np.int32).T,
        q.astype(np.float32) * np.float32(0.02), q.max(axis=1), q.min(axis=0), q.sum(axis=1), np.argmax(q, axis=1), q + q,
        q * q, -q, (q + q) > q, np.maximum(q, np.int8(0)), q // np.int8(3), np.where(q < 0, q, -q), q & 15, q >> 4,
    )  # fmt: skip


def orders(x, n):
    """x: M N, n: int64 M N"""
    y = x.copy()
    y.sort()
    best = np.take_along_axis(x, np.argsort(-x, axis=1), axis=1)
    return (
        y, best[:, :2], np.sort(x, axis=0), np.argsort(n, axis=0, kind="stable"), np.sort(x, axis=None), x.argsort()[:, -1],
        np.median(x, axis=1), np.median(x[:, :4], axis=1, keepdims=True), np.median(x), np.sort(n)[:, ::-1],
    )  # fmt: skip


def bins(x, v):
    """x: M N, v: N"""
    edges = np.sort(v)
    return np.searchsorted(edges, x[0]), np.searchsorted(edges, x, side="right"), np.digitize(x, edges)
