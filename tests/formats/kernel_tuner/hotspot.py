#!/usr/bin/env python
import argparse
import time
from collections import OrderedDict

import numpy as np
import kernel_tuner as kt
from kernel_tuner.observers import BenchmarkObserver
from kernel_tuner.observers.nvml import get_nvml_gr_clocks, NVMLObserver


class RegisterObserver(BenchmarkObserver):
    """Adds the number of registers of the kernel to the results."""

    def get_results(self):
        return {"num_regs": self.dev.current_module.num_regs}


def fits(config):
    """The halo of the time steps is inside of the block, and the block fits."""
    threads = config["block_size_x"] * config["block_size_y"]
    if threads < 32 or threads > 1024:
        return False
    wide = config["block_size_x"] * config["tile_size_x"] + 2 * config["temporal_tiling_factor"]
    high = config["block_size_y"] * config["tile_size_y"] + 2 * config["temporal_tiling_factor"]
    shared = 4 * wide * high * (2 + config["sh_power"])
    return shared <= 49152


def tune(grid_rows, grid_cols, lang):
    t_chip, chip_height, chip_width, factor_chip = 0.0005, 0.016, 0.016, 0.5
    temp_src = np.random.randn(grid_rows * grid_cols).astype(np.float32)
    power = np.random.randn(grid_rows * grid_cols).astype(np.float32)
    Cap = np.float32(factor_chip * 1.75e6 * t_chip * chip_height / grid_rows * chip_width / grid_cols)
    args = [power, temp_src, np.zeros_like(temp_src), np.int32(grid_rows), np.int32(grid_cols), Cap]

    tune_params = OrderedDict()
    tune_params["block_size_x"] = [1, 2, 4, 8, 16] + [32 * i for i in range(1, 33)]
    tune_params["block_size_y"] = [2**i for i in range(6)]
    tune_params["tile_size_x"] = [1, 2, 3, 4]
    tune_params["tile_size_y"] = [1, 2, 3, 4]
    tune_params["temporal_tiling_factor"] = [i for i in range(1, 6)]
    tune_params["loop_unroll_factor_t"] = [i for i in range(1, 6)]
    tune_params["sh_power"] = [0, 1]
    tune_params["blocks_per_sm"] = [0, 1, 2]

    restrictions = [
        fits,
        "temporal_tiling_factor % loop_unroll_factor_t == 0",
        "block_size_x*block_size_y*max(1, blocks_per_sm) <= 2048",
    ]

    metrics = OrderedDict([("GFLOP/s", lambda p: grid_rows * grid_cols * 15 / 1e6 / p["time"])])
    problem_size = (grid_cols, grid_rows)

    begin = time.time()
    results, env = kt.tune_kernel(
        "calculate_temp", "hotspot.cu", problem_size, args, tune_params,
        grid_div_x=["block_size_x", "tile_size_x"], grid_div_y=["block_size_y", "tile_size_y"],
        restrictions=restrictions, lang=lang, metrics=metrics,
        observers=[RegisterObserver(), NVMLObserver(["nvml_power"])],
        strategy="random_sample", strategy_options={"fraction": 0.1}, simulation_mode=False,
    )
    print("took", time.time() - begin)
    return results, env


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-r", "--rows", type=int, default=1024)
    parser.add_argument("-c", "--cols", type=int, default=1024)
    parser.add_argument("-l", "--lang", choices=["CUDA", "HIP", "OpenCL"], default="CUDA")
    args = parser.parse_args()
    tune(args.rows, args.cols, args.lang)


if __name__ == "__main__":
    main()
