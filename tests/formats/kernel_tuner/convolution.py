#!/usr/bin/env python
import os

import numpy
import kernel_tuner
from kernel_tuner import run_kernel, tune_kernel

here = os.path.dirname(os.path.realpath(__file__))


def tune_convolution(image_size=4096, filter_size=17):
    with open(os.path.join(here, "convolution.cu"), "r") as f:
        kernel_string = f"#define image_width {image_size}\n" + f.read()

    problem_size = (image_size, image_size)
    size = numpy.prod(problem_size)

    border = filter_size - 1
    input_size = (problem_size[0] + border) * (problem_size[1] + border)

    output_image = numpy.zeros(size).astype(numpy.float32)
    input_image = numpy.random.randn(input_size).astype(numpy.float32)
    filter_weights = numpy.random.randn(filter_size * filter_size).astype(numpy.float32)
    cmem_args = {"d_filter": filter_weights}

    args = [output_image, input_image, filter_weights]

    # the naive kernel gives the answer
    params = {"block_size_x": 16, "block_size_y": 16, "tile_size_x": 1, "tile_size_y": 1}
    results = run_kernel("convolution_kernel", kernel_string, problem_size, args, params,
                         grid_div_y=["block_size_y"], grid_div_x=["block_size_x"], cmem_args=cmem_args)
    answer = [results[0], None, None]

    tune_params = {}
    tune_params["filter_height"] = [filter_size]
    tune_params["filter_width"] = [filter_size]
    tune_params["block_size_x"] = [1, 2, 4, 8] + [16 * i for i in range(1, 17)]
    tune_params["block_size_y"] = [2**i for i in range(5)]
    tune_params["tile_size_x"] = [i for i in range(1, 9)]
    tune_params["tile_size_y"] = [i for i in range(1, 9)]
    tune_params["read_only"] = [0, 1]
    tune_params["use_padding"] = [0, 1]
    tune_params["use_shmem"] = [0, 1]

    max_shared = 48 * 1024

    restrict = [
        "block_size_x*block_size_y>=64",
        "block_size_x*block_size_y<=1024",
        "tile_size_x*tile_size_y<30",
        # padding is for shared memory and blocks that are no multiple of 32
        "use_padding==0 or (use_shmem == 1 and block_size_x % 32 != 0)",
        lambda p: p["use_shmem"] == 0 or 4 * (p["block_size_x"] * p["tile_size_x"] + border)
        * (p["block_size_y"] * p["tile_size_y"] + border) < max_shared,
        lambda p: not (p["use_shmem"] == 0 and p["read_only"] == 1),
    ]

    return tune_kernel("convolution_kernel", kernel_string, problem_size, args, tune_params,
                       grid_div_y=["block_size_y", "tile_size_y"], grid_div_x=["block_size_x", "tile_size_x"],
                       restrictions=restrict, cmem_args=cmem_args, answer=answer, verbose=True, cache="convolution_cache",
                       strategy="genetic_algorithm", strategy_options=dict(popsize=20, maxiter=50, max_fevals=300))


if __name__ == "__main__":
    tune_convolution()
