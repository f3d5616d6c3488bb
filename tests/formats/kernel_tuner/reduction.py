#!/usr/bin/env python
"""Tunes a reduction in two stages: the number of blocks of the first is the size of the second."""

import json
import os
from collections import OrderedDict

import numpy
from kernel_tuner import run_kernel, tune_kernel
from kernel_tuner.file_utils import store_metadata_file, store_output_file


def tune():
    kernel_file = os.path.join(os.path.dirname(os.path.abspath(__file__)), "reduction.cu")

    tune_params = OrderedDict()
    tune_params["block_size_x"] = [2**i for i in range(5, 11)]
    tune_params["vector"] = [2**i for i in range(3)]
    tune_params["use_shuffle"] = [0, 1]
    tune_params["num_blocks"] = [2**i for i in range(5, 16)]

    max_blocks = max(tune_params["num_blocks"])
    size = 80000000
    problem_size = "num_blocks"

    x = numpy.random.rand(size).astype(numpy.float32)
    sum_x = numpy.zeros(max_blocks).astype(numpy.float32)
    n = numpy.int32(size)

    args = [sum_x, x, n]

    # the sum that the first stage has to give
    reference = [numpy.sum(x, dtype=numpy.float64), None, None]

    def verify_partial_reduce(cpu_result, gpu_result, atol=None):
        return numpy.isclose(cpu_result[0], numpy.sum(gpu_result[0]), atol=atol)

    # the second stage runs once to see that it works at all
    partial = run_kernel("sum_floats", kernel_file, 1, [sum_x, sum_x, numpy.int32(max_blocks)],
                         {"block_size_x": 256, "vector": 1, "use_shuffle": 0, "num_blocks": 1}, grid_div_x=[])
    assert partial[0].dtype == numpy.float32

    first_kernel, env = tune_kernel("sum_floats", kernel_file, problem_size, args, tune_params, grid_div_x=[], verbose=True,
                                    answer=reference, verify=verify_partial_reduce, atol=1.0,
                                    restrictions=["vector*block_size_x <= 2048", "use_shuffle==0 or block_size_x >= 64"])

    # the second stage, with one block
    tune_params["num_blocks"] = [1]
    args = [sum_x, sum_x, numpy.int32(max_blocks)]
    second_kernel, _ = tune_kernel("sum_floats", kernel_file, 1, args, tune_params, grid_div_x=[], verbose=True)

    store_output_file("reduction.json", first_kernel, tune_params)
    store_metadata_file("reduction-metadata.json")
    with open("reduction_both.json", "w") as fp:
        json.dump([first_kernel, second_kernel, env], fp)


if __name__ == "__main__":
    tune()
