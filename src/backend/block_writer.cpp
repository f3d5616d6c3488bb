#include "backend/block_writer.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "backend/block_functions.h"
#include "base/lines.h"
#include "base/strings.h"

namespace strop::backend {

using namespace schedule;

namespace {

constexpr int64_t short_sum = 64;  // additions in a row, so that rounding errors do not pile up

Expression symbol(const std::string& name) { return Expression::symbol(name); }

Expression blocks_of(const Expression& count, const Expression& size) {
    return Expression::parse(fmt::format("ceildiv({}, {})", count.text(), size.text()));
}

// Whether one pair of parentheses is around all of it.
bool is_grouped(const std::string& text) {
    int depth = 0;
    for (size_t i = 0; i < text.size(); ++i) {
        depth += (text[i] == '(') - (text[i] == ')');
        if (depth == 0 && i + 1 < text.size()) return false;
    }
    return text.starts_with('(') && depth == 0;
}

std::map<std::string, DType> halves_of(const Problem& problem) {
    std::map<std::string, DType> halves;
    for (const auto* tensors : {&problem.inputs, &problem.outputs})
        for (const Tensor& tensor : *tensors)
            if (is_half(tensor.dtype)) halves[tensor.name] = tensor.dtype;
    return halves;
}

// One launch as one kernel.
class KernelWriter {
public:
    KernelWriter(const Problem& problem, const Schedule& schedule, const Launch& launch, const Dialect& dialect,
                 Helpers& helpers, std::string& lacks)
        : problem_(problem),
          schedule_(schedule),
          launch_(launch),
          dialect_(dialect),
          helpers_(helpers),
          lacks_(lacks),
          shapes_(shapes_of(problem, schedule)),
          names_(taken()),
          terms_({launch_.terms, shapes_, lacks_}, dialect_, helpers_, names_, halves_of(problem)),
          laws_(dialect, helpers, lacks),
          together_(dialect, helpers, lacks, shared_) {}

    BlockKernel write() {
        BlockKernel kernel;
        kernel.name = launch_.name;
        kernel.arguments = arguments_of(problem_, schedule_, launch_);
        Lines body(1);
        write_position(body, kernel);
        for (const Step& step : launch_.steps) write_step(step, body);
        if (uses_each_) close(2, body);
        kernel.shared_bytes = kept_bytes_;
        Lines lines;
        lines.add(head(kernel) + " {");
        for (const std::string& line : shared_) lines.add(line);
        kernel.text = lines.text() + body.text() + "}\n";
        return kernel;
    }

    bool uses_block() const { return uses_block_; }
    bool uses_each() const { return uses_each_; }
    bool uses_tiles() const { return launch_.share == Share::tiles; }

private:
    std::set<std::string> taken() const {
        std::set<std::string> names = names_in(problem_, schedule_, launch_);
        names.merge(std::set<std::string>{"thread", "block", block_threads, tile_m, tile_n, tile_k, each_m, each_n});
        return names;
    }

    // ---- head
    // ----------------------------------------------------------------------------------------------

    std::string head(const BlockKernel& kernel) const {
        std::vector<std::string> arguments;
        for (const std::string& name : kernel.arguments.tensors)
            arguments.push_back(fmt::format("{}{}{}* {} {}", dialect_.global, is_input(name) ? "const " : "",
                                            dialect_.type(dtype_of(problem_, schedule_, name)), dialect_.restrict_word,
                                            name));
        for (const Parameter& parameter : problem_.parameters)
            if (std::find(kernel.arguments.parameters.begin(), kernel.arguments.parameters.end(), parameter.name) !=
                kernel.arguments.parameters.end())
                arguments.push_back(dialect_.type(parameter.dtype) + " " + parameter.name);
        for (const std::string& name : kernel.arguments.dimensions) arguments.push_back(dialect_.index + " " + name);
        return fmt::format("{} {}({})", dialect_.kernel, kernel.name, join(arguments, ", "));
    }

    bool is_input(const std::string& name) const {
        return std::any_of(problem_.inputs.begin(), problem_.inputs.end(),
                           [&](const Tensor& input) { return input.name == name; });
    }

    // ---- positions
    // -----------------------------------------------------------------------------------------

    std::string text(const Expression& expression) { return index_text(expression, lacks_); }
    std::string grouped(const Expression& expression) {
        const std::string one = text(expression);
        return expression.is_symbol() || expression.is_literal() || is_grouped(one) ? one : "(" + one + ")";
    }
    void declare(Lines& lines, const std::string& name, const std::string& value) {
        lines.add(fmt::format("const {} {} = {};", dialect_.index, name, value));
    }

    void write_position(Lines& lines, BlockKernel& kernel) {
        if (launch_.share == Share::tiles) return write_tile_position(lines, kernel);
        Expression count = 1;
        for (const Axis& axis : launch_.grid) count = count * axis.extent;
        uses_block_ = true;
        kernel.threads = symbol(block_threads);
        if (launch_.share == Share::blocks) {
            kernel.blocks = count;
            declare(lines, "thread", dialect_.thread);
            return take_apart(launch_.grid, dialect_.block, "position", lines);
        }
        const std::string name = launch_.grid.size() == 1 ? launch_.grid[0].name : names_.fresh("position");
        uses_each_ = !dialect_.unroll.empty() && is_pointwise();
        if (uses_each_) {
            // Several loads of a thread are under way together.
            kernel.blocks = blocks_of(count, symbol(block_threads) * symbol(each_element));
            const std::string first = names_.fresh("first"), e = names_.fresh("e");
            declare(lines, first,
                    fmt::format("{} * ({} * {}) + {}", dialect_.block, block_threads, each_element, dialect_.thread));
            lines.add(dialect_.unroll);
            lines.add(fmt::format("for (int {0} = 0; {0} < {1}; ++{0}) {{", e, each_element));
            declare(lines, name, fmt::format("{} + {} * {}", first, e, block_threads));
            lines.add(fmt::format("if ({} < {}) {{", name, text(count)));
        } else {
            kernel.blocks = blocks_of(count, symbol(block_threads));
            declare(lines, name, fmt::format("{} * {} + {}", dialect_.block, block_threads, dialect_.thread));
            lines.add(fmt::format("if ({} >= {}) return;", name, text(count)));
        }
        if (launch_.grid.size() > 1) take_apart(launch_.grid, name, "", lines);
    }

    // Whether a position is nothing but stores of values.
    bool is_pointwise() const {
        return std::all_of(launch_.steps.begin(), launch_.steps.end(), [](const Step& step) {
            return step.axes.empty() && std::holds_alternative<StoreStep>(step.what);
        });
    }

    // One number as a position on each axis, the last axis fastest.
    void take_apart(const std::vector<Axis>& axes, const std::string& number, const std::string& hint, Lines& lines) {
        std::string rest = number;
        if (axes.size() > 1 && !hint.empty()) {
            rest = names_.fresh(hint);
            declare(lines, rest, number);
        }
        Expression below = 1;
        std::vector<std::string> declared;
        for (size_t i = axes.size(); i-- > 0;) {
            std::string value = rest;
            if (!below.is_literal(1)) value = fmt::format("{} / {}", rest, grouped(below));
            if (i > 0)
                value =
                    fmt::format("{} % {}", below.is_literal(1) ? value : "(" + value + ")", grouped(axes[i].extent));
            declared.push_back(fmt::format("const {} {} = {};", dialect_.index, axes[i].name, value));
            below = below * axes[i].extent;
        }
        std::reverse(declared.begin(), declared.end());
        lines.add(declared);
    }

    // ---- steps
    // ---------------------------------------------------------------------------------------------

    void write_step(const Step& step, Lines& lines) {
        if (launch_.share == Share::tiles) {
            if (const auto* dot = std::get_if<DotStep>(&step.what)) return write_dot(step, *dot, lines);
            if (const auto* store = std::get_if<StoreStep>(&step.what)) return write_tile_stores(*store, lines);
            return note_missing("this step in tiles");
        }
        if (const auto* fold = std::get_if<FoldStep>(&step.what)) write_fold(step, *fold, lines);
        else if (const auto* scan = std::get_if<ScanStep>(&step.what)) write_scan(step, *scan, lines);
        else if (const auto* keep = std::get_if<KeepStep>(&step.what)) write_keep(step, *keep, lines);
        else if (const auto* store = std::get_if<StoreStep>(&step.what)) write_stores(step, store->stores, lines);
        else note_missing("a tile product without tiles");
    }

    void note_missing(const std::string& what) {
        if (lacks_.empty()) lacks_ = what;
    }
    bool in_blocks() const { return launch_.share == Share::blocks; }

    std::set<std::string> inside_of(const Step& step) const {
        std::set<std::string> inside = kept_;
        for (const Axis& axis : step.axes) inside.insert(axis.name);
        return inside;
    }

    // Opens the loops of a step; the threads of a block share the last one. Returns how many to close.
    int open_loops(const std::vector<Axis>& axes, Lines& lines) {
        const std::string index = dialect_.index;
        for (size_t i = 0; i < axes.size(); ++i) {
            const bool shared = in_blocks() && i + 1 == axes.size();
            lines.add(fmt::format("for ({0} {1} = {2}; {1} < {3}; {4}) {{", index, axes[i].name,
                                  shared ? "thread" : "0", text(axes[i].extent),
                                  shared ? fmt::format("{} += {}", axes[i].name, block_threads) : "++" + axes[i].name));
        }
        return static_cast<int>(axes.size());
    }
    static void close(int count, Lines& lines) {
        for (int i = 0; i < count; ++i) lines.add("}");
    }

    // Values of an element, so that merging reads names.
    std::vector<std::string> elements(const Law& law, const std::vector<int>& terms, Lines& lines) {
        std::vector<std::string> values;
        for (size_t k = 0; k < terms.size(); ++k) {
            std::string value = terms_.text_of(terms[k]);
            if (law.name != "sum" && value.find_first_of(" (") != std::string::npos) {
                const std::string name = names_.fresh("element");
                lines.add(fmt::format("const {} {} = {};", dialect_.type(law.parts[k].dtype), name, value));
                value = name;
            }
            values.push_back(std::move(value));
        }
        return values;
    }

    // A sum that one thread takes alone goes by short pieces.
    bool in_pieces(const Step& step, const FoldStep& fold) const {
        if (in_blocks() || step.axes.empty()) return false;
        return std::any_of(fold.folds.begin(), fold.folds.end(), [](const Fold& one) {
            return one.law.name == "sum" && is_floating(one.law.parts[0].dtype);
        });
    }

    void write_fold(const Step& step, const FoldStep& fold, Lines& lines) {
        const std::vector<int> wanted = terms_of(step);
        std::vector<std::vector<std::string>> names;
        terms_.hoist(wanted, inside_of(step), lines);
        for (const Fold& one : fold.folds) {
            names.emplace_back();
            for (const std::string& name : one.names) names.back().push_back(names_.fresh(name));
            laws_.start(one.law, names.back(), lines);
        }
        const TermText::Named outside = terms_.named();
        std::vector<std::vector<std::string>> into = names;
        int loops = 0;
        const bool pieces = in_pieces(step, fold);
        if (pieces) loops = open_pieces(step, fold, into, lines);
        else loops = open_loops(step.axes, lines);
        terms_.prepare(wanted, lines);
        for (size_t k = 0; k < fold.folds.size(); ++k)
            laws_.merge(fold.folds[k].law, into[k], elements(fold.folds[k].law, fold.folds[k].terms, lines), names_,
                        lines);
        close(pieces ? 1 : loops, lines);
        if (pieces) {
            for (size_t k = 0; k < fold.folds.size(); ++k)
                if (into[k] != names[k]) laws_.merge(fold.folds[k].law, names[k], into[k], names_, lines);
            close(loops - 1, lines);
        }
        terms_.restore(outside);
        for (size_t k = 0; k < fold.folds.size(); ++k) {
            if (in_blocks()) together_.combine(fold.folds[k].law, names[k], lines);
            for (size_t part = 0; part < names[k].size(); ++part)
                terms_.set_result(fold.folds[k].names[part], names[k][part]);
        }
    }

    // The last loop in pieces of `short_sum`, each with sums of its own in `into`.
    int open_pieces(const Step& step, const FoldStep& fold, std::vector<std::vector<std::string>>& into, Lines& lines) {
        const std::vector<Axis> outer(step.axes.begin(), step.axes.end() - 1);
        const Axis& last = step.axes.back();
        const std::string index = dialect_.index, first = names_.fresh("first"), end = names_.fresh("end");
        const std::string extent = text(last.extent);
        const int loops = open_loops(outer, lines);
        lines.add(fmt::format("for ({0} {1} = 0; {1} < {2}; {1} += {3}) {{", index, first, extent, short_sum));
        declare(lines, end, fmt::format("{0} + {1} < {2} ? {0} + {1} : {2}", first, short_sum, grouped(last.extent)));
        for (size_t k = 0; k < fold.folds.size(); ++k) {
            if (fold.folds[k].law.name != "sum") continue;
            into[k] = {names_.fresh("part_of_" + into[k][0])};
            laws_.start(fold.folds[k].law, into[k], lines);
        }
        lines.add(fmt::format("for ({0} {1} = {2}; {1} < {3}; ++{1}) {{", index, last.name, first, end));
        return loops + 2;
    }

    void write_stores(const Step& step, const std::vector<Store>& stores, Lines& lines) {
        std::vector<int> wanted;
        for (const Store& store : stores) wanted.push_back(store.term);
        if (!step.axes.empty()) terms_.hoist(wanted, inside_of(step), lines);
        const TermText::Named outside = terms_.named();
        int loops = open_loops(step.axes, lines);
        if (in_blocks() && step.axes.empty()) {
            lines.add("if (thread == 0) {");
            loops = 1;
        }
        terms_.prepare(wanted, lines);
        put(stores, lines);
        close(loops, lines);
        terms_.restore(outside);
    }

    void put(const std::vector<Store>& stores, Lines& lines) {
        for (const Store& store : stores) {
            const Expression offset = offset_of(store.at, shapes_.at(store.tensor));
            lines.add(fmt::format("{}[{}] = {};", store.tensor, text(offset),
                                  terms_.stored(store.tensor, terms_.text_of(store.term))));
        }
    }

    void write_keep(const Step& step, const KeepStep& keep, Lines& lines) {
        if (!in_blocks()) return note_missing("values that one thread keeps");
        const std::vector<int> wanted = terms_of(step);
        terms_.hoist(wanted, inside_of(step), lines);
        const TermText::Named outside = terms_.named();
        const int loops = open_loops(step.axes, lines);
        terms_.prepare(wanted, lines);
        Expression offset = 0, extent = 1;
        for (const Axis& axis : step.axes) {
            offset = offset * axis.extent + symbol(axis.name);
            extent = extent * axis.extent;
        }
        for (const Keep& one : keep.values) {
            const std::string array = names_.fresh(one.name);
            declare_kept(array, launch_.terms[static_cast<size_t>(one.term)].dtype, extent);
            lines.add(fmt::format("{}[{}] = {};", array, text(offset), terms_.text_of(one.term)));
            terms_.set_result(one.name, fmt::format("{}[{}]", array, text(offset)));
            kept_.insert(one.name);
        }
        close(loops, lines);
        terms_.restore(outside);
    }

    // Of an array that a block keeps for the rest of its launch.
    void declare_kept(const std::string& array, DType dtype, const Expression& extent) {
        const std::string type = dialect_.type(dtype);
        if (dialect_.dynamic_shared.empty()) {
            shared_.push_back(fmt::format("{}{} {}[{}];", dialect_.shared, type, array, most_kept));
            return;
        }
        if (kept_bytes_.is_literal(0)) shared_.push_back(dialect_.dynamic_shared);
        const std::string place = kept_bytes_.is_literal(0) ? "" : fmt::format(" + {}", grouped(kept_bytes_));
        shared_.push_back(fmt::format("{0}* {1} = ({0}*)(kept_room{2});", type, array, place));
        // In whole steps of 8 bytes, so that whatever follows is aligned.
        const int64_t elements = 8 / static_cast<int64_t>(size_of(dtype));
        kept_bytes_ = kept_bytes_ + blocks_of(extent, Expression(elements)) * Expression(int64_t{8});
    }

    void write_scan(const Step& step, const ScanStep& scan, Lines& lines) {
        const std::vector<int> before = {scan.term};
        std::vector<int> after;
        for (const Store& store : scan.stores) after.push_back(store.term);
        std::set<std::string> inside = inside_of(step);
        inside.insert(scan.name);
        terms_.hoist(terms_of(step), inside, lines);
        const TermText::Named outside = terms_.named();
        const std::vector<Axis> outer(step.axes.begin(), step.axes.end() - 1);
        const Axis& axis = step.axes.back();
        const Law::Part& part = scan.law.parts[0];
        const std::string type = dialect_.type(part.dtype), running = names_.fresh(scan.name);
        int loops = 0;
        for (const Axis& one : outer) loops += open_plain_loop(one, lines);
        if (!in_blocks()) {
            laws_.start(scan.law, {running}, lines);
            loops += open_plain_loop(axis, lines);
            terms_.prepare(before, lines);
            laws_.merge(scan.law, {running}, elements(scan.law, before, lines), names_, lines);
        } else {
            const std::string carried = names_.fresh("carried"), first = names_.fresh("first");
            laws_.start(scan.law, {carried}, lines);
            lines.add(fmt::format("for ({0} {1} = 0; {1} < {2}; {1} += {3}) {{", dialect_.index, first,
                                  text(axis.extent), block_threads));
            declare(lines, axis.name, first + " + thread");
            laws_.start(scan.law, {running}, lines);
            lines.add(fmt::format("if ({} < {}) {{", axis.name, text(axis.extent)));
            terms_.prepare(before, lines);
            lines.add(fmt::format("{} = {};", running, terms_.text_of(scan.term)));
            close(1, lines);
            terms_.restore(outside);
            together_.add_prefix(scan.law, running, carried, lines);
            lines.add(fmt::format("if ({} < {}) {{", axis.name, text(axis.extent)));
            loops += 2;
        }
        terms_.set_result(scan.name, running);
        terms_.prepare(after, lines);
        put(scan.stores, lines);
        close(loops, lines);
        terms_.restore(outside);
    }

    int open_plain_loop(const Axis& axis, Lines& lines) {
        lines.add(fmt::format("for ({0} {1} = 0; {1} < {2}; ++{1}) {{", dialect_.index, axis.name, text(axis.extent)));
        return 1;
    }

    // ---- tiles
    // ---------------------------------------------------------------------------------------------

    void write_tile_position(Lines& lines, BlockKernel& kernel) {
        const size_t rank = launch_.grid.size();
        const Axis &m = launch_.grid[rank - 2], &n = launch_.grid[rank - 1];
        std::vector<Axis> blocks(launch_.grid.begin(), launch_.grid.end() - 2);
        blocks.push_back({names_.fresh("tile_row"), blocks_of(m.extent, symbol(tile_m))});
        blocks.push_back({names_.fresh("tile_column"), blocks_of(n.extent, symbol(tile_n))});
        kernel.blocks = 1;
        for (const Axis& axis : blocks) kernel.blocks = kernel.blocks * axis.extent;
        kernel.threads = Expression::parse(fmt::format("({} // {}) * ({} // {})", tile_m, each_m, tile_n, each_n));
        declare(lines, "thread", dialect_.thread);
        take_apart(blocks, dialect_.block, "tile", lines);
        first_m_ = names_.fresh("first_" + m.name);
        first_n_ = names_.fresh("first_" + n.name);
        declare(lines, first_m_, fmt::format("{} * {}", blocks[blocks.size() - 2].name, tile_m));
        declare(lines, first_n_, fmt::format("{} * {}", blocks.back().name, tile_n));
        row_ = names_.fresh("row");
        column_ = names_.fresh("column");
        i_ = names_.fresh("i");
        j_ = names_.fresh("j");
        declare(lines, row_, fmt::format("thread / ({} / {})", tile_n, each_n));
        declare(lines, column_, fmt::format("thread % ({} / {})", tile_n, each_n));
    }

    // The axis along which an operand's memory runs: consecutive threads load along it.
    bool runs_along(int term, const std::string& axis) const {
        for (int id : cone(launch_.terms, term)) {
            const Term& one = launch_.terms[static_cast<size_t>(id)];
            if (one.kind == Term::Kind::load && !one.at.empty() && one.at.back().symbols().contains(axis)) return true;
        }
        return false;
    }

    void stage(const std::string& tile, int term, const Axis& axis, const std::string& first, const std::string& size,
               const Axis& k, const std::string& first_k, Lines& lines) {
        const std::string index = dialect_.index, i = names_.fresh("i"), along_k = names_.fresh("depth"),
                          across = names_.fresh("across");
        const bool k_fast = runs_along(term, k.name);
        lines.add(fmt::format("for (int {0} = thread; {0} < {1} * {2}; {0} += THREADS) {{", i, size, tile_k));
        lines.add(fmt::format("const int {} = {} {} {}, {} = {} {} {};", along_k, i, k_fast ? "%" : "/",
                              k_fast ? tile_k : size, across, i, k_fast ? "/" : "%", k_fast ? tile_k : size));
        declare(lines, axis.name, first + " + " + across);
        declare(lines, k.name, first_k + " + " + along_k);
        const DType dtype = launch_.terms[static_cast<size_t>(term)].dtype;
        const std::string element = names_.fresh("element");
        lines.add(fmt::format("{} {} = {};", dialect_.type(dtype), element, literal(0, dtype, dialect_)));
        lines.add(fmt::format("if ({} < {} && {} < {}) {{", axis.name, text(axis.extent), k.name, text(k.extent)));
        const TermText::Named outside = terms_.named();
        terms_.prepare({term}, lines);
        lines.add(fmt::format("{} = {};", element, terms_.text_of(term)));
        terms_.restore(outside);
        lines.add("}");
        lines.add(fmt::format("{}[{}][{}] = {};", tile, along_k, across, element));
        lines.add("}");
    }

    void write_dot(const Step& step, const DotStep& dot, Lines& lines) {
        if (step.axes.size() != 1) return note_missing("a tile product over several axes");
        const size_t rank = launch_.grid.size();
        const Axis &m = launch_.grid[rank - 2], &n = launch_.grid[rank - 1], &k = step.axes[0];
        const std::string type = dialect_.type(dot.dtype), first_k = names_.fresh("first_" + k.name);
        const std::string a = names_.fresh("a_tile"), b = names_.fresh("b_tile"), sums = names_.fresh(dot.name);
        shared_.push_back(fmt::format("{}{} {}[{}][{}];", dialect_.shared, type, a, tile_k, tile_m));
        shared_.push_back(fmt::format("{}{} {}[{}][{}];", dialect_.shared, type, b, tile_k, tile_n));
        lines.add(fmt::format("{} {}[{}][{}] = {{{{0}}}};", type, sums, each_m, each_n));
        lines.add(fmt::format("for ({0} {1} = 0; {1} < {2}; {1} += {3}) {{", dialect_.index, first_k, text(k.extent),
                              tile_k));
        stage(a, dot.a, m, first_m_, tile_m, k, first_k, lines);
        stage(b, dot.b, n, first_n_, tile_n, k, first_k, lines);
        lines.add(dialect_.barrier);
        const std::string depth = names_.fresh("depth");
        lines.add(fmt::format("for (int {0} = 0; {0} < {1}; ++{0})", depth, tile_k));
        lines.add(fmt::format("    for (int {0} = 0; {0} < {1}; ++{0})", i_, each_m));
        lines.add(fmt::format("        for (int {0} = 0; {0} < {1}; ++{0})", j_, each_n));
        lines.add(fmt::format("            {}[{}][{}] += {}[{}][{}] * {}[{}][{}];", sums, i_, j_, a, depth,
                              of_tile(row_, i_, tile_m, each_m), b, depth, of_tile(column_, j_, tile_n, each_n)));
        lines.add(dialect_.barrier);
        lines.add("}");
        terms_.set_result(dot.name, fmt::format("{}[{}][{}]", sums, i_, j_));
    }

    // A thread's elements lie as far apart as there are threads along that side of the tile.
    static std::string of_tile(const std::string& first, const std::string& number, const char* tile,
                               const char* each) {
        return fmt::format("{} + {} * ({} / {})", first, number, tile, each);
    }

    void write_tile_stores(const StoreStep& step, Lines& lines) {
        const size_t rank = launch_.grid.size();
        const Axis &m = launch_.grid[rank - 2], &n = launch_.grid[rank - 1];
        lines.add(fmt::format("for (int {0} = 0; {0} < {1}; ++{0}) {{", i_, each_m));
        lines.add(fmt::format("for (int {0} = 0; {0} < {1}; ++{0}) {{", j_, each_n));
        declare(lines, m.name, first_m_ + " + " + of_tile(row_, i_, tile_m, each_m));
        declare(lines, n.name, first_n_ + " + " + of_tile(column_, j_, tile_n, each_n));
        lines.add(fmt::format("if ({} < {} && {} < {}) {{", m.name, text(m.extent), n.name, text(n.extent)));
        std::vector<int> wanted;
        for (const Store& store : step.stores) wanted.push_back(store.term);
        const TermText::Named outside = terms_.named();
        terms_.prepare(wanted, lines);
        put(step.stores, lines);
        terms_.restore(outside);
        close(3, lines);
    }

    const Problem& problem_;
    const Schedule& schedule_;
    const Launch& launch_;
    const Dialect& dialect_;
    Helpers& helpers_;
    std::string& lacks_;
    const Shapes shapes_;
    Names names_;
    CTerms terms_;
    std::vector<std::string> shared_;  // declarations of a block's memory
    LawText laws_;
    BlockFunctions together_;
    std::set<std::string> kept_;
    Expression kept_bytes_ = 0;  // in memory whose size the launch gives
    bool uses_block_ = false, uses_each_ = false;
    std::string first_m_, first_n_, row_, column_;  // names in a kernel that computes tiles
    std::string i_, j_;                             // of the elements that a thread computes
};

}  // namespace

BlockProgram write_blocks(const Problem& problem, const Schedule& schedule, const Dialect& dialect) {
    BlockProgram program;
    Helpers helpers;
    bool block = false, tiles = false, each = false;
    for (const Launch& launch : schedule.launches) {
        KernelWriter writer(problem, schedule, launch, dialect, helpers, program.lacks);
        program.kernels.push_back(writer.write());
        block = block || writer.uses_block();
        tiles = tiles || writer.uses_tiles();
        each = each || writer.uses_each();
    }
    program.helpers = helpers.text();
    auto add = [&](const char* name, const std::vector<int64_t>& values) {
        program.tunables.push_back({name, {values.begin(), values.end()}, Tunable::Kind::constant});
    };
    if (block) add(block_threads, dialect.block_sizes);
    if (each) add(each_element, {4, 1, 2, 8});
    if (tiles) {
        add(tile_m, {64, 32, 128});
        add(tile_n, {64, 32, 128});
        add(tile_k, {16, 8, 32});
        add(each_m, {4, 8, 2});
        add(each_n, {4, 8, 2});
        // Between 32 and 256 threads of a block.
        program.constraints.push_back(
            Expression::parse(fmt::format("({0} // {1}) * ({2} // {3}) <= 256", tile_m, each_m, tile_n, each_n)));
        program.constraints.push_back(
            Expression::parse(fmt::format("({0} // {1}) * ({2} // {3}) >= 32", tile_m, each_m, tile_n, each_n)));
    }
    return program;
}

}  // namespace strop::backend
