#!/usr/bin/env python
"""Tunes a tiled matrix multiplication; only tiles that fit together are tried."""

from collections import OrderedDict
import json
import os

import numpy as np

import kernel_tuner
from kernel_tuner.nvml import NVMLObserver

# problem size as a tuple
problem_size = (4096, 4096)
size = int(np.prod(problem_size))

A = np.random.randn(*problem_size).astype(np.float32)
B = np.random.randn(*problem_size).astype(np.float32)
C = np.zeros_like(A)

args = [C, A, B]

tune_params = OrderedDict()
tune_params["block_size_x"] = [16 * 2**i for i in range(3)]
tune_params["block_size_y"] = [2**i for i in range(6)]

tune_params["tile_size_x"] = [2**i for i in range(4)]
tune_params["tile_size_y"] = [2**i for i in range(4)]

grid_div_x = ["block_size_x", "tile_size_x"]
grid_div_y = ["block_size_y", "tile_size_y"]

restrict = ["block_size_x==block_size_y*tile_size_y"]

metrics = OrderedDict()
total_flops = 2 * 4096**3
metrics["GFLOP/s"] = lambda p: (total_flops / 1e9) / (p["time"] / 1e3)

answer = [np.matmul(A[:32], B), None, None] if os.environ.get("VERIFY") else None

res, env = kernel_tuner.tune_kernel(
    "matmul_kernel",
    "matmul.cu",
    problem_size,
    args,
    tune_params,
    grid_div_y=grid_div_y,
    grid_div_x=grid_div_x,
    restrictions=restrict,
    answer=answer,
    verbose=True,
    iterations=32,
    metrics=metrics,
    observers=[NVMLObserver(["nvml_energy", "temperature"])],
)

with open("matmul.json", "w") as fp:
    json.dump(res, fp)
