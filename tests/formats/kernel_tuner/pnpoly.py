#!/usr/bin/env python
"""Points in a polygon, with arrays of cupy and a metric of our own; written for kernel_tuner >= 1.0."""
import logging
import sys

import cupy as cp
import numpy as np
from kernel_tuner import tune_kernel
from kernel_tuner.observers.nvml import NVMLObserver

logging.basicConfig(level=logging.INFO)

size = np.int32(2e7)
vertices = 600
problem_size = (int(size), 1)

points = cp.random.randn(2 * size, dtype=cp.float32)
bitmap = cp.zeros(size, dtype=cp.int32)

vertex_seeds = np.sort(np.random.rand(vertices) * 2.0 * np.pi)[::-1]
vertex_x = np.cos(vertex_seeds)
vertex_y = np.sin(vertex_seeds)
vertex_xy = np.array(list(zip(vertex_x, vertex_y))).astype(np.float32)

args = [bitmap, points, size]
cmem_args = {"d_vertices": vertex_xy}

tune_params = dict()
tune_params["block_size_x"] = [32 * i for i in range(1, 32)]
tune_params["tile_size"] = [1] + [2 * i for i in range(1, 11)]
tune_params["between_method"] = [0, 1, 2, 3]
tune_params["use_precomputed_slopes"] = [0, 1]
tune_params["use_method"] = [0, 1, 2]
tune_params["nvml_gr_clock"] = np.arange(1050, 1500, 150)

registers = {1: 32, 2: 40}
only_fast = len(sys.argv) > 1 and sys.argv[1] == "fast"


def slopes_need_method(p):
    # slopes are of use where methods divide
    return not p["use_precomputed_slopes"] or p["between_method"] in (2, 3)


restrictions = [
    slopes_need_method,
    lambda p: p["block_size_x"] * p["tile_size"] <= 8192 and p["block_size_x"] % 64 == 0 or p["tile_size"] == 1,
    lambda p: (p["use_method"] != 2) if only_fast else True,
]

metrics = dict()
metrics["MPoints/s"] = lambda p: (size / 1e6) / (p["time"] / 1e3)
metrics["GPoints/J"] = lambda p: (size / 1e9) / p["nvml_energy"]

results, env = tune_kernel(
    "cn_pnpoly", "pnpoly.cu", problem_size, args, tune_params,
    grid_div_x=["block_size_x", "tile_size"], restrictions=restrictions, cmem_args=cmem_args, lang="cupy",
    metrics=metrics, objective="GPoints/J", observers=[NVMLObserver(["nvml_energy", "core_freq"])],
    strategy="bayes_opt", strategy_options=dict(max_fevals=200, method="multi-fast"),
)
cp.cuda.Device(0).synchronize()
print("best:", max(results, key=lambda r: r["GPoints/J"]))
