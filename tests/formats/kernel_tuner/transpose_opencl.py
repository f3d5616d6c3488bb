#!/usr/bin/env python
"""A transposition in OpenCL whose types and local memory are tuned, too."""
import numpy as np
import pyopencl as cl
from kernel_tuner import tune_kernel

SOURCE = """
__kernel void transpose(__global const REAL* in, __global REAL* out, const int width, const int height) {
    __local REAL tile[TILE][TILE + PAD];
    int x = get_group_id(0) * TILE + get_local_id(0);
    int y = get_group_id(1) * TILE + get_local_id(1);
    for (int j = 0; j < TILE; j += ROWS)
        if (x < width && y + j < height) tile[get_local_id(1) + j][get_local_id(0)] = in[(y + j) * width + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    x = get_group_id(1) * TILE + get_local_id(0);
    y = get_group_id(0) * TILE + get_local_id(1);
    for (int j = 0; j < TILE; j += ROWS)
        if (x < height && y + j < width) out[(y + j) * height + x] = tile[get_local_id(0)][get_local_id(1) + j];
}
"""


def main():
    platform = cl.get_platforms()
    devices = [device for one in platform for device in one.get_devices()]
    limit = devices[0].max_work_group_size if devices else 256

    width, height = np.int32(3000), np.int32(2000)
    src = np.random.rand(height, width).astype(np.float32)
    dst = np.zeros((width, height), dtype=np.float32)

    tune_params = {
        "TILE": [8, 16, 32, 64],
        "ROWS": [1, 2, 4, 8, 16],
        "PAD": [0, 1],
        "REAL": ["float", "half"],
        "ORDER": ["rows", "diagonal"],
        "FACTOR": [0.5, 1.0, 2.0],
        "FAST": [True, False],
    }
    restrictions = [
        f"TILE * ROWS <= {limit}",
        "TILE % ROWS == 0",
        "REAL == 'float' or FAST",
        'ORDER != "diagonal" or PAD == 1',
        "FACTOR * TILE >= 8",
    ]
    tune_kernel(kernel_name="transpose", kernel_source=SOURCE, problem_size=(int(width), int(height)),
                arguments=[src, dst, width, height], tune_params=tune_params, grid_div_x=["TILE"], grid_div_y=["TILE"],
                block_size_names=["TILE", "ROWS"], restrictions=restrictions, lang="OpenCL",
                compiler_options=["-cl-fast-relaxed-math"], answer=[None, np.ascontiguousarray(src.T), None, None],
                strategy="basinhopping")


if __name__ == "__main__":
    main()
