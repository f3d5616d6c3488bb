import jax.numpy as jnp


def column_sum(x):
    return jnp.sum(x, axis=0)
