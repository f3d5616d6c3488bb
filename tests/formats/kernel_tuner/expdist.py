#!/usr/bin/env python
"""Tunes the distance of two localizations, sums of exponentials over all pairs, in one or two kernels."""

import argparse
import json
from collections import OrderedDict

import numpy as np
from kernel_tuner import tune_kernel

MAX_THREADS = 1024


def ceil_div(a, b):
    return (a + b - 1) // b


def allocate(size, ndim):
    A = np.random.randn(size * ndim).astype(np.float64)
    B = A + 0.00001 * np.random.randn(size * ndim)
    scale_A = np.absolute(0.01 * np.random.randn(size))
    scale_B = np.absolute(0.01 * np.random.randn(size))
    cost = np.zeros(size).astype(np.float64)
    return A, B, scale_A, scale_B, cost


def threads_fit(params):
    """Blocks have at least a warp, and no more threads than the device allows."""
    return 32 <= params["block_size_x"] * params["block_size_y"] <= MAX_THREADS


def shared_memory_fits(params):
    return (params["use_shared_mem"] == 0
            or params["block_size_x"] * params["tile_size_x"] * 24 + params["block_size_y"] * params["tile_size_y"] * 24 < 49152)


def unroll_is_of_use(params):
    return params["loop_unroll_factor_x"] <= params["tile_size_x"] and params["tile_size_x"] % params["loop_unroll_factor_x"] == 0


def tune_expdist(size, device, ndim=2):
    A, B, scale_A, scale_B, cost = allocate(size, ndim)

    tune_params = OrderedDict()
    tune_params["block_size_x"] = [2**i for i in range(5, 11)]
    tune_params["block_size_y"] = [2**i for i in range(6)]
    tune_params["tile_size_x"] = [i for i in range(1, 9)]
    tune_params["tile_size_y"] = [i for i in range(1, 9)]
    tune_params["use_shared_mem"] = [0, 1, 2]
    tune_params["loop_unroll_factor_x"] = [i for i in range(1, 9)]
    tune_params["loop_unroll_factor_y"] = [i for i in range(1, 9)]
    tune_params["use_column"] = [0, 1]
    tune_params["n_y_blocks"] = [1, 4, 1024]

    arguments = [A, B, np.int32(size), np.int32(size), scale_A, scale_B, cost]

    restrictions = [
        threads_fit,
        shared_memory_fits,
        unroll_is_of_use,
        "loop_unroll_factor_y <= tile_size_y",
        "tile_size_y % loop_unroll_factor_y == 0",
        "(use_column == 0 and n_y_blocks == 1) or (use_column == 1 and n_y_blocks > 1)",
        "not (use_column == 0 and use_shared_mem == 2)",
    ]

    grid_div_x = ["block_size_x", "tile_size_x"]
    grid_div_y = ["block_size_y", "tile_size_y"]

    metrics = OrderedDict()
    metrics["GFLOP/s"] = lambda p: 1e-6 * (size * size * ndim * 5) / p["time"]

    return tune_kernel("ExpDist", "expdist.cu", (size, size), arguments, tune_params, grid_div_x, grid_div_y,
                       restrictions=restrictions, metrics=metrics, verbose=True, compiler_options=["-O3", "-std=c++14"],
                       iterations=32, device=device, objective="GFLOP/s", objective_higher_is_better=True,
                       strategy="simulated_annealing", strategy_options={"max_fevals": 1000, "T": 1.0})


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Tunes ExpDist")
    parser.add_argument("--size", type=int, default=2**14)
    parser.add_argument("--device", "-d", type=int, default=0)
    parser.add_argument("--json", help="a file for the results")
    options = parser.parse_args()
    results, _ = tune_expdist(options.size, options.device)
    if options.json:
        with open(options.json, "w") as file:
            json.dump(results, file)
