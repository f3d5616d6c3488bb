"""References in PyTorch. Each one's first line names its inputs as in formulas.py; every function is compared with
its graph at other extents than those that it was traced at."""

import math

import torch
import torch.nn.functional as F


def arithmetic(x, y, v):
    """x: M N, y: M N, v: N"""
    p = x.abs() + 0.5
    return (
        x + 2 * y - v, torch.add(x, y, alpha=3), 1 - x, x / p, x**2, p**0.5, 2**x, torch.fmod(y, 0.7),
        torch.remainder(y, 0.7), torch.floor_divide(y, p), torch.div(y, p, rounding_mode="trunc"), -x,
        torch.maximum(x, v), torch.minimum(x, y), torch.addcmul(x, y, v, value=0.5), torch.addcdiv(x, y, p),
        torch.lerp(x, y, 0.3), torch.hypot(x, y), torch.clamp(x, -0.5, 0.5), x.clamp(min=v), (x * 1).sub_(1),
    )


def functions(x):
    """x: M N"""
    p = x.abs() + 0.5
    return (
        x.exp(), torch.exp2(x), torch.expm1(x), p.log(), p.log2(), p.log10(), torch.log1p(p), p.sqrt(), p.rsqrt(),
        p.reciprocal(), x.square(), x.abs(), x.tanh(), x.sin(), x.cos(), x.tan(), x.sinh(), x.cosh(), torch.erf(x),
        torch.erfc(x), x.sigmoid(), x.floor(), x.ceil(), x.round(), x.trunc(), x.frac(), x.sign(), torch.asinh(x),
        torch.logit(x.sigmoid()), torch.xlogy(p, p), torch.logaddexp(x, p), torch.nan_to_num(x), torch.acosh(p + 1),
    )


def contexts(x, w):
    """x: M N, w: K N"""
    with torch.autocast("cpu", dtype=torch.bfloat16):
        whole = F.linear(x.sign(), w.round())  # exact in bfloat16
    with torch.autocast("cpu", enabled=False):
        rows = x.softmax(-1)
    with torch.enable_grad():
        rows = rows + 1
    with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
        whole = whole.float() @ torch.ones_like(w)
    return whole.float(), rows * 2


def angles(x, y):
    """x: M N, y: M N"""
    inside = x.tanh()
    return (
        x.atan(), inside.asin(), inside.acos(), torch.atan2(y, x), torch.atan2(x * 0, y), torch.atan2(y, x * 0), x.asinh(),
        (1 + x * x).acosh(), (0.9 * inside).atanh(), torch.lgamma(x.abs() + 0.1), torch.special.gammaln(x * x + 1),
        torch.arctan2(y, x), torch.arcsin(x.sign()),
    )


def bits(k, n):
    """k: int32 M N, n: int64 M N"""
    return (
        k & 3, k | 5, n ^ 6, ~k, k << 3, n >> 1, (k - 2) >> 1, torch.bitwise_and(k, 1), torch.bitwise_left_shift(n, 2),
        torch.bitwise_not(n), (k > 1) & (n > 1), torch.bitwise_xor(k, k),
    )


def activations(x):
    """x: M N"""
    return (
        F.relu(x), F.relu6(3 * x), F.leaky_relu(x, 0.1), F.elu(x), F.selu(x), F.celu(x, 1.5), F.gelu(x),
        F.gelu(x, approximate="tanh"), F.silu(x), F.mish(x), F.softplus(x, 2.0), F.softsign(x), F.hardtanh(x),
        F.hardswish(x), F.hardsigmoid(x), F.logsigmoid(x), F.tanhshrink(x), F.softshrink(x), F.hardshrink(x),
        F.threshold(x, 0.1, 2.0), F.prelu(x, torch.tensor([0.2])), torch.heaviside(x, torch.tensor(0.5)),
    )


def gated(x):
    """x: M 2*N"""
    return F.glu(x, dim=-1)


def comparisons(x, y):
    """x: M N, y: M N"""
    return (
        x < y, x <= 0, x > y, x >= y, x == y, x != 1, (x > 0) & (y > 0), (x > 0) | (y > 0), (x > 0) ^ (y > 0), ~(x > 0),
        torch.logical_not(x), torch.where(x > 0, x, y), torch.where(x > 0, 1.0, 0.0), x.masked_fill(y > 0, -1.0),
        torch.isnan(x), torch.isinf(x), torch.isfinite(x), (x > 0).float(), (x * 3).to(torch.int64), (x > y).any(1),
        (x > -9).all(), torch.logical_xor(x > 0, y > 0),
    )


def mixed_types(x, i):
    """x: M N, i: int64 N"""
    return x * i, i + 1, i / 2, i * 0.5, (i > 1) * x, i.float().mean(), i.sum(), i // 2, i % 3, i.to(torch.float64) * 2


def reductions(x):
    """x: B M N"""
    v = x.abs() + 0.1
    return (
        x.sum(), x.sum(1), x.sum((0, 2), keepdim=True), x.mean(), x.mean((1, 2)), x.amax(1), x.amin((0, 1)), x.max(),
        x.min(dim=1)[0], x.max(dim=2)[1], x.argmax(1), x.argmin(), x.prod(2), x.var(1), x.std((1, 2), keepdim=True),
        x.var(unbiased=False), torch.var_mean(x, dim=2, correction=0), torch.logsumexp(x, 1), x.norm(), x.norm(p=1, dim=1),
        torch.linalg.vector_norm(v, ord=3, dim=2), torch.linalg.vector_norm(x, ord=float("inf"), dim=(1, 2)),
        torch.count_nonzero(x > 0, dim=1), F.normalize(x, dim=1), x.mean(dim=1, keepdim=True), torch.aminmax(x, dim=1),
    )


def scans(x):
    """x: B M N"""
    return (
        x.cumsum(1), (x * 0.5).cumprod(2), torch.cummax(x, 1)[0], x.flip(1).cumsum(1).flip(1),
        F.pad(x, (1, 0))[..., :-1].cumsum(-1), torch.cummin(x, 2)[0],
    )


def softmaxes(x):
    """x: B M N"""
    return F.softmax(x, -1), F.softmax(x, 1), F.log_softmax(x, 0), F.softmin(x, 2)


def norms(x, g, b):
    """x: B M N, g: N, b: N"""
    return (
        F.layer_norm(x, (x.shape[-1],), g, b), F.rms_norm(x, (x.shape[-1],), g, 1e-6),
        F.layer_norm(x, x.shape[1:]), F.batch_norm(x.transpose(1, 2), None, None, g, b, training=True),
        F.batch_norm(x.transpose(1, 2), g, b.abs() + 0.1, b, g), F.instance_norm(x.transpose(1, 2)),
        F.cosine_similarity(x, x.flip(0), dim=2),
    )


def group_norms(x, g, b):
    """x: B 6 P Q, g: 6, b: 6"""
    return (
        F.group_norm(x, 3, g, b), F.batch_norm(x, None, None, g, b, training=True), F.instance_norm(x, None, None, g, b),
        F.local_response_norm(x, 3),
    )


def products(x, y, w, b, v):
    """x: M K, y: K N, w: N K, b: N, v: K"""
    return (
        x @ y, F.linear(x, w, b), torch.addmm(b, x, y, beta=0.5, alpha=2), x @ v, v @ v, torch.outer(v, b),
        torch.einsum("mk,kn->nm", x, y), torch.einsum("ij,ij->i", x, x), (x @ y).t(), x.mv(v),
    )


def batched_products(x, y, w):
    """x: B M K, y: B K N, w: N K"""
    return torch.bmm(x, y), torch.baddbmm(x @ y, x, y), F.linear(x, w), x.unsqueeze(1) @ y, torch.tensordot(x, w, ([2], [1]))


def convolutions(x, w, b, z, u, d):
    """x: B 4 P Q, w: 6 4 3 2, b: 6, z: B 4 P, u: 6 2 3, d: 4 1 3 3"""
    return (
        F.conv2d(x, w, b), F.conv2d(x, w, b, stride=2, padding=(1, 2)), F.conv1d(z, u, b, groups=2, padding=1),
        F.conv2d(x, d, groups=4, padding="same"), F.conv2d(x, w, dilation=(2, 1), padding=2),
    )


def transposed_convolutions(x, w, g, z, u):
    """x: B 4 P Q, w: 4 3 3 3, g: 4 2 2 3, z: B 4 P, u: 4 5 4"""
    return (
        F.conv_transpose2d(x, w), F.conv_transpose2d(x, w, stride=2, padding=1, output_padding=1),
        F.conv_transpose2d(x, g, stride=(1, 3), groups=2), F.conv_transpose1d(z, u, stride=2, padding=2),
        F.conv_transpose2d(x, w, padding=3, dilation=2),
    )


def transposed_with_steps(x, w, t, z, u):
    """x: B 4 P Q, w: 4 3 3 3, t: 4 2 4 2, z: B 4 P, u: 4 5 4"""
    return (
        F.conv_transpose2d(x, t, stride=3), F.conv_transpose2d(x, t, stride=(2, 1), padding=(1, 0)),
        F.conv_transpose2d(x, w, stride=2, padding=3, output_padding=1, dilation=2),
        F.conv_transpose2d(x, w, stride=(3, 2), padding=2, output_padding=(2, 1), groups=2),
        F.conv_transpose1d(z, u, stride=3, padding=1, dilation=3), F.conv_transpose1d(z, u, stride=5, output_padding=4),
        F.conv_transpose2d(x, w, stride=(1, 2), padding=(2, 0), dilation=(2, 1)),
    )


def volumes(x, w, t):
    """x: B 2 P Q R, w: 3 2 2 2 2, t: 2 3 2 2 2"""
    return (
        F.conv3d(x, w, padding=1), F.conv_transpose3d(x, t, stride=2), F.max_pool3d(x, 2, padding=1), F.avg_pool3d(x, 2),
        F.adaptive_avg_pool3d(x, 1),
    )


def pooling(x, z):
    """x: B 2 P Q, z: B 3 Q"""
    return (
        F.max_pool2d(x, 2), F.max_pool2d(x, 3, stride=2, padding=1), F.max_pool2d(x, 2, dilation=2, stride=1),
        F.avg_pool2d(x, 3, stride=1, padding=1), F.avg_pool2d(x, 3, 2, 1, count_include_pad=False), F.max_pool1d(z, 3),
        F.avg_pool1d(z, 2), F.adaptive_avg_pool2d(x, 1), F.lp_pool2d(x.abs() + 0.1, 2, 2),
        F.avg_pool2d(x, 2, divisor_override=3),
    )


def pooling_of_fixed_extents(x):
    """x: B 2 7 8"""
    return (
        F.adaptive_avg_pool2d(x, (3, 4)), F.adaptive_max_pool2d(x, (2, 3)), F.adaptive_max_pool1d(x[0], 1), F.max_pool2d(x, 3, 2, ceil_mode=True),
        F.avg_pool2d(x, 3, 2, 1, ceil_mode=True), F.avg_pool2d(x, 3, 2, 1, ceil_mode=True, count_include_pad=False),
    )


def shapes(x):
    """x: B M N"""
    b, m, n = x.shape
    return (
        x.view(b, m * n), x.reshape(-1, n), x.permute(2, 0, 1), x.transpose(1, 2), x.flatten(1), x.unsqueeze(1).squeeze(1),
        x.unsqueeze(2).expand(b, m, 3, n), x[:, 1:], x[..., -1], x[:, ::2], x[0], x[:, :, 1:-1].contiguous(),
        torch.cat([x, 2 * x], 1), torch.stack([x, -x], 0), x.flip(2), x.repeat(1, 2, 1), x.roll(1, 1), x.roll(-1, 2),
        x.repeat_interleave(2, dim=1), x.tril(), x.triu(1), x.unbind(0)[0] if isinstance(b, int) else x[0], x.movedim(0, 1),
        x.narrow(1, 0, 2), x.select(1, -1), x.swapaxes(0, 1), x.unfold(2, 3, 2),
    )


def parts(x):
    """x: M 12"""
    a, b, c = x.chunk(3, 1)
    d, e = x.split([5, 7], 1)
    y = x.clone()
    y[:, 2] = 1.0
    y[:, 4:6] = a[:, :2]
    return a * b + c, d.sum(1) * e.sum(1), x.view(-1, 3, 4).transpose(1, 2), y, x.unflatten(1, (2, 6)), torch.hstack([a, b])


def padding(x):
    """x: B 2 P Q"""
    return (
        F.pad(x, (1, 2, 0, 1)), F.pad(x, (1, 1), value=3.0), F.pad(x, (-1, 1)), F.pad(x, (1, 2, 2, 1), mode="reflect"),
        F.pad(x, (1, 2, 0, 1), mode="replicate"), F.unfold(x, 2),
    )


def creation(x):
    """x: M N"""
    m, n = x.shape
    return (
        x + torch.arange(n), torch.ones_like(x) * x, torch.zeros(m, n) + x, torch.full((n,), 2.5) * x,
        x + torch.eye(n)[0], x * torch.linspace(0, 1, 5).sum(), torch.arange(m, dtype=torch.float32)[:, None] * x,
        x.new_zeros(m, 1) + x, torch.full_like(x, 3.0) + x, x * torch.tensor([1.5, -2.0]).sum(),
        x.masked_fill(torch.ones(m, n, dtype=torch.bool).triu(1), float("-inf")).amax(1), torch.diag_embed(x).sum(1),
    )


def gathering(table, i, x, j):
    """table: K N, i: int64 M 3, x: M K, j: int64 M 2"""
    return (
        F.embedding(i, table), table[i], torch.index_select(table, 0, i[:, 0]), torch.gather(x, 1, j), x[:, j[0]],
        x[torch.arange(x.shape[0]), j[:, 0]], F.one_hot(j, 6), table[[1, 0]], torch.take(table, j),
    )


def ordering(x):
    """x: B M N"""
    return (
        torch.sort(x)[0], torch.sort(x, dim=1, descending=True), torch.argsort(x, dim=0), torch.topk(x, 3, dim=1),
        torch.topk(x, 2, largest=False)[0], torch.topk(x, 1), torch.median(x, dim=1), torch.median(x),
        torch.kthvalue(x, 2, dim=1, keepdim=True), torch.cummax(x, 1), torch.cummin(x.round(), 2),
        torch.bucketize(x, x[0, :3, 0].sort()[0]), torch.searchsorted(x.sort()[0], x[:, :, :2].contiguous(), right=True), torch.sort(torch.round(x), dim=2, stable=True),
        torch.argsort(x, dim=0, stable=True), torch.argsort(x, stable=True, dim=1, descending=True), torch.sort(x, 0, True),
    )


def scattering(x, i, y, k):
    """x: M N, i: int64 K N, y: K N, k: int64 K"""
    return (
        x.scatter_add(0, i, y), x.scatter_reduce(0, i, y, "amax"), x.scatter(0, i, 1.5), x.index_add(0, k, y),
        torch.index_put(x, (k,), y[:, :1], accumulate=True), torch.index_put(x, (k, k), y[:, 0], accumulate=True),
        torch.zeros(4, x.shape[1]).scatter_add(0, i, y), x.scatter(0, k[:1, None].expand(1, x.shape[1]), y[:1]),
        torch.bincount(k, minlength=40), k.bincount(y[:, 0], 50), torch.index_put(x, (torch.tensor([2, 0]),), y[:2]),
        F.fold(y[:1, :4].reshape(1, 4, 1).expand(1, 4, 4), (3, 3), 2),
    )


def bags(table, i, w, k, o, x):
    """table: K N, i: int64 M 3, w: M 3, k: int64 N, o: int64 B, x: M 6 6"""
    ends = torch.cat([o[:1] * 0, torch.sort(o)[0]])
    rows, columns = torch.tril_indices(6, 6, -1)
    return (
        F.embedding_bag(i, table), F.embedding_bag(i, table, mode="sum", per_sample_weights=w), F.embedding_bag(i, table, mode="max"),
        F.embedding_bag(k, table, ends, mode="sum"), F.embedding_bag(k, table, ends), x[:, rows, columns],
        x[:, torch.triu_indices(4, 6, 1)[1], 2],
    )


def interpolated(x):
    """x: B 3 P Q"""
    return (
        F.interpolate(x, scale_factor=2, mode="bilinear"), F.interpolate(x, size=(7, 5), mode="bilinear", align_corners=True),
        F.interpolate(x[:, :, 0], scale_factor=3, mode="linear"), F.interpolate(x[..., None], size=(3, 4, 2), mode="trilinear"),
    )


def nearest(x):
    """x: B 3 P Q"""
    return (
        F.interpolate(x, scale_factor=1.5), F.interpolate(x, scale_factor=(0.5, 2.5)), F.interpolate(x[:, :, 0], scale_factor=0.75),
    )


def nearest_of_known_extents(x):
    """x: B 3 8 9"""
    return (
        F.interpolate(x, size=(7, 5)), F.interpolate(x, scale_factor=(1.3, 0.7)), F.interpolate(x, size=(24, 27)),
        F.interpolate(x, scale_factor=(0.4, 3)),
    )


def quantized(x, s):
    """x: M 6, s: 6"""
    zero = torch.tensor([0, 3, 2, 0, 15, 7], dtype=torch.int32)
    return (
        torch.fake_quantize_per_tensor_affine(x, 0.1, 3, -8, 7), F.rrelu(x), F.rrelu(x, 0.25, 0.5),
        torch.fake_quantize_per_channel_affine(x, s.abs() + 0.25, zero, 1, 0, 15),
    )


def sampled(x, g):
    """x: B 3 P Q, g: B M N 2"""
    return (
        F.grid_sample(x, g, align_corners=False), F.grid_sample(x, g.tanh(), "nearest", "border", align_corners=True),
        F.grid_sample(x, g.tanh(), "bicubic", "reflection", align_corners=False),
        F.interpolate(x, size=(7, 5), mode="bicubic"), torch.dist(x, x * 2),
    )


def few_in_order(x):
    """x: M N 5"""
    return (
        x.sort(-1)[0], x.sort(-1, descending=True), x.median(-1)[0], x.topk(2, -1), x[..., :2].sort(-1)[0],
        x.kthvalue(4, -1)[0], torch.sort(x.round(), dim=-1, stable=True),
    )


def padded(x):
    """x: B 3 P Q"""
    return (
        F.pad(x, (1, 2, 0, 3), mode="circular"), F.pad(x, (2, 1, 0, 1), mode="reflect"), F.pad(x, (1, 0, 2, 2), mode="replicate"),
        F.pad(x, (1, -1, 0, 2), value=0.5), F.pad(x[0], (0, 0, 2, 1), mode="circular"),
    )


def running_log_sum(x):
    """x: M N"""
    return torch.logcumsumexp(x * 300, 1), torch.logcumsumexp(x, 0)


def images(x):
    """x: B 8 P Q"""
    return (
        F.pixel_shuffle(x, 2), F.channel_shuffle(x, 4), F.interpolate(x, scale_factor=2, mode="nearest"),
        F.pixel_unshuffle(F.pixel_shuffle(x, 2), 2),
    )


def attention(q, k, v, m):
    """q: B 2 M 8, k: B 2 M 8, v: B 2 M 4, m: M M"""
    return (
        F.scaled_dot_product_attention(q, k, v), F.scaled_dot_product_attention(q, k, v, is_causal=True),
        F.scaled_dot_product_attention(q, k, v, attn_mask=m), F.scaled_dot_product_attention(q, k, v, m.tril() != 0, scale=0.3),
        F.scaled_dot_product_attention(q.repeat(1, 2, 1, 1), k, v, enable_gqa=True),
    )


def losses(x, y, t):
    """x: M 5, y: M 5, t: int64 M"""
    p, q = x.sigmoid(), y.sigmoid()
    return (
        F.mse_loss(x, y), F.l1_loss(x, y, reduction="sum"), F.smooth_l1_loss(x, y, beta=0.5), F.huber_loss(x, y),
        F.cross_entropy(x, t), F.nll_loss(F.log_softmax(x, 1), t, reduction="none"), F.binary_cross_entropy(p, q),
        F.binary_cross_entropy_with_logits(x, q), F.kl_div(F.log_softmax(x, 1), F.softmax(y, 1), reduction="batchmean"),
        F.cross_entropy(x, F.softmax(y, 1)), F.cross_entropy(x, t, label_smoothing=0.1), F.soft_margin_loss(x, y.sign()),
        F.hinge_embedding_loss(x, y.sign()), F.triplet_margin_loss(x, y, x + y), F.cosine_embedding_loss(x, y, t - t + 1),
        F.cross_entropy(x, t, weight=torch.tensor([1.0, 2.0, 0.5, 1.0, 3.0])), F.poisson_nll_loss(x, q),
    )


def scaled(x):
    """x: M N"""
    return x / math.sqrt(x.shape[1]), x * x.shape[0], x.sum(1) / x.numel(), torch.cdist(x, x + 1)


def recurrent_layers(x, h, w, u, b):
    """x: 4 M K, h: 2 M P, w: 4*P K, u: 4*P P, b: 4*P"""
    v = torch.cat([u, u], 1)
    layers = [w, u, b, b, u, u, b, b]
    both = [w, u, b, b, w, u * 0.5, b, b, v, u, b, b, v, u * 0.5, b, b]
    n = 3 * h.shape[2]
    gates = [w[:n], u[:n], b[:n], b[:n]]
    return (
        *torch.lstm(x, (h, h * 0.5), layers, True, 2, 0.0, True, False, False),
        *torch.lstm(x, (torch.cat([h, h]), torch.cat([h, h])), both, True, 2, 0.0, True, True, False),
        *torch.lstm(x.transpose(0, 1), (h[:1], h[1:]), [w, u], False, 1, 0.0, True, False, True),
        *torch.gru(x, h[:1], gates, True, 1, 0.0, True, False, False),
        *torch.gru(x, h, [gates[0], gates[1]] * 2, False, 1, 0.0, True, True, False),
        *torch.rnn_tanh(x, h[:1], [w[: n // 3], u[: n // 3]], False, 1, 0.0, True, False, False),
        *torch.rnn_relu(x, h[:1], [w[: n // 3], u[: n // 3]], False, 1, 0.0, True, False, False),
    )


def recurrent_layers_over_time(x, h, w, u, b):
    """x: N M K, h: 2 M P, w: 4*P K, u: 4*P P, b: 4*P"""
    both, n = [w, u, b, b, w, u * 0.5, b, b], 3 * h.shape[2]
    return (
        *torch.lstm(x, (h, h * 0.5), both, True, 1, 0.0, True, True, False),
        *torch.lstm(x.transpose(0, 1), (h[:1], h[1:]), [w, u], False, 1, 0.0, True, False, True),
        *torch.gru(x, h[:1], [w[:n], u[:n], b[:n], b[:n]], True, 1, 0.0, True, False, False),
    )


def recurrent_cells(x, h, w, u, b):
    """x: M K, h: M P, w: 4*P K, u: 4*P P, b: 4*P"""
    n = h.shape[1]
    return (
        *torch.lstm_cell(x, (h, h * 0.5), w, u, b, b),
        *torch.lstm_cell(x, (h, h), w, u),
        torch.gru_cell(x, h, w[: 3 * n], u[: 3 * n], b[: 3 * n], b[: 3 * n]),
        torch.rnn_tanh_cell(x, h, w[:n], u[:n], b[:n], b[:n]),
        torch.rnn_relu_cell(x, h, w[:n], u[:n]),
    )


def small_matrices(x, b):
    """x: B 3 3, b: B 3 2"""
    x = x + 4 * torch.eye(3)
    spd = x @ x.transpose(1, 2)
    sign, log = torch.linalg.slogdet(x)
    return (
        torch.linalg.det(x), torch.linalg.inv(x), torch.linalg.solve(x, b), torch.linalg.cholesky(spd), sign, log,
        torch.linalg.matrix_power(x, 3), torch.linalg.solve(x, b[..., 0]),
    )


def signs(x, y):
    """x: M N, y: M N"""
    return torch.copysign(x, y), torch.signbit(x), torch.fmod(x * 3, y), torch.hypot(x * 1e30, y * 1e30) * 1e-30


def windows_of_signals(x):
    """x: M 16"""
    return (
        x * torch.hann_window(16), x * torch.hamming_window(16), x * torch.blackman_window(16),
        x * torch.hann_window(16, periodic=False),
    )


def scattered_without_targets(x, y):
    """x: M 8, y: M N"""
    index = (torch.arange(y.shape[1]) % 5).expand(y.shape[0], y.shape[1])
    return (
        x.scatter_reduce(1, index, y, "amax", include_self=False), x.scatter_reduce(1, index, y, "amin"),
        x.scatter_reduce(1, index, y, "sum", include_self=False), x.scatter_reduce(1, index, y, "mean"),
        x.scatter_reduce(1, index, y, "mean", include_self=False),
    )


def histogram_of_all(x):
    """x: M N"""
    return torch.histc(x, 8, -2, 2)


def special_functions(x):
    """x: M N"""
    y = x.abs() + 3
    return (
        torch.erfc(y) * torch.exp(y * y), torch.special.erfcx(x), torch.special.ndtr(x),
        torch.special.log_ndtr(x * 5), torch.erfinv(x.tanh()), torch.special.ndtri(x.sigmoid()), torch.digamma(x.abs() + 0.1),
        torch.i0(x), torch.special.i0e(x * 9), torch.special.i1(x), torch.special.i1e(x * 9),
    )


def moments_of_several(x):
    """x: M N"""
    return torch.cov(x), torch.cov(x, correction=0), torch.cov(x[0]), torch.corrcoef(x), x.T.corrcoef()


def gaussian_losses(x, y, v):
    """x: M N, y: M N, v: M N"""
    v = v.abs()
    return (
        F.gaussian_nll_loss(x, y, v), F.gaussian_nll_loss(x, y, v, full=True, reduction="none"),
        F.gaussian_nll_loss(x, y, v[:, :1], eps=0.1, reduction="sum"), F.gaussian_nll_loss(x, y, v[:, 0], reduction="none"),
    )


def modes(i, x):
    """i: int64 M N, x: M N"""
    return *torch.mode(i, dim=1), *torch.mode((x * 2).round(), 0, keepdim=True)


def distances_of_pairs(x):
    """x: M N"""
    return F.pdist(x), F.pdist(x, p=1), torch.pdist(x, 3), F.pdist(x, float("inf"))


def unpooled(x):
    """x: B K 12 15"""
    y, places = F.max_pool2d(x, (2, 3), return_indices=True)
    z, overlapping = F.max_pool2d(x, 3, stride=2, padding=1, return_indices=True)
    w, line = F.max_pool1d(x[:, :, 0], 2, return_indices=True)
    return F.max_unpool2d(y, places, (2, 3)), overlapping, z, F.max_unpool1d(w, line, 2, output_size=(15,)), line


def vandermonde(x):
    """x: M"""
    return torch.vander(x, 4), torch.vander(x, 3, increasing=True), torch.polygamma(1, x.abs() + 0.1)


def written_by_masks_and_steps(x, m):
    """x: M N, m: bool N"""
    y, z, w, u = (x.clone() for _ in range(4))
    y[y < -0.5] = -1.0
    y[x[:, 0] > 0] = 3.0
    z[:, m] = 2.0
    w[..., ::2].add_(0.5)
    w[1::2] = x[:1] * 2
    u[[0, 2], :] += 1
    filled = torch.empty_like(x)
    for t in range(4):
        filled[:, t : t + 1] = x[:, :1] * t
    filled[:, 4:] = x[:, 4:]
    return y, z, w, u, filled, x[:, [[0, 1]], [2]] if x.ndim == 3 else x


def products_of_three(q, k, v, w):
    """q: B M 8, k: B M 8 5, v: B M, w: 5 K"""
    chain = torch.einsum("bm,bmde,ek", v, k, w)
    return torch.einsum("bmd, bmde, bm -> bme", q, k, v), chain, torch.einsum("b...d,b...de,ek->b...k", [q, k, w])


def lengths_of_tensors(a, b):
    """a: M K, b: M K"""
    z = torch.cat([a, b])
    return (z @ z.T).masked_fill(torch.eye(len(z), dtype=torch.bool), -1e9), a.sum(0) / len(a)


def parts_of_extents(x):
    """x: M N"""
    return x[:, : math.ceil(x.shape[1] / 2)], x[: math.floor(x.shape[0] * 0.75)], x[:, math.ceil(x.shape[1] / 4) :]


def grids_between_two_numbers(x):
    """x: B M N"""
    rows, columns = x.shape[1:]
    y, x_ = torch.meshgrid(torch.linspace(-1, 1, rows), torch.linspace(0, columns - 1, steps=columns), indexing="ij")
    return x * y + x_, torch.logspace(-1, 1, rows), torch.linspace(1, 2, columns, dtype=torch.float64).float()


def diagonals_that_are_filled(x):
    """x: M N"""
    y = x.clone()
    y.fill_diagonal_(2)
    return y.sum(0), (x * 2).fill_diagonal_(0.5)
