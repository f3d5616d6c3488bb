import jax


def bias_gelu_residual(x, bias, scale, residual):
    return jax.nn.gelu(x + bias, approximate=True) * scale + residual
