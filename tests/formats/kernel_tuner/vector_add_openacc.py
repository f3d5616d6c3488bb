#!/usr/bin/env python
"""Tunes a vector addition in C++ with OpenACC, whose code is made from directives."""
from kernel_tuner import tune_kernel
from kernel_tuner.utils.directives import Code, Cxx, OpenACC, process_directives

# Naive Python implementation
code = """
#include <stdlib.h>

#define VECTOR_SIZE 1000000

int main(void) {
    int size = VECTOR_SIZE;
    float * a = (float *) malloc(VECTOR_SIZE * sizeof(float));
    float * b = (float *) malloc(VECTOR_SIZE * sizeof(float));
    float * c = (float *) malloc(VECTOR_SIZE * sizeof(float));

    #pragma tuner start vector_add a(float*:VECTOR_SIZE) b(float*:VECTOR_SIZE) c(float*:VECTOR_SIZE) size(int:VECTOR_SIZE)
    #pragma acc parallel vector_length(vector_length_vector_add)
    #pragma acc loop
    for (int i = 0; i < size; i++) {
        c[i] = a[i] + b[i];
    }
    #pragma tuner stop

    free(a);
    free(b);
    free(c);
}
"""

# Extract tunable directive
app = Code(OpenACC(), Cxx())
kernel_string, kernel_args = process_directives(app, code)

tune_params = dict()
tune_params["vector_length_vector_add"] = [2**i for i in range(0, 11)]
tune_params["tile"] = (1, 2, 4, 8)
metrics = dict()
metrics["GB/s"] = lambda x: ((2 * 4 * 1000000) + (4 * 1000000)) / (x["time"] / 10**3) / 10**9

answer = [None, None, kernel_args["vector_add"][0] + kernel_args["vector_add"][1], None]

tune_kernel(
    "vector_add",
    kernel_string["vector_add"],
    0,
    kernel_args["vector_add"],
    tune_params,
    metrics=metrics,
    answer=answer,
    restrictions=["vector_length_vector_add * tile <= 1024"],
    compiler_options=["-fast", "-acc=gpu"],
    compiler="nvc++",
)
