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
