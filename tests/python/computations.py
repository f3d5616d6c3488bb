"""Computations of several operations, as people write them in NumPy: references for the tests of programs.

`COMPUTATIONS`: name -> (inputs, dimensions). An input is "name dtype[shape]"; integers are drawn below the extent that
follows the type: "labels int64<C[M]".
"""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def attention(q, k, v):
    scores = q @ k.transpose(0, 1, 3, 2) / np.sqrt(q.shape[-1])
    return softmax(scores) @ v


def causal_attention(q, k, v):
    s = q.shape[2]
    scores = np.einsum("bhid,bhjd->bhij", q, k) / np.sqrt(q.shape[-1])
    scores = np.where(np.tril(np.ones((s, s), dtype=bool)), scores, -np.inf)
    return np.einsum("bhij,bhjd->bhid", softmax(scores), v)


def mlp(x, w1, b1, w2, b2):
    hidden = x @ w1 + b1
    hidden = 0.5 * hidden * (1 + np.tanh(np.sqrt(2 / np.pi) * (hidden + 0.044715 * hidden**3)))
    return hidden @ w2 + b2


def swiglu(x, w, out):
    gate, up = np.split(x @ w, 2, axis=-1)
    return (gate / (1 + np.exp(-gate)) * up) @ out


def conv_bias_relu_pool(x, w, b):
    windows = sliding_window_view(x, (3, 3), axis=(2, 3))
    y = np.maximum(np.einsum("nchwrs,kcrs->nkhw", windows, w) + b[None, :, None, None], 0)
    return sliding_window_view(y, (2, 2), axis=(2, 3))[:, :, ::2, ::2].max(axis=(4, 5))


def group_norm(x, gamma, beta):
    n, c, h, w = x.shape
    g = x.reshape(n, 2, c // 2, h, w)
    mean = g.mean(axis=(2, 3, 4), keepdims=True)
    var = g.var(axis=(2, 3, 4), keepdims=True)
    y = ((g - mean) / np.sqrt(var + 1e-5)).reshape(n, c, h, w)
    return y * gamma[:, None, None] + beta[:, None, None]


def batch_norm_training(x, gamma, beta):
    mean = x.mean(axis=(0, 2, 3))
    var = x.var(axis=(0, 2, 3))
    y = (x - mean[:, None, None]) / np.sqrt(var[:, None, None] + 1e-5)
    return y * gamma[:, None, None] + beta[:, None, None], mean, var


def cross_entropy(logits, labels):
    shifted = logits - logits.max(axis=1, keepdims=True)
    log_probabilities = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    return -log_probabilities[np.arange(logits.shape[0]), labels].mean()


def cumulative_share(x):
    return np.cumsum(x, axis=1) / np.sum(np.abs(x), axis=1, keepdims=True)


def reversed_cumsum(x):
    return np.cumsum(x[::-1], axis=0)[::-1] * x


def running_maximum_gap(x):
    return np.maximum.accumulate(x, axis=-1) - x


def nearest_centroid(x, c):
    distance = (x**2).sum(axis=1)[:, None] - 2 * x @ c.T + (c**2).sum(axis=1)[None, :]
    return np.argmin(distance, axis=1)


def max_and_place(x):
    place = np.argmax(x, axis=1)
    return np.take_along_axis(x, place[:, None], axis=1)[:, 0], place


def depthwise_conv(x, w, b):
    windows = sliding_window_view(np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1))), (3, 3), axis=(2, 3))
    y = (windows * w[None, :, None, None]).sum(axis=(-2, -1)) + b[:, None, None]
    return np.clip(y, 0, 6)


def transposed_conv(x, w):
    n, c, h, wd = x.shape
    grown = np.zeros((n, c, h, 2, wd, 2), dtype=x.dtype)
    grown[:, :, :, 0, :, 0] = x
    grown = grown.reshape(n, c, 2 * h, 2 * wd)[:, :, : 2 * h - 1, : 2 * wd - 1]
    padded = np.pad(grown, ((0, 0), (0, 0), (2, 2), (2, 2)))
    windows = sliding_window_view(padded, (3, 3), axis=(2, 3))
    return np.einsum("nchwrs,ckrs->nkhw", windows, w[:, :, ::-1, ::-1])


def lstm_cell(x, h, c, wx, wh, b):
    gates = x @ wx + h @ wh + b
    i, f, g, o = np.split(gates, 4, axis=1)
    c = c / (1 + np.exp(-f)) + np.tanh(g) / (1 + np.exp(-i))
    return np.tanh(c) / (1 + np.exp(-o)), c


def gru_cell(x, h, wx, wh):
    n = h.shape[1]
    a, b = x @ wx, h @ wh
    z = 1 / (1 + np.exp(-(a[:, :n] + b[:, :n])))
    r = 1 / (1 + np.exp(-(a[:, n : 2 * n] + b[:, n : 2 * n])))
    return (1 - z) * np.tanh(a[:, 2 * n :] + r * b[:, 2 * n :]) + z * h


def embedding_norm(table, tokens, gamma):
    x = table[tokens]
    return x / np.sqrt(np.mean(x**2, axis=-1, keepdims=True) + 1e-6) * gamma


def embedding_bag(table, tokens):
    return table[tokens].sum(axis=1)


def cosine_loss(a, b):
    norm = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
    return np.mean(1 - np.sum(a * b, axis=1) / np.maximum(norm, 1e-8))


def average_pool(x):
    n, c, h, w = x.shape
    return x.reshape(n, c, h // 2, 2, w // 2, 2).mean(axis=(3, 5))


def sum_of_squares_over_axes(x):
    return (x**2).sum(axis=(0, 2)), x.sum(axis=1).max(axis=1)


def transposes(x, y):
    return np.tanh(x.transpose(2, 0, 1)) + y.T[:, :, None]


def concatenated_features(x, y):
    both = np.concatenate([x, np.maximum(y, 0)], axis=1)
    return (both - both.mean(axis=0)) / (both.std(axis=0) + 1e-5)


def triangular_product(a, b):
    return np.tril(a) @ np.triu(b)


def diagonal_product(d, a):
    return np.diag(d) @ a + np.diag(a)[:, None]


def trace_and_diagonal(a):
    return np.trace(a), np.einsum("ii->i", a) * 2


def rotary(x):
    s, d = x.shape[1], x.shape[2]
    angle = np.arange(s)[:, None] * (1.0 / 10000 ** (np.arange(d // 2) * 2.0 / d))[None, :]
    cos, sin = np.cos(angle), np.sin(angle)
    left, right = x[..., : d // 2], x[..., d // 2 :]
    return np.concatenate([left * cos - right * sin, left * sin + right * cos], axis=-1)


def two_layers_of_means(x):
    inner = x - x.mean(axis=0)
    return inner / np.abs(inner).max(axis=1, keepdims=True)


def covariance(x):
    centred = x - x.mean(axis=0)
    return centred.T @ centred / (x.shape[0] - 1)


def polynomial_features(x):
    return np.stack([x, x**2, x**3], axis=-1).reshape(x.shape[0], -1)


def moving_average(x):
    return sliding_window_view(x, 5, axis=1).mean(axis=-1)


def cosine_transform(x):
    k = np.arange(x.shape[1])
    return x @ np.cos(np.pi / x.shape[1] * (k[:, None] + 0.5) * k).astype(x.dtype)


def turned_by_position(x):
    angles = np.arange(x.shape[1])[:, None, None] * 100.0 ** (-np.arange(x.shape[3] // 2) / 8)
    cosines, sines = np.cos(angles).astype(x.dtype), np.sin(angles).astype(x.dtype)
    a, b = x[..., ::2], x[..., 1::2]
    return np.stack([a * cosines - b * sines, a * sines + b * cosines], axis=-1).reshape(x.shape)


def pairwise_distances(x, y):
    return np.sqrt(((x[:, None, :] - y[None, :, :]) ** 2).sum(axis=-1))


def bilinear(x, w, y):
    return np.einsum("bi,kij,bj->bk", x, w, y)


def top_share(x):
    p = softmax(x)
    return p.max(axis=1), np.argmax(p, axis=1), -(p * np.log(p + 1e-9)).sum(axis=1)


def masked_mean(x, keep):
    weights = keep.astype(x.dtype)
    return (x * weights[..., None]).sum(axis=1) / np.maximum(weights.sum(axis=1), 1)[:, None]


def huber_and_accuracy(logits, target, labels):
    difference = np.abs(logits - target)
    loss = np.where(difference < 1, 0.5 * difference**2, difference - 0.5).mean()
    return loss, (np.argmax(logits, axis=1) == labels).mean()


def max_pool(x):
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)), constant_values=-np.inf)
    return sliding_window_view(padded, (3, 3), axis=(2, 3))[:, :, ::2, ::2].max(axis=(4, 5))


def over_middle_axes(x):
    return x.mean(axis=1), np.argmin(x, axis=1), np.cumsum(x, axis=1), np.argmax(np.maximum(x, 0), axis=1)


def along_long_rows(x):
    half = np.floor(x)  # many places have the maximum
    return np.argmax(half, axis=1), np.argmin(x, axis=1), np.cumsum(x, axis=1), np.minimum.accumulate(x, axis=1)


def without_numbers(x):
    gaps = np.sqrt(x)
    running = np.maximum.accumulate(gaps, axis=1)
    return np.argmax(gaps, axis=1), np.argmin(gaps, axis=0), np.where(np.isnan(running), -1, running)


def pooled_activations(x):
    padded = np.pad(np.maximum(x, 0.1), ((0, 0), (0, 0), (1, 1), (1, 1)), constant_values=-np.inf)
    pooled = sliding_window_view(padded, (3, 3), axis=(2, 3))[:, :, ::2, ::2].max(axis=(4, 5))
    return np.tanh(pooled).mean(axis=(2, 3))


def where_the_sum_peaks(x):
    running = np.cumsum(x * 2, axis=1)
    return np.argmax(running - x, axis=1), running.max(axis=1)


def headings(x, y):
    angle = np.arctan2(y, x)
    return angle, np.arccos(np.tanh(x)) * np.arcsin(np.tanh(y)), np.mean(np.arctan(x), axis=1)


def hashed_rows(table, keys):
    bucket = (keys ^ (keys >> 2)) & 3 | (keys << 2) & 4
    return table[bucket], bucket


def trimmed_mean(x):
    inside = np.sort(x, axis=1)[:, 1:-1]
    return inside.mean(axis=1), np.median(x, axis=0)


def recurrent_network(x, wx, wh, b):
    state = np.zeros((x.shape[1], wh.shape[0]), dtype=np.float32)
    states = []
    for step in range(6):
        state = np.tanh(x[step] @ wx + state @ wh + b)
        states.append(state)
    return np.stack(states, axis=1)


def decaying_sums(x, decay):
    state, states = x[:, 0], []
    for step in range(9):
        state = decay * state + (1 - decay) * x[:, step]
        states.append(state)
    return np.stack(states, axis=1)


def softmax_over_image(x, scale):
    b, c, h, w = x.shape
    return (softmax(x.reshape(b, c, h * w)) * scale[:, None]).reshape(b, c, h, w)


def histogram_of_rows(keys, weights, start):
    counts = start * 2
    np.add.at(counts, keys, weights * weights)
    return counts, counts.sum(axis=0)


def messages(x, sources, targets, w):
    sums = np.zeros_like(x)
    np.add.at(sums, targets, np.maximum(x[sources] @ w, 0))
    highest = x * 1
    np.maximum.at(highest, targets, x[sources])
    return sums + x, highest


def quantized_rows(x):
    most = np.abs(x).max(axis=1, keepdims=True)
    return np.round(127 * (x / most)).astype(np.int8), most / 127


def quantized_product(x, w, scale):
    return (x.astype(np.int32) @ w.astype(np.int32).T).astype(np.float32) * scale


def bytes_that_wrap(x, y):
    elements = x + y, x * y, (x + y) > (x - y), (x * x + y) // np.int8(3)
    return *elements, x.max(axis=1), y.sum(axis=0), np.maximum(x, np.int8(0)), np.argmin(y, axis=1), x >> 2


def hue_saturation_value(x):
    r, g, b = x[:, 0], x[:, 1], x[:, 2]
    top = x.max(axis=1)
    spread = top - x.min(axis=1)
    safe = np.where(spread > 0, spread, 1)
    hue = np.where(top == r, ((g - b) / safe) % 6, np.where(top == g, (b - r) / safe + 2, (r - g) / safe + 4)) / 6
    return np.stack([hue, spread / np.maximum(top, 1e-8), top], axis=1)


def nearest_points(a, b):
    d = ((a[:, :, None] - b[:, None]) ** 2).sum(axis=-1)
    return np.sqrt(d.min(axis=2)), d.min(axis=1).mean(axis=1)


def wrapped_angles(x, n):
    return (x * 100) % 6.25, x % (np.abs(x[:, ::-1]) + 0.5), n % 7, n % -5


def quotients_of_whole_numbers(x):
    whole = np.round(x * 8)
    return whole // 0.1, whole % 0.75  # 1 // 0.1 is 9: 0.1 is a little more than a tenth


def multiples_of_either_sign(x):
    multiples, divisor = np.round(x * 8) * 49, np.where(x[:, ::-1] > 0, 49, -49).astype(np.float32)  # 49 * (1 / 49) < 1
    return multiples // -49.0, multiples % -49.0, multiples % 49.0, multiples // divisor, multiples % divisor


def three_layers(x, u, v, w, b):
    for weights in (u, v, w):
        x = np.maximum(x @ weights + b, 0)
        x = x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + 1e-5)
    return x


def rows_in_order(x):
    coarse = np.round(x * 4)
    return np.sort(x, axis=-1), np.argsort(coarse, axis=-1, kind="stable"), np.sort(coarse, axis=0), -np.sort(-x[0])


def first_of_rows(x):
    coarse = np.round(x * 2)
    half = np.sort(x, axis=-1)[:, :x.shape[1] // 2 + 1]
    return half, np.argsort(coarse, axis=-1, kind="stable")[:, :3], np.sort(-coarse, axis=-1)[:, 2:5]


def both_orders(x):
    descending = np.argsort(-x, axis=-1, kind="stable")
    return np.sort(x, axis=-1)[:, :3], -np.sort(-x, axis=-1)[:, :2], np.argsort(x, axis=-1, kind="stable"), descending


def orders_of_types(a, b, c, d):
    places = np.argsort(np.argsort(a, axis=-1, kind="stable"), axis=-1, kind="stable")
    largest = -np.sort(-b, axis=-1)[:, :b.shape[1] // 3 + 1]
    weights = np.take_along_axis(a, np.argsort(d, axis=-1, kind="stable"), axis=-1)
    first = np.argsort(c > 0, axis=-1, kind="stable")[:, :2]
    middle = np.median(np.round(c * 2), axis=-1) + np.sort(c, axis=-1)[:, 3]
    return places, largest, first, middle, np.sort(d, axis=-1), np.cumsum(weights, axis=-1)


def logarithms(x):
    x = np.abs(x) + 1
    return np.log2(x), np.log1p(x) - np.log(x), np.exp2(x) * np.log10(x)


def order_of_a_few(x):
    w = sliding_window_view(np.pad(x, ((0, 0), (1, 1), (1, 1))), (3, 3), axis=(1, 2))
    return np.median(w.reshape(*x.shape, 9), axis=-1), np.sort(x.reshape(x.shape[0], -1)[:, :4], axis=1)


def joint_attention(x, w):
    batch, length, width = x.shape
    q, k, v = (x @ w).reshape(batch, length, 3, 4, width // 4).transpose(2, 0, 3, 1, 4)
    return (softmax(q @ k.swapaxes(-1, -2) * np.float32(0.5)) @ v).swapaxes(1, 2).reshape(batch, length, width)


# Tables that no input changes, in NumPy's own type.
WINDOW = np.hanning(32)
CURVE = np.tanh(np.linspace(-3, 3, 80))


def windowed(x):
    return x * WINDOW


def interpolated(x):
    return np.interp(x, np.linspace(-3, 3, 80), CURVE)


def spectrum_of_windows(x):
    frames = sliding_window_view(x, 32, axis=1)[:, ::8] * WINDOW
    return (frames * frames).sum(axis=2)


def reflected(x):
    y = np.pad(x, ((0, 0), (2, 3)), mode="reflect")
    return (y[:, :-5] + y[:, 1:-4] + y[:, 5:]) / 3


def small_inverses(x):
    y = x.reshape(-1, 3, 3) + 4 * np.eye(3, dtype=np.float32)
    return np.linalg.inv(y), np.linalg.det(y)


def quantiles_of_rows(x):
    return np.quantile(x, 0.9, axis=1), np.percentile(x, 25, axis=0)


def correlations(x):
    return np.corrcoef(x)


def constants_beside(x):
    return x * 2, np.ones(5, dtype=x.dtype), np.linspace(0, 1, x.shape[0], dtype=x.dtype)


def rolled_back(x):
    return np.roll(x, -1, axis=1) - np.roll(x, (-2, 3), axis=(0, 1))


def inner_part(x):
    y = x.copy()
    y[1:-1, 1:-1] += 0.25 * (x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:])
    return y


def shades_of_grey(x, w):
    return np.sqrt(np.abs(x @ w)), np.tensordot(w, x, axes=([0], [2]))


COMPUTATIONS = {
    "attention": ("q float32[B,H,S,D]; k float32[B,H,T,D]; v float32[B,H,T,D]", ["B=2,H=2,S=7,T=9,D=5", "B=1,H=3,S=1,T=1,D=1"]),
    "causal_attention": ("q float32[B,H,S,D]; k float32[B,H,S,D]; v float32[B,H,S,D]", ["B=2,H=2,S=7,D=5", "B=1,H=1,S=1,D=3"]),
    "mlp": ("x float32[M,K]; w1 float32[K,N]; b1 float32[N]; w2 float32[N,K]; b2 float32[K]", ["M=5,K=9,N=19", "M=1,K=1,N=3"]),
    "swiglu": ("x float32[M,K]; w float32[K,2*N]; out float32[N,K]", ["M=5,K=9,N=19", "M=1,K=1,N=3"]),
    "conv_bias_relu_pool": ("x float32[N,C,H,W]; w float32[K,C,3,3]; b float32[K]", ["N=2,C=3,H=9,W=11,K=5", "N=1,C=1,H=6,W=4,K=1"]),
    "group_norm": ("x float32[N,C,H,W]; gamma float32[C]; beta float32[C]", ["N=2,C=6,H=5,W=7", "N=1,C=2,H=1,W=3"]),
    "batch_norm_training": ("x float32[N,C,H,W]; gamma float32[C]; beta float32[C]", ["N=3,C=5,H=4,W=7", "N=2,C=1,H=1,W=3"]),
    "cross_entropy": ("logits float32[M,C]; labels int64<C[M]", ["M=7,C=11", "M=1,C=1"]),
    "cumulative_share": ("x float32[M,N]", ["M=5,N=37", "M=1,N=1"]),
    "reversed_cumsum": ("x float32[M,N]", ["M=13,N=9", "M=1,N=1"]),
    "running_maximum_gap": ("x float32[M,N]", ["M=5,N=37", "M=1,N=1"]),
    "nearest_centroid": ("x float32[M,D]; c float32[K,D]", ["M=13,D=5,K=7", "M=1,D=1,K=1"]),
    "max_and_place": ("x float32[M,N]", ["M=5,N=37", "M=1,N=1"]),
    "depthwise_conv": ("x float32[N,C,H,W]; w float32[C,3,3]; b float32[C]", ["N=2,C=5,H=9,W=11", "N=1,C=1,H=1,W=1"]),
    "transposed_conv": ("x float32[N,C,H,W]; w float32[C,K,3,3]", ["N=2,C=3,H=4,W=5,K=4", "N=1,C=1,H=1,W=1,K=1"]),
    "lstm_cell": ("x float32[B,I]; h float32[B,N]; c float32[B,N]; wx float32[I,4*N]; wh float32[N,4*N]; b float32[4*N]", ["B=3,I=5,N=9", "B=1,I=1,N=1"]),
    "gru_cell": ("x float32[B,I]; h float32[B,N]; wx float32[I,3*N]; wh float32[N,3*N]", ["B=3,I=5,N=9", "B=1,I=1,N=1"]),
    "embedding_norm": ("table float32[V,D]; tokens int64<V[B,S]; gamma float32[D]", ["V=11,D=9,B=2,S=5", "V=1,D=1,B=1,S=1"]),
    "embedding_bag": ("table float32[V,D]; tokens int64<V[B,S]", ["V=11,D=9,B=3,S=5", "V=1,D=1,B=1,S=1"]),
    "cosine_loss": ("a float32[M,N]; b float32[M,N]", ["M=5,N=37", "M=1,N=1"]),
    "average_pool": ("x float32[N,C,H,W]", ["N=2,C=3,H=6,W=8", "N=1,C=1,H=2,W=2"]),
    "sum_of_squares_over_axes": ("x float32[A,B,C]", ["A=4,B=5,C=7", "A=1,B=1,C=1"]),
    "transposes": ("x float32[A,B,C]; y float32[A,C]", ["A=4,B=5,C=7", "A=1,B=1,C=1"]),
    "concatenated_features": ("x float32[M,A]; y float32[M,B]", ["M=7,A=5,B=9", "M=2,A=1,B=1"]),
    "triangular_product": ("a float32[N,N]; b float32[N,N]", ["N=13", "N=1"]),
    "diagonal_product": ("d float32[N]; a float32[N,N]", ["N=13", "N=1"]),
    "trace_and_diagonal": ("a float32[N,N]", ["N=13", "N=1"]),
    "rotary": ("x float32[B,S,D]", ["B=2,S=5,D=8", "B=1,S=1,D=2"]),
    "two_layers_of_means": ("x float32[M,N]", ["M=7,N=19", "M=2,N=1"]),
    "covariance": ("x float32[M,N]", ["M=17,N=5", "M=2,N=1"]),
    "polynomial_features": ("x float32[M,N]", ["M=7,N=19", "M=1,N=1"]),
    "moving_average": ("x float32[M,N]", ["M=3,N=19", "M=1,N=5"]),
    "hue_saturation_value": ("x float32[N,3,H,W]", ["N=2,H=5,W=19", "N=1,H=1,W=1"]),
    "nearest_points": ("a float32[B,N,3]; b float32[B,M,3]", ["B=2,N=9,M=21", "B=1,N=1,M=1"]),
    "multiples_of_either_sign": ("x float32[M,N]", ["M=3,N=37", "M=1,N=1"]),
    "quotients_of_whole_numbers": ("x float32[M,N]", ["M=3,N=37", "M=1,N=1"]),
    "wrapped_angles": ("x float32[M,N]; n int64<N[M,N]", ["M=3,N=37", "M=1,N=1"]),
    "three_layers": ("x float32[M,N]; u float32[N,N]; v float32[N,N]; w float32[N,N]; b float32[N]", ["M=5,N=9", "M=1,N=1"]),
    "rows_in_order": ("x float32[M,N]", ["M=5,N=301", "M=1,N=1", "M=131,N=19"]),
    "first_of_rows": ("x float32[M,N]", ["M=2,N=131", "M=3,N=7"]),
    "both_orders": ("x float32[M,N]", ["M=3,N=131", "M=2,N=5"]),
    "orders_of_types": ("a float64[M,N]; b int32[M,N]; c float32[M,N]; d uint8[M,N]", ["M=1,N=132", "M=3,N=7", "M=9,N=4"]),
    "logarithms": ("x float32[M,N]", ["M=3,N=37", "M=1,N=1"]),
    "order_of_a_few": ("x float32[B,H,W]", ["B=2,H=5,W=19", "B=1,H=2,W=2"]),
    "cosine_transform": ("x float32[M,N]", ["M=5,N=37", "M=1,N=1"]),
    "turned_by_position": ("x float32[B,N,3,2*D]", ["B=2,N=9,D=5", "B=1,N=1,D=1"]),
    "pairwise_distances": ("x float32[M,D]; y float32[N,D]", ["M=5,N=7,D=3", "M=1,N=1,D=1"]),
    "bilinear": ("x float32[B,I]; w float32[K,I,J]; y float32[B,J]", ["B=3,I=5,J=7,K=4", "B=1,I=1,J=1,K=1"]),
    "top_share": ("x float32[M,N]", ["M=5,N=37", "M=1,N=1"]),
    "masked_mean": ("x float32[B,S,D]; keep bool[B,S]", ["B=3,S=5,D=9", "B=1,S=1,D=1"]),
    "huber_and_accuracy": ("logits float32[M,C]; target float32[M,C]; labels int64<C[M]", ["M=7,C=11", "M=1,C=1"]),
    "max_pool": ("x float32[N,C,H,W]", ["N=2,C=3,H=9,W=600", "N=1,C=1,H=2,W=3"]),
    "over_middle_axes": ("x float32[A,B,C]", ["A=3,B=5,C=300", "A=1,B=1,C=1"]),
    "along_long_rows": ("x float32[M,N]", ["M=5,N=700", "M=1,N=1"]),
    "pooled_activations": ("x float32[N,C,H,W]", ["N=2,C=3,H=9,W=41", "N=1,C=1,H=2,W=3"]),
    "where_the_sum_peaks": ("x float32[M,N]", ["M=5,N=300", "M=3,N=1"]),
    "without_numbers": ("x float32[M,N]", ["M=5,N=300", "M=3,N=1"]),
    "headings": ("x float32[M,N]; y float32[M,N]", ["M=5,N=300", "M=1,N=1"]),
    "hashed_rows": ("table float32[8,D]; keys int64<V[M]", ["M=37,D=9,V=1000", "M=1,D=1,V=3"]),
    "trimmed_mean": ("x float32[M,N]", ["M=5,N=37", "M=1,N=3"]),
    "recurrent_network": ("x float32[6,B,I]; wx float32[I,N]; wh float32[N,N]; b float32[N]", ["B=5,I=3,N=19", "B=1,I=1,N=1"]),
    "decaying_sums": ("x float32[B,9,N]; decay float32[N]", ["B=3,N=700", "B=1,N=1"]),
    "softmax_over_image": ("x float32[B,C,H,W]; scale float32[C]", ["B=2,C=3,H=5,W=7", "B=1,C=1,H=1,W=1"]),
    "histogram_of_rows": ("keys int64<V[E]; weights float32[E]; start float32[V]", ["V=7,E=300", "V=1,E=1"]),
    "quantized_rows": ("x float32[M,N]", ["M=5,N=37", "M=1,N=1"]),
    "quantized_product": ("x int8[M,K]; w int8[N,K]; scale float32[N]", ["M=5,K=37,N=19", "M=1,K=1,N=1"]),
    "bytes_that_wrap": ("x int8[M,N]; y int8[M,N]", ["M=5,N=300", "M=1,N=1"]),
    "joint_attention": ("x float32[B,S,4*D]; w float32[4*D,12*D]", ["B=2,S=7,D=5", "B=1,S=1,D=1"]),
    "messages": ("x float32[V,D]; sources int64<V[E]; targets int64<V[E]; w float32[D,D]", ["V=11,D=19,E=64", "V=1,D=1,E=1"]),
    "windowed": ("x float32[M,32]", ["M=5", "M=1"]),
    "interpolated": ("x float32[M,N]", ["M=5,N=37", "M=1,N=1"]),
    "spectrum_of_windows": ("x float32[M,N]", ["M=3,N=75", "M=1,N=32"]),
    "reflected": ("x float32[M,N]", ["M=3,N=37", "M=2,N=4"]),
    "small_inverses": ("x float32[M,9]", ["M=19", "M=1"]),
    "quantiles_of_rows": ("x float32[M,N]", ["M=5,N=37", "M=1,N=1"]),
    "correlations": ("x float32[M,N]", ["M=5,N=37", "M=2,N=3"]),
    "constants_beside": ("x float32[M,N]", ["M=5,N=37", "M=1,N=1"]),
    "rolled_back": ("x float32[M,N]", ["M=5,N=37", "M=1,N=1"]),
    "inner_part": ("x float32[M,N]", ["M=5,N=37", "M=3,N=3"]),
    "shades_of_grey": ("x float32[H,W,3]; w float32[3]", ["H=5,W=37", "H=1,W=1"]),
}
