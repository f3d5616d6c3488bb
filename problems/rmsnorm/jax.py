import jax
import jax.numpy as jnp


def rmsnorm(x, gamma, eps):
    return x * jax.lax.rsqrt(jnp.mean(x * x, axis=1, keepdims=True) + eps) * gamma
