// A problem: what is computed, over which shapes, how exactly, against whom. Plain data; the loader and its
// validation are in problem/.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/expression.h"

namespace strop {

enum class DType { float32, float64, int32, int64, int8, uint8, boolean, float16, bfloat16 };

size_t size_of(DType dtype);       // bytes of one element
std::string name_of(DType dtype);  // "float32", "bool", as NumPy spells it
std::string c_type(DType dtype);   // "float", "int64_t", ...; of 16-bit floating types "uint16_t", their bits
std::optional<DType> parse_dtype(const std::string& name);
bool is_floating(DType dtype);
// The 16-bit floating types are for tensors in memory only: what is read is widened, and computed in float32.
bool is_half(DType dtype);
DType computed_in(DType dtype);  // float32 for the 16-bit floating types, else the type itself
std::string dtype_names();       // "float32, float64, ...", for messages

// How an input is filled. Values are drawn afresh for every check.
//   normal: N(0,1); uniform: [0,1); positive: (0.1, 1.1); integers: [from, limit); zeros_ones: 0 or 1
enum class Fill { normal, uniform, positive, integers, zeros_ones };
std::string name_of(Fill fill);
std::optional<Fill> parse_fill(const std::string& name);

struct Tensor {
    std::string name;
    DType dtype = DType::float32;
    std::vector<Expression> shape;    // over dimensions and integer parameters; row-major, contiguous
    Fill fill = Fill::normal;         // inputs only
    std::optional<Expression> limit;  // Fill::integers: exclusive upper bound
    double scale = 1;                 // floating inputs: what is drawn is multiplied by it
    std::optional<int64_t> from;      // Fill::integers: inclusive lower bound; without it 0, of int8 -limit
};

// A scalar parameter, passed by value. Integer parameters may appear in shapes.
struct Parameter {
    std::string name;
    DType dtype = DType::float32;
    double value = 0;
};

using Dimensions = std::map<std::string, int64_t>;

// One assignment of the named dimensions.
struct ShapePoint {
    std::string label;  // "small", or "M=64,N=128" for points that have none
    Dimensions dims;
};
std::string describe(const Dimensions& dims);  // "M=64,N=128"

struct Range {
    int64_t low = 1, high = 1;
    bool declared = false;  // by the problem: a promise
};

struct Tolerance {
    double absolute = 0, relative = 0;
};

struct Problem {
    std::string name;
    std::filesystem::path folder;     // absolute; holds problem.yaml
    std::filesystem::path reference;  // absolute path of the Python file
    std::string function;             // the reference's function, usually `name`
    std::vector<std::string> tags;
    std::vector<Tensor> inputs, outputs;
    std::vector<Parameter> parameters;
    std::vector<std::string>
        dimensions;                      // in the kernel's order: first appearance in inputs, then outputs, then shapes
    std::vector<ShapePoint> points;      // the sweep, in the file's order
    std::map<std::string, Range> range;  // where the dispatching function must be right; every dimension has an entry
    std::vector<Expression> require;     // conditions on dimensions that every valid shape meets (may be empty)
    std::optional<Tolerance> tolerance;  // absent: from the float64 noise floor
    std::optional<Expression> flops, bytes;        // absent: traced from the reference
    std::vector<std::filesystem::path> baselines;  // absolute paths, .cpp or .py
    std::string hash;                              // of everything above and the reference's text
};

// Dimensions and integer parameters as bindings for the shapes' expressions.
Bindings bindings_of(const Problem& problem, const Dimensions& dims);
// The extents at one point. UsageError when an extent is negative or not whole.
std::vector<int64_t> extents(const Problem& problem, const Tensor& tensor, const Dimensions& dims);
int64_t element_count(const Problem& problem, const Tensor& tensor, const Dimensions& dims);
int64_t bytes_of(const Problem& problem, const Tensor& tensor, const Dimensions& dims);
bool has_halves(const Problem& problem);  // among inputs and outputs
// Of its sweep, in order.
std::vector<std::string> labels_of(const Problem& problem);
// Keeps the points with these labels; all when there are none.
void keep_points(Problem& problem, const std::vector<std::string>& labels);
// Whether the sweep has a point with these dimensions.
bool in_sweep(const Problem& problem, const Dimensions& dims);
// False when a dimension lies outside `range`, an extent is negative or a `require` fails.
bool admits(const Problem& problem, const Dimensions& dims);

}  // namespace strop
