#!POPCORN leaderboard grayscale_v2
from task import input_t, output_t


def custom_kernel(data: input_t) -> output_t:
    rgb, output = data
    output[...] = 0.2989 * rgb[..., 0] + 0.5870 * rgb[..., 1] + 0.1140 * rgb[..., 2]
    return output
