#include "playbook/convolution_text.h"

#include <fmt/format.h>

#include "base/strings.h"
#include "language/contract.h"
#include "playbook/pointwise.h"
#include "playbook/vector_code.h"

namespace strop::playbook {

namespace {

const char* const shape_text = R"(
// x[N, C, D, H, W] and w[K, C / groups, T, R, S] give y[N, K, Z, P, Q]; of images D, T and Z are 1.
struct Shape {
    int64_t N, C, D, H, W, K, T, R, S, Z, P, Q;
    int64_t groups, stride_d, stride_h, stride_w, padding_d, padding_h, padding_w, dilation_d, dilation_h, dilation_w;
    int64_t taps() const { return T * R * S; }
    int64_t pixels() const { return Z * P * Q; }  // that a filter gives
    int64_t multiply_adds() const { return N * K * pixels() * (C / groups) * taps(); }
    int threads(int64_t parallel_min) const { return multiply_adds() >= parallel_min ? team::size() : 1; }
};
)";

const char* const helpers_text = R"(
static inline int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }
static inline int64_t ceildiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Scratch that grows and stays: fresh pages at every call would cost more than a small convolution.
template <typename T>
struct Scratch {
    T* data = nullptr;
    int64_t size = 0;
    ~Scratch() { free(data); }
    T* reserve(int64_t count) {
        if (count > size) {
            free(data);
            size = (count + 15) / 16 * 16;
            data = (T*)aligned_alloc(64, (size_t)size * sizeof(T));
            // Lanes that nobody fills are computed too, and what lies in used memory may be subnormal, which is slow.
            if (data) memset(data, 0, (size_t)size * sizeof(T));
        }
        return data;
    }
};

// The calling thread's own, one per number. Not inlined: clang lets values stay in the upper vector registers of AVX-512
// while a thread-local variable is looked up, and the lookup may change them.
template <typename T, int number>
__attribute__((noinline)) static T* scratch(int64_t count) {
    static thread_local Scratch<T> memory;
    return memory.reserve(count);
}
)";

const char* const plane_text = R"(
// One channel with its zero border: plane[i][j] = x[i * step_h - top][j * step_w - left], 0 outside the
// image, unless that is there already.
static void split_plane(const float* x, int64_t H, int64_t W, int64_t top, int64_t left, int64_t step_h,
                        int64_t step_w, float* __restrict plane, int64_t rows, int64_t pitch,
                        bool border = true) {
    const int64_t begin = smaller(pitch, ceildiv(larger(left, 0), step_w));
    const int64_t end = larger(begin, smaller(pitch, W + left <= 0 ? 0 : ceildiv(W + left, step_w)));
    for (int64_t i = 0; i < rows; ++i, plane += pitch) {
        const int64_t h = i * step_h - top;
        if (h < 0 || h >= H) {
            for (int64_t j = 0; border && j < pitch; ++j) plane[j] = 0;
            continue;
        }
        const float* row = x + h * W - left;
        for (int64_t j = 0; border && j < begin; ++j) plane[j] = 0;
        if (step_w == 1)
            for (int64_t j = begin; j < end; ++j) plane[j] = row[j];
        else if (step_w == 2)  // a constant step is vectorised
            for (int64_t j = begin; j < end; ++j) plane[j] = row[2 * j];
        else
            for (int64_t j = begin; j < end; ++j) plane[j] = row[j * step_w];
        for (int64_t j = end; border && j < pitch; ++j) plane[j] = 0;
    }
}
)";

const char* const panel_text = R"(
// Packs the weights of one panel of MR filters so that the MR weights of one (channel, row, column) lie side
// by side; filters past the group's end are 0.
static void pack_weights(const Shape& s, const float* w, int64_t panel, float* packed) {
    const int64_t filters = s.K / s.groups, depth = s.C / s.groups * s.taps(), panels = ceildiv(filters, MR);
    const int64_t first = panel % panels * MR, count = smaller(MR, filters - first);
    w += (panel / panels * filters + first) * depth;
    packed += panel * depth * MR;
    // What a vector leaves behind its MR weights is written over by the next one; the last would reach into the next panel.
    for (int64_t lane = (MR - 1) / VL * VL; lane >= 0; lane -= VL) {
        const int64_t turned = larger(0, depth + 1 - ceildiv(lane + VL, MR)), end = smaller(MR, lane + VL);
        to_lanes(w + lane * depth, depth, count - lane, turned, packed + lane, MR);
        for (int64_t d = turned; d < depth; ++d)
            for (int64_t i = lane; i < end; ++i) packed[d * MR + i] = i < count ? w[i * depth + d] : 0.0f;
    }
}
)";

std::string type_of_scalar(const Problem& problem, const std::string& name) {
    for (const Parameter& parameter : problem.parameters)
        if (parameter.name == name) return c_type(parameter.dtype);
    return "int64_t";
}

// Where an operand's values for (n, k) begin.
std::string offset_of(const EpilogueOperand& operand) {
    std::string index;
    if (operand.per_image && operand.per_filter) index = "n * s.K + k";
    else if (operand.per_image) index = "n";
    else if (operand.per_filter) index = "k";
    if (!operand.per_pixel) return index.empty() ? "0" : index;
    if (index.empty()) return "pixel";
    return (operand.per_image && operand.per_filter ? "(" + index + ")" : index) + " * area + pixel";
}

struct Finish {
    std::string text;               // the function
    std::set<std::string> helpers;  // of the prelude
    std::string lacks;
};

class FinishWriter {
public:
    FinishWriter(const Problem& problem, const Graph& graph, const ConvolutionForm& form)
        : problem_(problem),
          graph_(graph),
          form_(form) {}

    Finish write() {
        Finish finish;
        std::string head = per_filter_values(finish);
        std::string vector_loop = loop(finish, false), scalar_loop = loop(finish, true);
        std::string meaning = form_.result == form_.node ? "Writes" : "Applies the epilogue to and writes";
        finish.text = fmt::format(R"(
// {} the sums of `count` neighbouring pixels of filter k of image n.
static inline void finish(const Shape& s, const Operands& t, int64_t n, int64_t k, int64_t pixel,
                          const float* sums, int64_t count) {{
    const int64_t area = s.pixels();
    float* to = t.{} + (n * s.K + k) * area + pixel;
{}    int64_t i = 0;
    for (; i + VL <= count; i += VL) {{
{}    }}
    for (; i < count; ++i) {{
{}    }}
}}
)",
                                  meaning, form_.y, head, vector_loop, scalar_loop);
        return finish;
    }

private:
    // Everything that is the same for all pixels is computed once, before the loops.
    std::string per_filter_values(Finish& finish) {
        std::string text;
        for (const std::string& name : form_.scalars)
            text += fmt::format("    const {} {} = t.{};\n", type_of_scalar(problem_, name), name, name);
        for (const EpilogueOperand& operand : form_.operands) {
            std::string offset = offset_of(operand);
            if (operand.per_pixel) {
                text += fmt::format("    const float* {0}_at = t.{0} + {1};\n", operand.name, offset);
            } else {
                text += fmt::format("    const float {0}_k = t.{0}[{1}];\n", operand.name, offset);
                filter_values_[operand.node] = operand.name + "_k";
            }
        }
        hoist(form_.result, text, finish);
        return text;
    }

    // Subexpressions of per-filter operands only (a batch normalisation's scale) become scalars.
    void hoist(int id, std::string& text, Finish& finish) {
        const Node& node = graph_.at(id);
        if (node.family != Family::pointwise || filter_values_.count(id)) return;
        if (varies_by_pixel(graph_, form_, id)) {
            for (int operand : node.operands)
                if (operand != form_.node) hoist(operand, text, finish);
            return;
        }
        std::string name = fmt::format("{}_{}", node.op, filter_values_.size());
        PointwiseCode code = emit_pointwise(graph_, id, filter_values_, name + "_", true);
        note(code, finish);
        for (const std::string& statement : code.statements) text += "    " + statement + "\n";
        bool boolean = node.dtype == DType::boolean;
        text += fmt::format("    const {} {} = {};\n", boolean ? "bool" : "float", name, code.result);
        filter_values_[id] = name;
    }

    std::string loop(Finish& finish, bool scalar) {
        std::map<int, std::string> known;
        for (const auto& [id, name] : filter_values_) {
            bool boolean = graph_.at(id).dtype == DType::boolean;
            known[id] = scalar ? name : fmt::format("{}({})", boolean ? "splat_mask" : "splat", name);
            if (!scalar) finish.helpers.insert(boolean ? "splat_mask" : "splat");
        }
        for (const EpilogueOperand& operand : form_.operands)
            if (operand.per_pixel)
                known[operand.node] = scalar ? operand.name + "_at[i]" : "load(" + operand.name + "_at + i)";
        if (form_.result == form_.node)
            return scalar ? "        to[i] = sums[i];\n" : "        store(to + i, load(sums + i));\n";
        known[form_.node] = "value";
        PointwiseCode code = emit_pointwise(graph_, form_.result, known, "", scalar);
        note(code, finish);
        std::string text =
            scalar ? "        const float value = sums[i];\n" : "        const vec value = load(sums + i);\n";
        for (const std::string& statement : code.statements) text += "        " + statement + "\n";
        return text + "        " + (scalar ? "to[i] = " + code.result : "store(to + i, " + code.result + ")") + ";\n";
    }

    static void note(const PointwiseCode& code, Finish& finish) {
        finish.helpers.insert(code.helpers.begin(), code.helpers.end());
        if (finish.lacks.empty()) finish.lacks = code.lacks;
    }

    const Problem& problem_;
    const Graph& graph_;
    const ConvolutionForm& form_;
    std::map<int, std::string> filter_values_;  // node -> name of a scalar in `finish`
};

std::string operands_text(const Problem& problem, const ConvolutionForm& form, std::string& initialiser) {
    std::set<std::string> inputs = {form.x, form.w};
    for (const EpilogueOperand& operand : form.operands) inputs.insert(operand.name);
    std::string text = "\nstruct Operands {\n";
    std::vector<std::string> values;
    for (const Tensor& input : problem.inputs) {
        if (!inputs.count(input.name)) continue;
        text += fmt::format("    const float* {};\n", input.name);
        values.push_back(input.name);
    }
    text += fmt::format("    float* {};\n", form.y);
    values.push_back(form.y);
    for (const std::string& scalar : form.scalars) {
        text += fmt::format("    {} {};\n", type_of_scalar(problem, scalar), scalar);
        values.push_back(scalar);
    }
    initialiser = join(values, ", ");
    return text + "};\n";
}

std::string entry_text(const Problem& problem, const ConvolutionForm& form, const std::string& operands) {
    auto all = [](const std::vector<Expression>& axes) {
        std::vector<std::string> texts;
        for (const Expression& axis : axes) texts.push_back(axis.cpp());
        return join(texts, ", ");
    };
    std::vector<std::string> input = {form.images.cpp(), form.channels.cpp(), all(form.image)};
    std::vector<std::string> weights = {form.filters.cpp(), all(form.kernel)};
    std::vector<std::string> steps = {form.groups.cpp(), all(form.stride), all(form.padding), all(form.dilation)};
    std::vector<std::string> lines = {join(input, ", ") + ", " + join(weights, ", "), all(form.out), join(steps, ", ")};
    return fmt::format(R"(
{} {{
    const Shape shape = {{{}}};
    if (shape.N * shape.K * shape.pixels() == 0) return;
    convolve(shape, Operands{{{}}});
}}
)",
                       signature(problem), join(lines, ",\n                         "), operands);
}

}  // namespace

std::string write_convolution(const Problem& problem, const Graph& graph, const ConvolutionForm& form,
                              const ConvolutionText& text, std::string& lacks) {
    Finish finish = FinishWriter(problem, graph, form).write();
    lacks = finish.lacks;
    if (!lacks.empty()) return {};
    finish.helpers.insert({"load", "store", "splat"});
    finish.helpers.insert(text.helpers.begin(), text.helpers.end());
    if (text.panels) finish.helpers.insert("to_lanes");
    std::string values;
    std::string source = text.head + "// strop:team\n" + text.tunables + "#include <stdlib.h>\n#include <string.h>\n" +
                         vector_prelude(finish.helpers);
    source += shape_text + operands_text(problem, form, values) + helpers_text + finish.text;
    if (!text.constants.empty()) source += "\n" + text.constants;
    if (text.planes) source += plane_text;
    if (text.panels) source += panel_text;
    return source + text.body + entry_text(problem, form, values);
}

RegisterTile::RegisterTile(const Machine& machine)
    : lanes(machine.vector_bytes / 4),
      registers(machine.vector_registers) {}

// The accumulators, one row of vectors and a broadcast must stay in registers.
std::string RegisterTile::tunables(const std::string& rows_name, const std::string& vectors_name) const {
    std::string row_values = registers >= 32 ? "8 | 6 | 12 | 14 | 4" : "6 | 4 | 2 | 1";
    return fmt::format(
        "// strop:tune VL = {0}\n"
        "// strop:tune {1} = {2}\n"
        "// strop:tune {3} = 2 | 3 | 4 | 1\n"
        "// strop:require ({1} * {3} + {3} + 1) * VL <= {4}\n",
        vector_lengths(4 * lanes), rows_name, row_values, vectors_name, registers * lanes);
}

}  // namespace strop::playbook
