#ifndef filter_height
#define filter_height 17
#endif
#ifndef filter_width
#define filter_width 17
#endif

__constant__ float d_filter[33 * 33];

__global__ void convolution_kernel(float *output, float *input, float *filter) {
    int x = blockIdx.x * block_size_x * tile_size_x + threadIdx.x;
    int y = blockIdx.y * block_size_y * tile_size_y + threadIdx.y;
    for (int ty = 0; ty < tile_size_y; ty++)
        for (int tx = 0; tx < tile_size_x; tx++) {
            float sum = 0.0f;
            for (int i = 0; i < filter_height; i++)
                for (int j = 0; j < filter_width; j++)
                    sum += input[(y + ty * block_size_y + i) * (image_width + filter_width - 1) + x + tx * block_size_x + j] *
                           d_filter[i * filter_width + j];
            output[(y + ty * block_size_y) * image_width + x + tx * block_size_x] = sum;
        }
}
