#include "playbook/contraction_text.h"

#include <algorithm>
#include <regex>

#include <fmt/format.h>

#include "base/strings.h"
#include "playbook/halves.h"
#include "playbook/pointwise.h"
#include "playbook/vector_code.h"

namespace strop::playbook {

namespace {

const std::set<std::string>& own_names() {
    static const std::set<std::string> names = {"m",        "n",       "k",       "i",       "j",
                                                "a",        "b",       "r",       "s",       "to",
                                                "from",     "rows",    "columns", "m0",      "m1",
                                                "n0",       "n1",      "k0",      "k1",      "kc",
                                                "nc",       "lanes",   "sums",    "batch",   "first",
                                                "last",     "moved",   "threads", "height",  "width",
                                                "share",    "count",   "packed",  "value",   "index",
                                                "call",     "rest",    "end",     "left",    "right",
                                                "row",      "column",  "unroll",  "lane",    "factor",
                                                "part",     "parts",   "tile",    "put",     "finish",
                                                "best",     "cost",    "data",    "block",   "bytes",
                                                "weights",  "lines",   "vec",     "vmask",   "load",
                                                "store",    "sum",     "batches", "p",       "to_lanes",
                                                "v",        "MR",      "NR",      "NRV",     "MC",
                                                "KC",       "NC",      "VL",      "UNROLL",  "PARALLEL_MIN",
                                                "PREFETCH", "DR",      "DC",      "KB",      "SR",
                                                "block_m",  "block_n", "depth",   "partial", "size",
                                                "SHARES",   "me"};
    return names;
}

std::string trimmed_lines(const std::string& text) { return text.starts_with("\n") ? text.substr(1) : text; }

std::string indented(const std::vector<std::string>& statements, const std::string& margin) {
    std::string text;
    for (const std::string& statement : statements) text += margin + statement + "\n";
    return text;
}

const char* const load_part_text = R"(
// The first `lanes` of a vector; the others are 0.
static inline vec load_part(const float* p, int64_t lanes) {
    return lanes >= VL ? load(p) : load_tail(p, lanes);
}
)";

const char* const store_part_text = R"(
static inline void store_part(float* p, vec v, int64_t lanes) {
    if (lanes >= VL) store(p, v);
    else store_tail(p, v, lanes);
}
)";

const char* const strided_text = R"(
// The same for lanes that lie `stride` apart.
static inline vec load_strided(const float* p, int64_t stride, int64_t lanes) {
    float lane[VL] = {};
    for (int64_t i = 0; i < VL && i < lanes; ++i) lane[i] = p[i * stride];
    return load(lane);
}
static inline void store_strided(float* p, int64_t stride, vec v, int64_t lanes) {
    float lane[VL];
    store(lane, v);
    for (int64_t i = 0; i < VL && i < lanes; ++i) p[i * stride] = lane[i];
}
)";

const char* const grid_text = R"(
struct Grid {
    int64_t columns = 1, height = 0, width = 0;
};

// Cuts rows x columns of tiles into `parts` rectangles whose largest has the fewest tiles; among equals the
// squarer one wins, which reads least.
static Grid grid_of(int64_t m, int64_t n, int64_t parts) {
    const int64_t tall = (m + @m_step@ - 1) / @m_step@, wide = (n + @n_step@ - 1) / @n_step@;
    Grid grid;
    double best = -1;
    for (int64_t rows = 1; rows <= parts; ++rows) {
        if (parts % rows != 0) continue;
        const int64_t columns = parts / rows;
        const int64_t h = (tall + rows - 1) / rows, w = (wide + columns - 1) / columns;
        const double cost = (double)h * w + 0.01 * ((double)h * @m_step@ + (double)w * @n_step@) / @n_step@;
        if (best >= 0 && cost >= best) continue;
        best = cost;
        grid = {columns, h * @m_step@, w * @n_step@};
    }
    return grid;
}
)";

const char* const smaller_text = R"(
static inline int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
)";

// The address of a vector along n, read by as many lanes as there are.
std::string part_of(const Operand& operand, const char* verb, const std::string& stored) {
    std::string place = operand.address("m", "n", "");
    if (operand.n.is(1) || operand.n.is(0)) return fmt::format("{}_part({}{}, lanes)", verb, place, stored);
    return fmt::format("{}_strided({}, {}{}, lanes)", verb, place, operand.n.cpp(), stored);
}

bool unit(const Product& stride) { return stride.is(1) || stride.is(0); }

std::string parenthesised(const Product& extent) {
    std::string text = extent.cpp();
    return text.find(' ') == std::string::npos ? text : "(" + text + ")";
}

}  // namespace

std::string fill(std::string text, const Fields& fields) {
    for (const auto& [name, value] : fields) text = replace_all(text, "@" + name + "@", value);
    return text;
}

KernelText::KernelText(const Problem& problem, const ContractionForm& form, const Machine& machine)
    : problem_(problem),
      form_(form),
      machine_(machine) {
    for (const Parameter& parameter : problem.parameters) names_.insert(parameter.name);
    names_.insert(problem.dimensions.begin(), problem.dimensions.end());
    for (const std::vector<Tensor>* tensors : {&problem.inputs, &problem.outputs})
        for (const Tensor& tensor : *tensors) names_.insert(tensor.name);
    finish_ = finish();
    if (!plain_left()) producers_ += producer("left", form_.left, Side::left, "m", "k");
    if (!plain_right()) producers_ += producer("right", form_.right, Side::right, "k", "n");
}

std::string KernelText::finish() {
    if (!form_.has_epilogue()) return {};
    std::map<int, std::string> known = {{form_.product, "value"}};
    std::set<int> uniform;
    for (const Operand* leaf : form_.leaves(form_.result, Side::epilogue)) {
        if (leaf->n.is(0)) uniform.insert(leaf->node);
        const std::string single = element(*leaf) == "float" ? "" : "(float)";  // a vector meets no type of ours
        known[leaf->node] = leaf->n.is(0) ? single + leaf->element("m", "", "") : part_of(*leaf, "load", "");
    }
    PointwiseCode code = emit_pointwise(form_.graph, form_.result, known, "", false, uniform);
    if (!code.lacks.empty()) lacks_ = code.lacks;
    helpers_.insert(code.helpers.begin(), code.helpers.end());
    return fmt::format(
        "\n    // What becomes of the sums of row m, columns n to n + lanes.\n"
        "    vec finish(vec value, [[maybe_unused]] int64_t m, [[maybe_unused]] int64_t n,\n"
        "               [[maybe_unused]] int64_t lanes) const {{\n{}        return {};\n    }}\n",
        indented(code.statements, "        "), code.result);
}

std::string KernelText::producer(const std::string& name, int node, Side side, const std::string& first,
                                 const std::string& second) {
    std::map<int, std::string> known;
    for (const Operand* leaf : form_.leaves(node, side)) known[leaf->node] = leaf->element("m", "n", "k");
    PointwiseCode code = emit_pointwise(form_.graph, node, known, "", true);
    if (!code.lacks.empty()) lacks_ = code.lacks;
    helpers_.insert(code.helpers.begin(), code.helpers.end());
    return fmt::format(
        "\n    // The {} factor is computed while it is packed.\n"
        "    float {}([[maybe_unused]] int64_t {}, [[maybe_unused]] int64_t {}) const {{\n"
        "{}        return {};\n    }}\n",
        name, name, first, second, indented(code.statements, "        "), code.result);
}

std::string KernelText::left(const std::string& m, const std::string& k) const {
    if (!plain_left()) return fmt::format("left({}, {})", m, k);
    return plain_left()->element(m, "", k);
}

std::string KernelText::right(const std::string& k, const std::string& n) const {
    if (!plain_right()) return fmt::format("right({}, {})", k, n);
    return plain_right()->element("", n, k);
}

bool KernelText::right_lies_along_k() const {
    const Operand* right = plain_right();
    return right && right->k.is(1) && !right->n.is(0) && element(*right) == "float";
}

Choice KernelText::vector_length() const {
    std::vector<std::string> values = split(replace_all(vector_lengths(machine_.vector_bytes), " ", ""), '|');
    return {"VL", values, values.at(0)};
}

Choice KernelText::parallel_min() const { return {"PARALLEL_MIN", {"200000", "50000", "1000000"}, "200000", true}; }

std::string KernelText::fits_registers(const std::string& vectors) const {
    return fmt::format("({}) * ceildiv(VL, {}) <= {}", vectors, machine_.vector_bytes / 4, machine_.vector_registers);
}

std::string KernelText::element(const Operand& operand) const { return element_type(problem_, operand.array); }

std::string KernelText::members(const std::string& extra) const {
    std::string text;
    for (const Operand& operand : form_.operands)
        text += fmt::format("    const {}* {};\n", element(operand), operand.name);
    text += fmt::format("    {}* {};\n", element(form_.output), form_.output.name);
    for (const Parameter& parameter : problem_.parameters)
        text += fmt::format("    {} {};\n", c_type(parameter.dtype), parameter.name);
    if (!problem_.dimensions.empty()) text += fmt::format("    int64_t {};\n", join(problem_.dimensions, ", "));
    if (!extra.empty()) text += "    " + extra + ";\n";
    return text;
}

std::string KernelText::at() const {
    if (!form_.batched()) return {};
    std::string text =
        "\n    // The same for one of the batches.\n    Contraction at(int64_t batch) const {\n"
        "        Contraction moved = *this;\n";
    std::vector<std::string> indices(form_.batch.size(), "batch");
    for (size_t i = form_.batch.size(); form_.batch.size() > 1 && i-- > 0;) {
        indices[i] = fmt::format("i{}", i);
        std::string extent = form_.batch[i].cpp();
        if (i == 0) text += "        const int64_t i0 = batch;\n";
        else
            text += fmt::format("        const int64_t i{} = batch % ({});\n        batch /= {};\n", i, extent,
                                parenthesised(form_.batch[i]));
    }
    std::vector<const Operand*> all;
    for (const Operand& operand : form_.operands) all.push_back(&operand);
    all.push_back(&form_.output);
    for (const Operand* operand : all) {
        std::string offset;
        for (size_t i = 0; i < form_.batch.size(); ++i)
            if (std::string one = operand->batch[i].times(indices[i]); !one.empty())
                offset += (offset.empty() ? "" : " + ") + one;
        if (!offset.empty()) text += fmt::format("        moved.{} += {};\n", operand->name, offset);
    }
    return text + "        return moved;\n    }\n";
}

std::string KernelText::put(bool blocks) const {
    const Operand& c = form_.output;
    const char* const whole = R"(
    // Takes one vector of finished sums.
    void put(vec value, int64_t m, int64_t n, int64_t lanes) const {
        @store@;
    }
)";
    const char* const partial = R"(
    // Takes one vector of sums over a block of k: adds what earlier blocks left, finishes after the last.
    void put(vec value, int64_t m, int64_t n, int64_t lanes, bool first, @unused@bool last) const {
        if (!first) value += @load@;
@finish@        @store@;
    }
)";
    bool finishes = form_.has_epilogue();
    std::string finished = finishes && !blocks ? "finish(value, m, n, lanes)" : "value";
    return fill(blocks ? partial : whole,
                {{"load", part_of(c, "load", "")},
                 {"store", part_of(c, "store", ", " + finished)},
                 {"unused", finishes ? "" : "[[maybe_unused]] "},
                 {"finish", finishes ? "        if (last) value = finish(value, m, n, lanes);\n" : ""}});
}

std::string KernelText::batches() const {
    Product all;
    for (const Product& extent : form_.batch) all = all * extent;
    return all.cpp();
}

std::string KernelText::call_at(const std::string& index) const {
    return form_.batched() ? "call.at(" + index + ")" : "call";
}

std::string KernelText::grid_entry() const {
    const char* const one = R"(
    const int threads = @MAC@ < PARALLEL_MIN ? 1 : team::size();
    if (threads == 1) return call.share(0, @M@, 0, @N@);
    const Grid grid = grid_of(@M@, @N@, threads);
    team::parallel(threads, [=](team::Member me) {
        for (int64_t i = me.begin(threads); i < me.end(threads); ++i) {
            const int64_t m0 = i / grid.columns * grid.height, n0 = i % grid.columns * grid.width;
            const int64_t m1 = smaller(m0 + grid.height, @M@), n1 = smaller(n0 + grid.width, @N@);
            if (m0 < m1 && n0 < n1) call.share(m0, m1, n0, n1);
        }
    });
)";
    const char* const many = R"(
    const int64_t batches = @batches@;
    const int threads = @MAC@ < PARALLEL_MIN ? 1 : team::size();
    if (threads == 1) {
        for (int64_t batch = 0; batch < batches; ++batch) call.at(batch).share(0, @M@, 0, @N@);
        return;
    }
    // Whole batches where they spread evenly, else each is cut for all threads.
    const int64_t parts = batches % threads == 0 || batches >= 8 * threads ? 1 : threads;
    const Grid grid = grid_of(@M@, @N@, parts);
    team::parallel(threads, [=](team::Member me) {
        for (int64_t i = me.begin(batches * parts); i < me.end(batches * parts); ++i) {
            const int64_t m0 = i % parts / grid.columns * grid.height, n0 = i % parts % grid.columns * grid.width;
            const int64_t m1 = smaller(m0 + grid.height, @M@), n1 = smaller(n0 + grid.width, @N@);
            if (m0 < m1 && n0 < n1) call.at(i / parts).share(m0, m1, n0, n1);
        }
    });
)";
    return fill(form_.batched() ? many : one, {{"batches", batches()}});
}

void KernelText::write(Recipe& recipe, Body body) const {
    std::string tunables;
    std::map<std::string, std::string> renamed;
    for (Choice& choice : body.choices) {
        // The tunables are macros, also for whoever calls the kernel: they keep clear of the problem's own
        // names.
        if (names_.contains(choice.name + "_")) renamed[choice.name] = "TILE_" + choice.name;
        std::vector<std::string>& values = choice.values;
        std::stable_partition(values.begin(), values.end(), [&](const std::string& v) { return v == choice.initial; });
        tunables +=
            fmt::format("// strop:{} {} = {}\n", choice.late ? "late" : "tune", choice.name, join(values, " | "));
        recipe.initial[renamed.contains(choice.name) ? renamed[choice.name] : choice.name] =
            static_cast<int64_t>(std::stoll(choice.initial));
    }
    for (const std::string& require : body.require) tunables += "// strop:require " + require + "\n";
    std::set<std::string> helpers = helpers_;
    helpers.insert(body.helpers.begin(), body.helpers.end());
    helpers.insert({"load", "store", "store_tail", "splat"});
    bool load_part = body.blocks || (body.members + body.entry + finish_).find("load_part") != std::string::npos;
    if (load_part) helpers.insert("load_tail");
    bool strided = !unit(form_.output.n);
    for (const Operand& operand : form_.operands)
        strided = strided || (operand.side == Side::epilogue && !unit(operand.n));
    std::string arguments;
    for (const Operand& operand : form_.operands) arguments += operand.array + ", ";
    arguments += form_.output.array;
    for (const Parameter& parameter : problem_.parameters) arguments += ", " + parameter.name;
    for (const std::string& dimension : problem_.dimensions) arguments += ", " + dimension;
    bool two_uses = body.entry.find("scratch<1>") != std::string::npos;
    std::string scratch = body.scratch ? scratch_helper(two_uses) : "";
    if (!body.extra_argument.empty()) arguments += ", " + body.extra_argument;
    std::string text =
        body.about + "\n//\n// strop:team\n" + tunables + "\n" + (body.scratch ? "#include <stdlib.h>\n" : "") +
        vector_prelude(helpers) + half_vectors(problem_, helpers) +
        (body.constants.empty() ? "" : "\n" + body.constants) +
        (load_part ? for_each_type(problem_, load_part_text) : "") + for_each_type(problem_, store_part_text) +
        smaller_text + (strided ? for_each_type(problem_, strided_text) : "") + scratch +
        (body.m_step.empty() ? "" : fill(grid_text, {{"m_step", body.m_step}, {"n_step", body.n_step}})) +
        "\nstruct Contraction {\n" + members(body.extra_member) + at() + producers_ + finish_ + put(body.blocks) +
        body.members + "};\n\n" + function_head(problem_) + " {\n    const Contraction call{" + arguments + "};\n" +
        trimmed_lines(body.entry) + "}\n" + typed_entry(problem_);
    recipe.source =
        fill(text, {{"M", parenthesised(form_.m)},
                    {"N", parenthesised(form_.n)},
                    {"K", parenthesised(form_.k)},
                    {"MAC", fmt::format("(double){} * {} * {}{}", parenthesised(form_.m), parenthesised(form_.n),
                                        parenthesised(form_.k), form_.batched() ? " * " + batches() : "")}});
    for (const auto& [from, to] : renamed)
        recipe.source = std::regex_replace(recipe.source, std::regex("\\b" + from + "\\b"), to);
    recipe.strategy.family = "contraction";
    recipe.strategy.proposer = "playbook";
}

void rename_for_kernel(Problem& problem, Graph& graph, std::map<std::string, Expression>& original) {
    std::map<std::string, Expression> renamed;
    std::map<std::string, std::string> names;
    const bool halves = has_halves(problem);
    auto rename = [&](std::string& name, bool symbolic) {
        if (!own_names().contains(name) && !(halves && half_words().contains(name))) return;
        std::string fresh = name + "_";
        names[name] = fresh;
        if (symbolic) {
            renamed[name] = Expression::symbol(fresh);
            original[fresh] = Expression::symbol(name);
        }
        name = fresh;
    };
    for (Tensor& tensor : problem.inputs) rename(tensor.name, false);
    for (Tensor& tensor : problem.outputs) rename(tensor.name, false);
    for (Parameter& parameter : problem.parameters) rename(parameter.name, true);
    for (std::string& dimension : problem.dimensions) rename(dimension, true);
    for (Node& node : graph.nodes) {
        for (Expression& extent : node.shape) extent = extent.substitute(renamed);
        if (node.dim) node.dim = node.dim->substitute(renamed);
        bool named = node.family == Family::input || node.family == Family::parameter;
        if (std::map<std::string, std::string>::const_iterator found = names.find(node.op);
            named && found != names.end())
            node.op = found->second;
    }
}

}  // namespace strop::playbook
