#include "run/small_shapes.h"

#include "base/hash.h"
#include "search/dispatch.h"

namespace strop {

namespace {

constexpr int64_t most_elements = 3000;  // of all tensors
constexpr size_t most_shapes = 4;

}  // namespace

std::vector<ShapePoint> small_shapes(const Problem& problem, uint64_t seed) {
    std::vector<ShapePoint> small;
    std::vector<ShapePoint> pool = search::held_out_shapes(problem, 60, 16 << 10, mix64(seed + 9), {});
    pool.insert(pool.end(), problem.points.begin(), problem.points.end());
    for (const ShapePoint& point : pool) {
        int64_t elements = 0;
        for (const auto* tensors : {&problem.inputs, &problem.outputs})
            for (const Tensor& tensor : *tensors) elements += element_count(problem, tensor, point.dims);
        if (elements <= most_elements && elements > 0 && small.size() < most_shapes) small.push_back(point);
    }
    return small;
}

std::vector<ShapePoint> with_small_shapes(const Problem& problem, uint64_t seed) {
    std::vector<ShapePoint> points = problem.points;
    for (const ShapePoint& point : small_shapes(problem, seed))
        if (!in_sweep(problem, point.dims)) points.push_back(point);
    return points;
}

}  // namespace strop
