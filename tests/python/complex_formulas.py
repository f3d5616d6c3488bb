"""References that compute with complex numbers between real inputs and results. As torch_formulas.py: a function's
first line of documentation gives the inputs' shapes."""

import math

import torch
import torch.nn.functional as F


def rotary(x):
    """x: B M N 8"""
    pairs = torch.view_as_complex(x.reshape(*x.shape[:-1], -1, 2))
    steps = torch.arange(x.shape[1], device=x.device).float()
    angles = torch.outer(steps, 10000.0 ** (-torch.arange(0, 8, 2).float() / 8))
    turns = torch.polar(torch.ones_like(angles), angles)
    return torch.view_as_real(pairs * turns[None, :, None, :]).flatten(3)


def by_exponential(x, y):
    """x: M N, y: M N"""
    z = torch.complex(x, y) * torch.exp(1j * y)
    return z.real, z.imag, z.abs(), z.angle()


def quotients(x, y):
    """x: M N, y: M N"""
    z, w = torch.complex(x, y), torch.complex(y + 3, x)
    return torch.view_as_real(z / w), (1 / w).real, (z.conj() * w).imag, (z - w * 2).real, (2 - z).imag


def powers(x, y):
    """x: M N, y: M N"""
    z = torch.complex(x, y)
    return torch.view_as_real(z**3), (z.square() + z).imag, (z + 1j).abs()


def sums(x, y):
    """x: M N, y: M N"""
    z = torch.complex(x, y)
    return z.sum(1).abs(), z.sum(0, keepdim=True).real, torch.cumsum(z, 1).imag, (z * z.conj()).sum().real


def products(x, y):
    """x: M N, y: N K"""
    z, w = torch.complex(x, x.cos()), torch.complex(y, y.sin())
    return torch.view_as_real(z @ w), (z @ y.to(torch.complex64)).imag, torch.einsum("mn,nk->km", z, w).real


def moved(x, y):
    """x: M N, y: M N"""
    z = torch.complex(x, y)
    wide = torch.cat([z, z.conj() * 2], 1).reshape(z.shape[0], 2, -1).transpose(0, 1)
    return torch.view_as_real(wide), torch.stack([z, -z])[1, :, ::2].imag, z.roll(1, 1).flip(0).real


def chosen(x, y):
    """x: M N, y: M N"""
    z = torch.complex(x, y)
    return torch.view_as_real(torch.where(x > 0, z, z.conj() * 3))


def spectrum(x):
    """x: M N"""
    return torch.fft.rfft(x).abs(), torch.fft.fft(x, norm="ortho").real, torch.fft.ifft(x).imag


def mixing(x):
    """x: B M N"""
    return torch.fft.fft(torch.fft.fft(x, dim=-1), dim=-2).real


def there_and_back(x):
    """x: M N"""
    spectrum = torch.fft.rfft(x, dim=1)
    return torch.fft.irfft(spectrum * torch.exp(-spectrum.abs()), n=x.shape[1], dim=1)


def long_convolution(x, y):
    """x: M N, y: M N"""
    length = x.shape[1] * 2
    return torch.fft.irfft(torch.fft.rfft(x, n=length) * torch.fft.rfft(y, n=length), n=length)[:, : x.shape[1]]


def in_two_dimensions(x):
    """x: B M N"""
    spectrum = torch.fft.rfft2(x, norm="ortho")
    return torch.fft.irfft2(spectrum, s=x.shape[-2:], norm="ortho"), torch.fft.fftshift(torch.fft.fft2(x)).abs()


def inverse_of_all(x):
    """x: M N"""
    return torch.fft.ifftn(torch.fft.fftn(x)).real, torch.fft.hfft(torch.complex(x, -x), n=6)


def frames(x):
    """x: B 40"""
    window = torch.hann_window(8)
    return torch.stft(x, n_fft=8, hop_length=4, window=window, return_complex=True).abs()


def gabor(x):
    """x: M N"""
    t = torch.linspace(-1, 1, 9)
    kernel = torch.exp(2j * math.pi * t) * torch.exp(-t * t)
    real = F.conv1d(x[:, None], kernel.real[None, None], padding=4)
    return torch.hypot(real, F.conv1d(x[:, None], kernel.imag[None, None], padding=4))


def state_space(x):
    """x: M N"""
    poles = -torch.exp(torch.linspace(-1, 0.5, 4)) + 1j * math.pi * torch.arange(4)
    steps = torch.arange(x.shape[1]).float()
    kernel = 2 * torch.exp(poles[:, None] * 0.1 * steps).sum(0).real
    return x * kernel


def few_modes(x):
    """x: B M N"""
    f = torch.fft.rfft(x)
    out = torch.zeros_like(f)
    out[:, :, :3] = f[:, :, :3] * 2j
    return torch.fft.irfft(out, n=x.shape[-1])


def few_modes_of_two_axes(x):
    """x: B M N"""
    f = torch.fft.rfft2(x)
    out = torch.zeros(x.shape[0], x.shape[1], x.shape[2] // 2 + 1, dtype=torch.cfloat)
    out[:, :2, :3] = f[:, :2, :3] * 2
    out[:, -2:, :3] = f[:, -2:, :3].conj()
    return torch.fft.irfft2(out, s=x.shape[1:])


def filled(x):
    """x: M N"""
    z = torch.ones_like(torch.complex(x, x)) * (1 + 2j)
    w = torch.full((x.shape[0], x.shape[1]), 1 - 3j)
    return (z * w).real + (z + x).imag, torch.view_as_real(x.new_zeros(3, dtype=torch.complex64) + 1j)


def changed_in_place(x, y):
    """x: M N, y: M N"""
    z = torch.complex(x, y)
    z *= 2j
    z += x
    z.mul_(z.conj())
    return torch.view_as_real(z)


def roots(x, y):
    """x: M N, y: M N"""
    z = torch.complex(x, y)
    return z.sqrt().real, torch.view_as_real(z.sgn()), (z ** 0.5).imag


def hyperbolic(x, y):
    """x: M N, y: M N"""
    z = torch.complex(x, y)
    return torch.view_as_real(z.tanh()), z.sin().real, z.cosh().imag


def norms(x, y):
    """x: M N, y: M N"""
    z = torch.complex(x, y)
    return z.norm(dim=1), torch.linalg.vector_norm(z, dim=0), z.abs().max()


def activations_of_parts(x, y):
    """x: M N, y: M N"""
    z = torch.complex(x, y)
    return torch.view_as_real(torch.complex(z.real.relu(), z.imag.relu()))


def activations_of_lengths(x, y):
    """x: M N, y: M N"""
    z = torch.complex(x, y)
    a = z.abs()
    return torch.view_as_real(torch.relu(a - 0.5) / (a + 1e-6) * z)


def outer_products(x, y):
    """x: M, y: M"""
    z = torch.complex(x, y)
    return torch.view_as_real(torch.outer(z, z.conj()) + torch.eye(x.shape[0])), torch.vdot(z, z).real


def linear_layers(x, y):
    """x: M N, y: K N"""
    return torch.view_as_real(torch.nn.functional.linear(torch.complex(x, x), torch.complex(y, -y)))


def elements_put(x, y):
    """x: M N, y: M N"""
    z = torch.complex(x, y)
    z[:, 0] = 1j
    return torch.view_as_real(z)


def rows_put(x, y):
    """x: M N, y: M N"""
    z = torch.complex(x, y)
    z[1] = x[1]
    return torch.view_as_real(z)


def complex_constants(x):
    """x: M 4"""
    w = torch.tensor([1j, 2, 3 - 1j, 0.5])
    return torch.view_as_real(x * w)


def filled_where(x, y):
    """x: M N, y: M N"""
    z = torch.complex(x, y)
    return torch.view_as_real(z.masked_fill(x > 0.5, 0)), torch.view_as_real(torch.where(x > 0, z, 0))


def parts_changed(x, y):
    """x: M N, y: M N"""
    z = torch.complex(x, y)
    z[0].real.mul_(2)
    return torch.view_as_real(z)
