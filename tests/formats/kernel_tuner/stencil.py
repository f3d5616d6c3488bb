#!/usr/bin/env python
"""A five-point stencil, with device memory of pycuda."""
import numpy
import pycuda.autoinit
import pycuda.driver as drv
import pycuda.gpuarray as gpuarray
from kernel_tuner import tune_kernel

kernel_string = """
__global__ void stencil(float *x_new, const float *x_old) {
    int x = blockIdx.x * block_size_x + threadIdx.x;
    int y = blockIdx.y * block_size_y + threadIdx.y;
    if (y > 0 && y < ny - 1 && x > 0 && x < nx - 1) {
        x_new[y * nx + x] = (x_old[y * nx + x] + x_old[y * nx + x - 1] + x_old[y * nx + x + 1] + x_old[(y + 1) * nx + x] +
                             x_old[(y - 1) * nx + x]) / 5.0f;
    }
}
"""

nx, ny = 1024, 768
kernel_string = kernel_string.replace("nx", str(nx)).replace("ny", str(ny))

drv.init()
context = drv.Device(0).retain_primary_context()
context.push()
attributes = drv.Device(0).get_attributes()

x_old = numpy.random.randn(nx * ny).astype(numpy.float32)
x_new = gpuarray.to_gpu(x_old)
args = [x_new, x_old]

tune_params = {
    "block_size_x": [16 * i for i in range(1, 33)],
    "block_size_y": list(map(lambda e: 2**e, range(6))),
}

# a block of a multiple of a warp
restrictions = lambda block_size_x, block_size_y: (block_size_x * block_size_y) % 32 == 0 and block_size_x * block_size_y <= 1024

try:
    results, env = tune_kernel("stencil", kernel_string, (nx, ny), args, tune_params, restrictions=restrictions,
                               grid_div_x=["block_size_x"], grid_div_y=["block_size_y"], lang="CUDA", quiet=True)
finally:
    context.pop()

print(len(results))
