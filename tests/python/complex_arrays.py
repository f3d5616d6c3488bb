"""References in NumPy that compute with complex numbers between real inputs and results."""

import numpy as np


def rotary(x):
    """x: B M N 8"""
    pairs = x[..., ::2] + 1j * x[..., 1::2]
    angles = np.outer(np.arange(x.shape[1]), 10000.0 ** (-np.arange(4) / 4)).astype(np.float32)
    z = pairs * np.exp(1j * angles)[:, None, :]
    return np.stack([z.real, z.imag], axis=-1).reshape(x.shape)


def power_spectrum(x):
    """x: M N"""
    return np.abs(np.fft.rfft(x, axis=1)) ** 2


def low_pass(x):
    """x: M N"""
    f = np.fft.rfft(x)
    keep = np.fft.rfftfreq(x.shape[1]) < 0.25
    return np.fft.irfft(f * keep, n=x.shape[1])


def circular_convolution(x, y):
    """x: M N, y: N"""
    return np.real(np.fft.ifft(np.fft.fft(x) * np.fft.fft(y)))


def linear_convolution(x, y):
    """x: M N, y: M N"""
    n = 2 * x.shape[1]
    return np.fft.irfft(np.fft.rfft(x, n) * np.fft.rfft(y, n), n)[:, :x.shape[1]]


def mixed_tokens(x):
    """x: B M N"""
    return np.fft.fft2(x).real


def orthonormal_transform(x):
    """x: M N"""
    z = np.fft.fftn(x, norm="ortho")
    return z.real, z.imag, np.fft.ifftn(z, norm="ortho").real


def escaping_points(x, y):
    """x: M N, y: M N"""
    z = c = x + 1j * y
    for _ in range(4):
        z = z * z * 0.3 + c
    return np.abs(z)


def autocorrelation(x):
    """x: M N"""
    f = np.fft.fft(x, n=2 * x.shape[1])
    return np.fft.ifft(f * np.conj(f)).real[:, : x.shape[1]]


def phases(x, y):
    """x: M N, y: M N"""
    z = np.exp(1j * x) / (1 + 1j * y)
    return np.angle(z), z.sum(axis=1).real, (z ** 2).mean(axis=0).imag, (z @ z.conj().T).real


def centred_spectrum(x):
    """x: M N"""
    return np.fft.fftshift(np.abs(np.fft.fft(x, axis=0)), axes=0)


def schroedinger(x, y):
    """x: M N, y: N"""
    k = 2 * np.pi * np.fft.fftfreq(x.shape[1])
    psi = x * np.exp(-0.5j * y)
    psi = np.fft.ifft(np.exp(-0.5j * k * k) * np.fft.fft(psi))
    return np.abs(psi) ** 2


def hilbert(x):
    """x: M N"""
    n = x.shape[1]
    f = np.fft.fft(x)
    k = np.arange(n)
    h = np.where(k == 0, 1.0, np.where(2 * k == n, 1.0, np.where(2 * k < n, 2.0, 0.0)))
    return np.abs(np.fft.ifft(f * h))


def cast_to_complex(x):
    """x: M N"""
    z = x.astype(np.complex64)
    return (z * 1j + 2).imag, np.iscomplexobj(z) * x


def rows_of_pairs(x, y):
    """x: M N, y: M N"""
    z = x + 1j * y
    return np.concatenate([z, z[::-1].conj()], axis=1).imag, np.where(x > 0, z, 1j).imag, (z == z).sum(axis=0)


def beams(x, y):
    """x: M N, y: K"""
    weights = np.exp(-1j * np.pi * np.arange(x.shape[1])[:, None] * np.sin(y))
    return np.abs(x @ weights) / x.shape[1]


def spectrum_of_whole_numbers(x):
    """x: int64 M N"""
    return np.abs(np.fft.fft(x))


def spectrum_of_doubles(x):
    """x: float64 M N"""
    return np.fft.rfft2(x).imag, np.fft.irfft2(np.fft.rfft2(x), s=x.shape)


def spectrum_of_a_vector(x):
    """x: N"""
    f = np.fft.fft(x)
    return np.vdot(f, f).real, f[1:].real, (f * f[::-1]).imag


def spectra_of_a_part(x):
    """x: M N"""
    return np.fft.fft(x, n=4).real, np.fft.rfft(x, n=3, axis=0).imag


def spectra_over_axes(x):
    """x: B M N"""
    return np.fft.fftn(x, axes=(0, 2)).real, np.fft.ifft2(x, axes=(0, 1)).imag, np.fft.rfftn(x, axes=(1,)).real


def turned_in_a_loop(x):
    """x: M N"""
    z = x + 0j
    for k in range(3):
        z = z * np.exp(1j * k) + x
    return z.real


def changed_in_place(x):
    """x: M N"""
    z = x * 1j
    z += 2
    z *= 1j
    return z.real, z.imag


def turn_by_an_extent(x):
    """x: M N"""
    return (x * np.exp(2j * np.pi * 3 / x.shape[1])).real


def matrix_of_a_transform(x):
    """x: M N"""
    n = x.shape[1]
    return (x @ np.exp(-2j * np.pi / n * np.outer(np.arange(n), np.arange(n)))).real


def sums_of_turns(x):
    """x: M N"""
    z = np.exp(1j * x)
    return np.abs(np.cumsum(z, axis=1)), np.abs(np.mean(z)), np.angle(np.sum(z, axis=0))


def polynomial_on_the_circle(x, y):
    """x: M N, y: 3"""
    z = np.exp(1j * x)
    return np.abs(y[0] * z**2 + y[1] * z + y[2])


def parts_and_questions(x):
    """x: M N"""
    a = x + 1j
    return np.real(a), np.imag(a), np.isnan(a) * x


def types_of_numbers(x):
    """x: M N"""
    return (np.complex64(2j) * x).imag, (np.float32(2) * (x * 1j)).imag


def products_of_kinds(x, y):
    """x: M N, y: N"""
    z = y * 1j
    return np.einsum("mn,n->m", x, z).imag, np.outer(z, z.conj()).real, np.tensordot(x, z, axes=1).imag


def periodogram(x):
    """x: M N"""
    window = np.hanning(x.shape[1])
    f = np.fft.rfft((x - x.mean(axis=1, keepdims=True)) * window, axis=-1)
    p = (f.real ** 2 + f.imag ** 2) / (window ** 2).sum()
    p[:, 1:-1] *= 2
    return p


def two_names(x):
    """x: M N"""
    z = x * 1j
    w = z
    z += 1
    return w.real


def a_part_of_ones_own(x):
    """x: M N"""
    z = x * 1j + x
    r = z.real
    r += 1
    return r


def transform_in_a_loop(x):
    """x: M N"""
    y = np.zeros_like(x)
    for k in range(x.shape[1]):
        y[:, k] = np.abs((x * np.exp(-2j * np.pi * k / x.shape[1] * np.arange(x.shape[1]))).sum(axis=1))
    return y


def turns_in_a_list(x):
    """x: M N"""
    return np.stack([np.abs(x * np.exp(1j * k)) for k in range(3)])


def turned_rows(x):
    """x: M N"""
    return np.stack([(row * 1j).imag for row in x])


def array_of_a_list(x):
    """x: M N"""
    zs = [x * 1j, x + 1j]
    return np.abs(np.array(zs)).sum(axis=0)


def helper_with_a_turn(x):
    """x: M N"""
    def rot(z, a): return z * np.exp(1j * a)
    return sum(rot(x, a).real for a in (0.1, 0.2))


def matrix_that_is_known(x):
    """x: M N"""
    w = np.exp(-2j * np.pi * np.outer(np.arange(4), np.arange(4)) / 4)
    return np.abs(x[:, :4] @ w)


def roots_of_a_polynomial(x):
    """x: M N"""
    roots = np.roots([1, 2, 3])
    return (x * roots[0]).imag


def few_modes(x):
    """x: B M N"""
    f = np.fft.rfft(x)
    out = np.zeros_like(f)
    out[:, :, :3] = f[:, :, :3] * 2j
    return np.fft.irfft(out, n=x.shape[-1])


def few_modes_of_two_axes(x):
    """x: B M N"""
    f = np.fft.rfft2(x)
    out = np.zeros((x.shape[0], x.shape[1], x.shape[2] // 2 + 1), dtype=complex)
    out[:, :2, :3] = f[:, :2, :3] * 2
    out[:, -2:, :3] = f[:, -2:, :3].conj()
    out[:, :2] *= 2
    return np.fft.irfft2(out, s=x.shape[1:])


def filled(x):
    """x: M N"""
    z = np.ones_like(x + 1j * x) * (1 + 2j)
    w = np.full((x.shape[0], x.shape[1]), 1 - 3j)
    return (z * w).real + (z + x).imag


def elements_put(x, y):
    """x: M N, y: M N"""
    z = x + 1j * y
    z[:, 0] = 1j
    z[1] = x[1]
    z[0] += 2
    z[x > 0.5] = 0
    return z.real, z.imag


def slices_that_change(x, y):
    """x: M N, y: M N"""
    z = x + 1j * y
    w = z[0]
    w += 2
    v = z[:, 1:]
    v[:, 0] = 3j
    w[-1] = v[1, 0] * 2
    z *= 2
    return w.real, z.imag, v[0].imag


def copies_that_stay(x, y):
    """x: M N, y: M N"""
    z = x + 1j * y
    w = z[[0, 1]]
    c = z.copy()
    z[0] = 1
    return w.real, z.imag, c.real


def functions(x, y):
    """x: M N, y: M N"""
    z = x - 0.5 + 1j * (y - 0.5)
    s = np.sqrt(z)
    return s.real, s.imag, np.tanh(3 * z).imag, np.tanh(50 * z).real, np.sin(z).real, np.cos(z).imag, np.sinh(z).imag, np.cosh(z).real, np.sign(z).imag


def roots_of_real_numbers(x):
    """x: M N"""
    z = np.sqrt((x - 0.5).astype(complex))
    return z.real, z.imag


def roots_of_polynomials(x, y):
    """x: M, y: M"""
    d = np.sqrt(x * x - 4 * y + 0j)
    return ((-x + d) / 2).real, ((-x + d) / 2).imag


def linear_recurrence(x, y):
    """x: M N, y: M N"""
    z = x + 1j * y
    out = np.zeros_like(z)
    h = np.zeros(x.shape[1], dtype=np.complex64)
    for i in range(x.shape[0]):
        h = h * np.exp(0.5j) + z[i]
        out[i] = h
    return out.real, out.imag

import numpy as np


def places_of_a_known_loop(x, y):
    """x: 6 N, y: 6 N"""
    z = x + 1j * y
    for i in range(1, 6):
        z[i] += 0.5j * z[i - 1]
    return z.real, z.imag


def parts_in_a_list(x, y):
    """x: M N, y: M N"""
    h = 0j
    ys = []
    for i in range(x.shape[0]):
        h = h * (0.3 + 0.5j) + x[i] * np.exp(1j * y[i])
        ys.append(h.real)
    return np.array(ys)


def points_that_stay(x, y):
    """x: M N, y: M N"""
    c = 3 * x - 2 + 1j * (y - 0.5)
    z = np.zeros_like(c)
    count = np.zeros(x.shape, dtype=int)
    for _ in range(x.shape[1]):
        inside = np.abs(z) < 2
        z = np.where(inside, z * z * 0.9 + c, z)
        count += inside
    return count


def branches(x, y):
    """x: M N, y: M N"""
    z = x + 1j * y
    if x.mean() > 0.4:
        z = z * 2j
    else:
        z = z.conj()
    return z.real, z.imag


def changed_in_a_branch(x, y):
    """x: M N, y: M N"""
    z = x + 1j * y
    if x[0, 0] > 0.4:
        z[0] = 1j
    return z.real, z.imag


def scaled_in_a_branch(x, y):
    """x: M N, y: M N"""
    z = x + 1j * y
    if x[0, 0] > 0.4:
        z *= 2j
    return z.real


def changed_step_by_step(x, y):
    """x: M N, y: M N"""
    z = x + 1j * y
    for i in range(1, x.shape[0]):
        z[i] += 0.5j * z[i - 1]
    return np.abs(z)


def product_of_rows(x, y):
    """x: M N, y: M N"""
    z = x + 1j * y
    w = np.ones(x.shape[1], dtype=np.complex64)
    for i in range(x.shape[0]):
        w *= z[i]
    return w.real, w.imag


def transform_by_loops(x):
    """x: N"""
    n = len(x)
    out = np.zeros(n, dtype=complex)
    for k in range(n):
        for t in range(n):
            out[k] += x[t] * np.exp(-2j * np.pi * k * t / n)
    return out.real, out.imag


def transform_by_one_loop(x):
    """x: N"""
    n = len(x)
    out = np.empty(n, dtype=complex)
    t = np.arange(n)
    for k in range(n):
        out[k] = np.sum(x * np.exp(-2j * np.pi * k * t / n))
    return np.abs(out)


def two_that_swap(x, y):
    """x: M N, y: M N"""
    a, b = x + 1j * y, y - 1j * x
    for i in range(x.shape[1]):
        a, b = b * 0.5j, a
    return a.real, b.imag


def while_counting(x, y):
    """x: M N, y: M N"""
    z = x + 1j * y
    i = 0
    while i < x.shape[1]:
        z = z * 1j + i
        i += 1
    return z.real, z.imag


def conjugates_of_their_own(x, y):
    """x: M N, y: M N"""
    z = x + 1j * y
    w = z.conj()
    u = z + 0
    z[0] = 5
    w[1] = 3j
    return z.real, w.real, w.imag, u.real, z.imag


def parts_are_views(x, y):
    """x: M N, y: M N"""
    z = x + 1j * y
    r = z.real
    z[0] = 5
    return r


def parts_put(x, y):
    """x: M N, y: M N"""
    z = np.zeros(x.shape, dtype=np.complex64)
    z.real = x
    z.imag[0] = y[0]
    return z.imag, z.real


def parts_of_slices(x, y):
    """x: M N, y: M N"""
    z = x + 1j * y
    r = z[0].imag
    r += 2
    z[0] *= 2
    w = z[:, 1:]
    z.real[1] = 7
    w.imag = 3
    return r, z.imag, w.real, w.imag


def parts_step_by_step(x, y):
    """x: M N, y: M N"""
    z = x + 1j * y
    for i in range(1, x.shape[0]):
        z.real[i] += z.imag[i - 1]
        z.imag[i] = 0.5 * z.real[i]
    return z.real, z.imag


def part_known_by_two_names(x, y):
    """x: M N, y: M N"""
    z = x + 1j * y
    r = z.real
    for i in range(1, x.shape[0]):
        z[i] = z[i - 1] * 0.5j + 1
    return r, z.imag


def part_changed_in_a_branch(x, y):
    """x: M N, y: M N"""
    z = x + 1j * y
    r = z.real
    if x[0, 0] > 0.4:
        z[0] = 3
    r[1] = 2
    return r, z.real

import numpy as np


def numbers_are_no_views(x, y):
    """x: M N, y: M N"""
    z = x + 1j * y
    v = z[0, 1]
    w = v
    v += 3
    v *= 2j
    return v.real + w.imag + z[0, 1].real


def sums_in_numbers(x):
    """x: N"""
    n = len(x)
    out = np.zeros(n, dtype=complex)
    for k in range(n):
        acc = 0j
        for t in range(n):
            acc += x[t] * np.exp(-2j * np.pi * k * t / n)
        out[k] = acc
    return out.real, out.imag


def one_with_all_others(x):
    """x: N"""
    z = x + 1j
    z[..., 0] *= 2
    return z.real, z.imag
