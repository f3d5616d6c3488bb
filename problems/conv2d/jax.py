import jax


def conv2d(x, w, stride, padding, dilation, groups):
    return jax.lax.conv_general_dilated(
        x, w, (stride, stride), [(padding, padding)] * 2, rhs_dilation=(dilation, dilation),
        dimension_numbers=("NCHW", "OIHW", "NCHW"), feature_group_count=groups)
