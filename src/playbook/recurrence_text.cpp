#include "playbook/recurrence_text.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/strings.h"
#include "language/contract.h"
#include "language/cpp_source.h"
#include "playbook/loop_text.h"
#include "playbook/plain_loops.h"
#include "playbook/plain_value.h"
#include "playbook/pointwise_part.h"
#include "playbook/vector_code.h"

namespace strop::playbook {

namespace {

const char* const product_text = R"(
constexpr int NR = NRV * VL;

// Columns of whole panels of NR.
constexpr int64_t in_panels(int64_t columns) { return (columns + NR - 1) / NR * NR; }

// sums = left * right for ROWS rows and columns begin to end; the right operand lies in panels of NR columns, k by k.
template <int ROWS>
static inline void multiply(const float* left, const float* right, int64_t depth, int64_t columns, int64_t begin,
                            int64_t end, float* sums) {
    right += begin * depth;
    for (int64_t n = begin; n < end; n += NR) {
        vec total[ROWS][NRV] = {};  // in registers
        for (int64_t k = 0; k < depth; ++k, right += NR) {
            vec row[NRV];
#pragma GCC unroll 8
            for (int v = 0; v < NRV; ++v) row[v] = load(right + v * VL);
#pragma GCC unroll 16
            for (int i = 0; i < ROWS; ++i)
#pragma GCC unroll 8
                for (int v = 0; v < NRV; ++v) total[i][v] += splat(left[i * depth + k]) * row[v];
        }
#pragma GCC unroll 16
        for (int i = 0; i < ROWS; ++i)
#pragma GCC unroll 8
            for (int v = 0; v < NRV; ++v) store(sums + i * in_panels(columns) + n + v * VL, total[i][v]);
    }
}
)";

class Writer {
public:
    explicit Writer(const RecurrenceForm& form) : form_(form), problem_(form.problem) {
        for (const auto* tensors : {&problem_.inputs, &problem_.outputs})
            for (const Tensor& tensor : *tensors) taken_.insert(tensor.name);
        for (const Parameter& parameter : problem_.parameters) taken_.insert(parameter.name);
        taken_.insert(problem_.dimensions.begin(), problem_.dimensions.end());
        for (const RowBuffer& buffer : form.buffers) taken_.insert({buffer.name, buffer.name + "_columns"});
        taken_.insert({form.row, form.step});
        taken_.insert(recurrence_kernel_names().begin(), recurrence_kernel_names().end());
    }

    KernelParts write() {
        Lines take(1);
        if (shares_columns()) write_step(take);
        else write_take(take);
        std::string body = functions_ + "struct Recurrence {\n" + members() + packs_ + block_head() + take.text() +
                           "    }\n};\n\n" + entry();
        KernelParts parts;
        parts.body = body;
        const std::string helpers = plain_helpers(helpers_);
        parts.helpers = library_headers(helpers + body) + helpers + "\n#include <stdlib.h>\n" + scratch_helper(true) +
                        (has_products() ? product_text : "");
        parts.used = {"load", "store", "splat"};
        parts.lacks = lacks_;
        return parts;
    }

private:
    static std::string library_headers(const std::string& text) {
        std::string headers;
        if (text.find("std::m") != std::string::npos) headers += "#include <algorithm>\n";
        if (text.find("std::") != std::string::npos || text.find("INFINITY") != std::string::npos ||
            text.find("NAN") != std::string::npos)
            headers += "#include <cmath>\n#include <limits>\n#include <type_traits>\n";
        return headers;
    }

    bool shares_columns() const { return form_.share == RecurrenceShare::columns; }
    bool whole_rows() const { return form_.whole_rows && !shares_columns(); }

    bool has_products() const {
        return std::any_of(form_.phases.begin(), form_.phases.end(),
                           [](const auto& phase) { return !phase.products.empty(); });
    }

    std::string members() const {
        std::string text;
        for (const std::string& part : split(parameter_list(problem_), ','))
            text += "    " + std::string(trim(part)) + ";\n";
        for (size_t k = 0; k < products_; ++k) text += fmt::format("    float* packed_{};\n", k + 1);
        return text + "\n";
    }

    std::string block_head() const {
        if (shares_columns()) return "";
        return fmt::format(
            "    // Rows {0} to {0} + ROWS{1} from the first step to the last.\n    template <int ROWS>\n"
            "    void take(int64_t {0}, float* local{2}) const {{\n",
            form_.row, form_.whole_rows ? "" : ", columns begin to end",
            form_.whole_rows ? "" : ", int64_t begin, int64_t end");
    }

    // Memory of the states, which all threads see; sums are each thread's own.
    void name_states(Lines& lines) const {
        std::string before;
        for (const RowBuffer& buffer : form_.buffers) {
            if (buffer.padded) continue;
            const std::string columns = columns_of(buffer);
            lines.add(fmt::format("float* const {} = states{} + {} * {};", buffer.name, before, form_.row, columns));
            before += fmt::format(" + {} * {}", factor(form_.rows), columns);
        }
    }

    void write_step(Lines& lines) {
        const std::string head = fmt::format("(int64_t {}, int64_t begin, int64_t end, float* states", form_.row);
        auto open = [&](Lines& out, const std::string& comment, const std::string& rest) {
            out.add("// " + comment);
            out.add("template <int ROWS>");
            out.add("void " + rest + " const {");
            name_states(out);
        };
        Lines all(1);
        open(all, "Columns begin to end of the states before the first step.", "start" + head + ")");
        for (const RowLoop& loop : form_.initial) all.add(call(loop, "start"));
        all.add("}");
        all.add("");
        open(all,
             "Columns begin to end of one step. What other columns need of the step before stays until all are done.",
             "take" + head + fmt::format(", int64_t {}, float* local)", form_.step));
        std::string before = "local";
        for (const RowBuffer& buffer : form_.buffers) {
            if (!buffer.padded) continue;
            all.add(fmt::format("const int64_t {}_columns = in_panels({});", buffer.name, buffer.columns.cpp()));
            all.add(fmt::format("float* const {} = {};", buffer.name, before));
            before = fmt::format("{} + ROWS * {}_columns", buffer.name, buffer.name);
        }
        const int64_t columns = form_.phases[1].loops[0].columns.evaluate_integer({});
        for (const RowProduct& product : form_.phases[1].products)
            for (int64_t part = 0; part < product.columns.evaluate_integer({}); part += columns)
                multiply(product, all, part);
        all.add(call(form_.phases[1].loops[0], "step"));
        for (const RecurrenceForm::Reading& reading : form_.readings)
            all.add(fmt::format("if ({} == {}) {}", form_.step,
                                reading.step ? std::to_string(*reading.step) : (form_.steps - Expression(1)).cpp(),
                                call(reading.loop, "read")));
        all.add("}");
        all.add("");
        open(all, "The next step may begin.", "turn" + head + ")");
        for (const RecurrenceForm::Copy& copy : form_.copies) copy_buffer(copy, all);
        lines = all;
    }

    void write_take(Lines& lines) {
        Lines inner(2);
        std::string before = "local";
        for (size_t k = 0; k < form_.buffers.size(); ++k) {
            const RowBuffer& buffer = form_.buffers[k];
            if (buffer.padded)
                inner.add(fmt::format("const int64_t {}_columns = in_panels({});", buffer.name, buffer.columns.cpp()));
            inner.add(fmt::format("float* const {} = {};", buffer.name, before));
            before = fmt::format("{} + ROWS * {}", buffer.name, columns_of(buffer));
        }
        for (const RowLoop& loop : form_.initial) inner.add(call(loop, "start"));
        inner.add(fmt::format("for (int64_t {0} = 0; {0} < {1}; ++{0}) {{", form_.step, form_.steps.cpp()));
        for (const RecurrenceForm::Phase& phase : form_.phases) {
            for (const RowProduct& product : phase.products) multiply(product, inner, {});
            for (const RowLoop& loop : phase.loops) inner.add(call(loop, "step"));
        }
        for (const RecurrenceForm::Reading& reading : form_.readings)
            if (reading.step)
                inner.add(fmt::format("if ({} == {}) {}", form_.step, *reading.step, call(reading.loop, "read")));
        for (const RecurrenceForm::Copy& copy : form_.copies) copy_buffer(copy, inner);
        inner.add("}");
        for (const RecurrenceForm::Reading& reading : form_.readings)
            if (!reading.step) inner.add(call(reading.loop, "read"));
        lines = inner;
    }

    static std::string columns_of(const RowBuffer& buffer) {
        return buffer.padded ? buffer.name + "_columns" : factor(buffer.columns);
    }

    // `part`: the first of the columns of which begin to end are taken; without one all are.
    void multiply(const RowProduct& product, Lines& lines, std::optional<int64_t> part) {
        const size_t k = part.value_or(0) > 0 ? products_ : ++products_;
        const std::string columns = product.columns.cpp();
        std::string range = "0, " + columns;
        if (part) range = *part == 0 ? "begin, end" : fmt::format("{0} + begin, {0} + end", *part);
        lines.add(fmt::format("multiply<ROWS>({}, packed_{}, {}, {}, {}, {});", form_.buffers[product.left].name, k,
                              product.depth.cpp(), columns, range, form_.buffers[product.sums].name));
        if (part.value_or(0) > 0) return;
        PlainValues values(product.weights, taken_);
        // The last axis of the weights runs innermost.
        const TermIndex index = product.columns_first ? TermIndex{{"n", 2, true}, {"k", 3, true}}
                                                      : TermIndex{{"k", 2, true}, {"n", 3, true}};
        const Term value = values.at(product.weights.outputs[0], index);
        note(values);
        write_pack(k, product, value, values);
        packed_.push_back(fmt::format("in_panels({}) * {}", product.columns.cpp(), factor(product.depth)));
        panels_.push_back(fmt::format("in_panels({}) / NR", product.columns.cpp()));
        work_ += fmt::format("{}{} * {}", work_.empty() ? "" : " + ", factor(product.depth), factor(product.columns));
    }

    void write_pack(size_t k, const RowProduct& product, const Term& value, PlainValues& values) {
        const std::string depth = product.depth.cpp(), columns = product.columns.cpp();
        Lines pack(1);
        pack.add(fmt::format("// Panels begin to end of the right operand of {}; columns beyond the last are 0.",
                             form_.buffers[product.sums].name));
        pack.add(fmt::format("void pack_{}(int64_t begin, int64_t end) const {{", k));
        pack.add(values.statements(0));
        pack.add("for (int64_t panel = begin; panel < end; ++panel) {");
        pack.add(fmt::format("float* const to = packed_{} + panel * NR * {};", k, factor(product.depth)));
        pack.add(fmt::format("const int64_t first = panel * NR, last = first + NR < {0} ? first + NR : {0};", columns));
        pack.add(fmt::format("if (last < first + NR) for (int64_t i = 0; i < NR * {}; ++i) to[i] = 0;",
                             factor(product.depth)));
        const std::string by_column = "for (int64_t n = first; n < last; ++n) {",
                          by_depth = fmt::format("for (int64_t k = 0; k < {}; ++k) {{", depth);
        pack.add(product.columns_first ? by_column : by_depth);
        pack.add(values.statements(2));
        pack.add(product.columns_first ? by_depth : by_column);
        pack.add(values.statements(3));
        pack.add(fmt::format("to[k * NR + n - first] = {};", value.text));
        for (int i = 0; i < 4; ++i) pack.add("}");
        packs_ += pack.text() + "\n";
    }

    void note(PlainValues& values) {
        helpers_.merge(values.helpers);
        if (lacks_.empty()) lacks_ = values.lacks;
    }

    void copy_buffer(const RecurrenceForm::Copy& copy, Lines& lines) const {
        const RowBuffer &from = form_.buffers[copy.from], &to = form_.buffers[copy.to];
        const std::string columns = columns_of(to);
        if (whole_rows()) {
            lines.add(
                fmt::format("for (int64_t i = 0; i < ROWS * {}; ++i) {}[i] = {}[i];", columns, to.name, from.name));
        } else {
            lines.add("for (int64_t i = 0; i < ROWS; ++i)");
            lines.add(fmt::format("    for (int64_t j = begin; j < end; ++j) {0}[i * {2} + j] = {1}[i * {2} + j];",
                                  to.name, from.name, columns));
        }
    }

    // The text of a call; its function is added to the file. Arrays that a function writes are reached by one name
    // each, so that the compiler makes vectors of its loop.
    std::string call(const RowLoop& loop, const std::string& verb) {
        PlainValues values(loop.graph, taken_);
        std::vector<std::string> stores;
        std::set<std::string> written;
        for (const RowResult& result : loop.results) {
            const std::vector<Expression>& shape = loop.graph.at(result.node).shape;
            TermIndex index(shape.size(), Term{"0", 0, true});
            for (size_t axis = 0; axis + 1 < shape.size(); ++axis)
                if (!shape[axis].is_literal(1)) index[axis] = {"i", 1, true};
            if (!index.empty() && !shape.back().is_literal(1)) index.back() = {"j", 2, true};
            Term value = values.at(result.node, index);
            if (loop.results.size() > 1 || result.places.size() + result.buffer.has_value() > 1) {
                const std::string name = values.fresh("value");
                values.add(2, fmt::format("const float {} = {};", name, value.text));
                value = {name, 2, true};
            }
            if (result.buffer) {
                const RowBuffer& buffer = form_.buffers[*result.buffer];
                stores.push_back(fmt::format("{}[i * {} + j] = {};", buffer.name, columns_of(buffer), value.text));
                written.insert(buffer.name);
            }
            for (const RowResult::Place& place : result.places) {
                stores.push_back(fmt::format("{} = {};", place.element, value.text));
                written.insert(place.output);
            }
        }
        note(values);
        const std::string columns = loop.columns.cpp();
        if (verb == "step") work_ += fmt::format("{}16 * {}", work_.empty() ? "" : " + ", factor(loop.columns));
        Lines body(1);
        body.add(values.statements(0));
        body.add("for (int64_t i = 0; i < ROWS; ++i) {");
        body.add(values.statements(1));
        body.add(whole_rows() ? fmt::format("for (int64_t j = 0; j < {}; ++j) {{", columns)
                              : "for (int64_t j = begin; j < end; ++j) {");
        body.add(values.statements(2));
        body.add(stores);
        body.add("}");
        body.add("}");
        return add_function(verb, body.text(), written);
    }

    std::string add_function(const std::string& verb, const std::string& body, const std::set<std::string>& written) {
        std::vector<std::string> parameters, arguments;
        auto pass = [&](const std::string& type, const std::string& name) {
            if (!mentions(body, name)) return;
            parameters.push_back(type + " " + name);
            arguments.push_back(name);
        };
        auto array = [&](const std::string& type, const std::string& name) {
            pass(written.contains(name) ? type + "* __restrict" : "const " + type + "* __restrict", name);
        };
        for (const RowBuffer& buffer : form_.buffers) array("float", buffer.name);
        for (const Tensor& input : problem_.inputs) array(c_type(input.dtype), input.name);
        for (const Tensor& output : problem_.outputs) array(c_type(output.dtype), output.name);
        for (const RowBuffer& buffer : form_.buffers)
            if (buffer.padded) pass("int64_t", buffer.name + "_columns");
        for (const Parameter& parameter : problem_.parameters) pass(c_type(parameter.dtype), parameter.name);
        for (const std::string& dimension : problem_.dimensions) pass("int64_t", dimension);
        for (const std::string& name : {form_.row, form_.step, std::string("begin"), std::string("end")})
            pass("int64_t", name);
        const std::string name = fmt::format("{}_{}", verb, ++functions_of_[verb]);
        functions_ += fmt::format("template <int ROWS>\n{} {{\n{}}}\n\n",
                                  parenthesised_list("static inline void " + name, parameters), body);
        return parenthesised_list(name + "<ROWS>", arguments, 2) + ";";
    }

    std::string entry() const {
        Lines lines(0);
        lines.add(function_head(problem_) + " {");
        std::string arguments = argument_list(problem_);
        for (size_t k = 0; k < products_; ++k) {
            const std::string before =
                k == 0 ? "scratch<0>(" + join(packed_, " + ") + ")" : fmt::format("packed_{} + {}", k, packed_[k - 1]);
            lines.add(fmt::format("float* const packed_{} = {};", k + 1, before));
            arguments += fmt::format(", packed_{}", k + 1);
        }
        lines.add(fmt::format("const Recurrence call{{{}}};", arguments));
        const std::string rows = factor(form_.rows);
        lines.add(fmt::format("const int threads = (double){} * {} * ({}) < PARALLEL_MIN ? 1 : team::size();", rows,
                              factor(form_.steps), work_));
        if (products_ > 0) {
            lines.add("team::parallel(threads, [=](team::Member me) {");
            for (size_t k = 0; k < products_; ++k)
                lines.add(fmt::format("call.pack_{}(me.begin({}), me.end({}));", k + 1, panels_[k], panels_[k]));
            lines.add("});");
        }
        if (shares_columns()) {
            take_steps(lines);
        } else {
            lines.add("team::parallel(threads, [=](team::Member me) {");
            lines.add(fmt::format("float* const local = scratch<1>(ROWS_AT_ONCE * ({}));",
                                  columns_in_memory([](const RowBuffer&) { return true; })));
            if (form_.whole_rows)
                take_rows(lines, "me.begin(" + form_.rows.cpp() + ")", "me.end(" + form_.rows.cpp() + ")", "");
            else take_tiles(lines);
            lines.add("});");
        }
        lines.add("}");
        return lines.text() + typed_entry(problem_);
    }

    // Of the buffers that are wanted: "64 + in_panels(256)".
    template <class Wanted>
    std::string columns_in_memory(Wanted wanted) const {
        std::string text;
        for (const RowBuffer& buffer : form_.buffers)
            if (wanted(buffer))
                text += (text.empty() ? "" : " + ") +
                        (buffer.padded ? "in_panels(" + buffer.columns.cpp() + ")" : factor(buffer.columns));
        return text;
    }

    // Each thread has whole panels of columns, in every step the same ones.
    void take_steps(Lines& lines) const {
        const std::string states = columns_in_memory([](const RowBuffer& buffer) { return !buffer.padded; }),
                          sums = columns_in_memory([](const RowBuffer& buffer) { return buffer.padded; });
        const std::string rows = form_.rows.cpp(), columns = form_.phases[1].loops[0].columns.cpp();
        lines.add(fmt::format("float* const states = scratch<1>({} * ({}));", factor(form_.rows), states));
        auto shared = [&](const std::string& method, const std::string& more) {
            lines.add("team::parallel(threads, [=](team::Member me) {");
            if (method == "take") lines.add(fmt::format("float* const local = scratch<2>(ROWS_AT_ONCE * ({}));", sums));
            lines.add(
                fmt::format("const int64_t begin = me.begin({0} / NR) * NR, end = me.end({0} / NR) * NR;", columns));
            lines.add("int64_t row = 0;");
            lines.add(fmt::format("for (; row + ROWS_AT_ONCE <= {}; row += ROWS_AT_ONCE)", rows));
            lines.add(fmt::format("    call.{}<ROWS_AT_ONCE>(row, begin, end, states{});", method, more));
            lines.add(
                fmt::format("for (; row < {}; ++row) call.{}<1>(row, begin, end, states{});", rows, method, more));
            lines.add("});");
        };
        shared("start", "");
        lines.add(fmt::format("for (int64_t {0} = 0; {0} < {1}; ++{0}) {{", form_.step, form_.steps.cpp()));
        shared("take", ", " + form_.step + ", local");
        if (!form_.copies.empty()) shared("turn", "");
        lines.add("}");
    }

    static void take_rows(Lines& lines, const std::string& begin, const std::string& end, const std::string& columns) {
        lines.add(fmt::format("int64_t row = {};", begin));
        lines.add(fmt::format("const int64_t last = {};", end));
        lines.add(fmt::format(
            "for (; row + ROWS_AT_ONCE <= last; row += ROWS_AT_ONCE) call.take<ROWS_AT_ONCE>(row, local{});", columns));
        lines.add(fmt::format("for (; row < last; ++row) call.take<1>(row, local{});", columns));
    }

    // Columns do not depend on each other: a task is one tile of them in ROWS_AT_ONCE rows.
    void take_tiles(Lines& lines) const {
        const std::string columns = form_.phases[0].loops[0].columns.cpp(), rows = form_.rows.cpp();
        lines.add(fmt::format(
            "const int64_t tiles = ({} + TILE - 1) / TILE, blocks = ({} + ROWS_AT_ONCE - 1) / ROWS_AT_ONCE;", columns,
            rows));
        lines.add("for (int64_t task = me.begin(blocks * tiles); task < me.end(blocks * tiles); ++task) {");
        lines.add("const int64_t begin = task % tiles * TILE;");
        lines.add(fmt::format("const int64_t end = begin + TILE < {0} ? begin + TILE : {0};", columns));
        take_rows(lines, "task / tiles * ROWS_AT_ONCE",
                  fmt::format("row + ROWS_AT_ONCE < {0} ? row + ROWS_AT_ONCE : {0}", rows), ", begin, end");
        lines.add("}");
    }

    const RecurrenceForm& form_;
    const Problem& problem_;
    std::set<std::string> taken_, helpers_;
    std::string functions_, packs_, work_, lacks_;
    std::map<std::string, int> functions_of_;
    std::vector<std::string> packed_, panels_;
    size_t products_ = 0;
};

}  // namespace

const std::set<std::string>& recurrence_kernel_names() {
    static const std::vector<std::string> all = split(
        "ROWS ROWS_AT_ONCE TILE NR NRV VL PARALLEL_MIN Recurrence vec load store splat i j k n v "
        "row first last begin end to panel local states start take turn call me team threads "
        "tiles blocks task multiply total left right depth columns in_panels free scratch",
        ' ');
    static const std::set<std::string> names(all.begin(), all.end());
    return names;
}

KernelParts write_recurrence(const RecurrenceForm& form) { return Writer(form).write(); }

}  // namespace strop::playbook
