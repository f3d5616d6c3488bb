#include "backend/triton_kernel.h"

#include <algorithm>

#include <fmt/format.h>

#include "backend/python_lines.h"
#include "backend/triton_terms.h"
#include "base/strings.h"
#include "graph/operations.h"

namespace strop::backend {

using namespace schedule;

namespace {

class KernelWriter {
public:
    KernelWriter(const Problem& problem, const Schedule& schedule, const Launch& launch, Helpers& helpers,
                 std::string& lacks)
        : problem_(problem),
          launch_(launch),
          helpers_(helpers),
          lacks_(lacks),
          shapes_(shapes_of(problem, schedule)),
          names_(taken(problem, schedule, launch)),
          terms_({launch.terms, shapes_, lacks}, helpers, names_) {
        kernel_.arguments = arguments_of(problem, schedule, launch);
        for (const Step& step : launch.steps)
            if (std::holds_alternative<KeepStep>(step.what)) row_axes_ = step.axes;
    }

    TritonKernel write() {
        Lines body(1);
        cast_dimensions(body);
        write_position(body);
        for (const Step& step : launch_.steps) write_step(step, body);
        kernel_.text = head() + wrapped(body.text());
        return std::move(kernel_);
    }

private:
    static std::set<std::string> taken(const Problem& problem, const Schedule& schedule, const Launch& launch) {
        std::set<std::string> names = names_in(problem, schedule, launch), pointers;
        for (const auto& [tensor, shape] : shapes_of(problem, schedule)) {
            names.erase(tensor);  // values are called as the tensor that they come from
            pointers.insert(tensor + "_ptr");
        }
        names.merge(pointers);
        names.merge(triton_helper_names());
        return names;
    }

    // ---- head
    // ----------------------------------------------------------------------------------------------

    std::string head() {
        kernel_.constants.insert(kernel_.constants.begin(), kernel_.arguments.tunables.begin(),
                                 kernel_.arguments.tunables.end());
        std::vector<std::string> arguments;
        for (const std::string& tensor : kernel_.arguments.tensors) arguments.push_back(tensor + "_ptr");
        for (const Parameter& parameter : problem_.parameters)
            if (std::find(kernel_.arguments.parameters.begin(), kernel_.arguments.parameters.end(), parameter.name) !=
                kernel_.arguments.parameters.end())
                arguments.push_back(parameter.name + (parameter.dtype == DType::float64 ? ": tl.float64" : ""));
        arguments.insert(arguments.end(), kernel_.arguments.dimensions.begin(), kernel_.arguments.dimensions.end());
        arguments.push_back("INDEX: tl.constexpr");
        for (const std::string& constant : kernel_.constants) arguments.push_back(constant + ": tl.constexpr");
        return "@triton.jit\n" + in_lines(fmt::format("def {}(", launch_.name), arguments, "):") + "\n";
    }

    void add_constant(const std::string& name) {
        if (std::find(kernel_.constants.begin(), kernel_.constants.end(), name) == kernel_.constants.end() &&
            std::find(kernel_.arguments.tunables.begin(), kernel_.arguments.tunables.end(), name) ==
                kernel_.arguments.tunables.end())
            kernel_.constants.push_back(name);
    }

    // Products of dimensions may need more bits than each of them.
    void cast_dimensions(Lines& lines) {
        const std::vector<std::string>& all = kernel_.arguments.dimensions;
        constexpr size_t in_a_line = 4;
        for (size_t first = 0; first < all.size(); first += in_a_line) {
            std::vector<std::string> names, casts;
            for (size_t k = first; k < std::min(first + in_a_line, all.size()); ++k) {
                names.push_back(all[k]);
                casts.push_back(fmt::format("tl.cast({}, INDEX)", all[k]));
            }
            lines.add(fmt::format("{} = {}", join(names, ", "), join(casts, ", ")));
        }
    }

    // ---- positions
    // -----------------------------------------------------------------------------------------

    std::string text(const Expression& expression) const { return terms_.text(expression); }

    std::string grouped(const Expression& expression) const {
        const std::string one = text(expression);
        const bool call = one.starts_with("tl.cdiv(") && one.find(')') + 1 == one.size();
        return expression.is_symbol() || expression.is_literal() || call ? one : "(" + one + ")";
    }

    void write_position(Lines& lines) {
        if (launch_.share == Share::tiles) return write_tile_position(lines);
        const Expression count = product_of(launch_.grid);
        if (launch_.share == Share::blocks) {
            kernel_.programs = count;
            take_apart(launch_.grid, "tl.program_id(0).to(INDEX)", "row", lines);
            if (!row_axes_.empty()) write_row(lines);
            return;
        }
        add_constant(block_lanes);
        kernel_.programs = ceil_divide(count, symbol(block_lanes));
        const std::string position = launch_.grid.size() == 1 ? launch_.grid[0].name : names_.fresh("position");
        lines.add(fmt::format("{0} = tl.program_id(0).to(INDEX) * {1} + tl.arange(0, {1})", position, block_lanes));
        inside_ = {{position, fmt::format("{} < {}", position, text(count))}};
        if (launch_.grid.size() > 1) take_apart(launch_.grid, position, "", lines);
        for (const Axis& axis : launch_.grid) terms_.set_lanes(axis.name, inside_);
    }

    // One number as a position on each axis, the last axis fastest.
    void take_apart(const std::vector<Axis>& axes, const std::string& number, const std::string& hint, Lines& lines) {
        std::string rest = number;
        if (axes.size() > 1 && !hint.empty()) {
            rest = names_.fresh(hint);
            lines.add(rest + " = " + number);
        }
        Expression below = 1;
        std::vector<std::string> parts;
        for (size_t i = axes.size(); i-- > 0;) {
            std::string value = rest;
            if (!below.is_literal(1)) value += " // " + grouped(below);
            if (i > 0) value += " % " + grouped(axes[i].extent);
            parts.push_back(axes[i].name + " = " + value);
            below = below * axes[i].extent;
        }
        std::reverse(parts.begin(), parts.end());
        lines.add(parts);
    }

    // All axes of the steps as one vector.
    void write_row(Lines& lines) {
        add_constant(row_lanes);
        kernel_.row = product_of(row_axes_);
        const std::string place = row_axes_.size() == 1 ? row_axes_[0].name : names_.fresh("place");
        lines.add(fmt::format("{} = tl.arange(0, {})", place, row_lanes));
        inside_ = {{place, fmt::format("{} < {}", place, text(*kernel_.row))}};
        if (row_axes_.size() > 1) take_apart(row_axes_, place, "", lines);
        for (const Axis& axis : row_axes_) terms_.set_lanes(axis.name, inside_);
    }

    // ---- steps
    // ---------------------------------------------------------------------------------------------

    void note_missing(const std::string& what) {
        if (lacks_.empty()) lacks_ = what;
    }
    bool in_blocks() const { return launch_.share == Share::blocks; }
    bool in_row(const Step& step) const {
        return !row_axes_.empty() && !step.axes.empty() &&
               std::equal(step.axes.begin(), step.axes.end(), row_axes_.begin(), row_axes_.end(),
                          [](const Axis& a, const Axis& b) { return a.name == b.name; });
    }

    void write_step(const Step& step, Lines& lines) {
        const bool tiles = launch_.share == Share::tiles;
        if (const auto* dot = std::get_if<DotStep>(&step.what); dot && tiles) return write_dot(step, *dot, lines);
        if (const auto* store = std::get_if<StoreStep>(&step.what))
            return tiles && !step.axes.empty() ? note_missing("loops over tiles")
                                               : write_stores(step, store->stores, lines);
        if (tiles) return note_missing("this step in tiles");
        if (const auto* fold = std::get_if<FoldStep>(&step.what)) return write_fold(step, *fold, lines);
        if (const auto* scan = std::get_if<ScanStep>(&step.what)) return write_scan(step, *scan, lines);
        if (const auto* keep = std::get_if<KeepStep>(&step.what)) return write_keep(step, *keep, lines);
        note_missing("a tile product without tiles");
    }

    // What changes within a step.
    std::set<std::string> inside_of(const Step& step) const {
        std::set<std::string> inside;
        for (const Axis& axis : step.axes) inside.insert(axis.name);
        return inside;
    }

    int open_loops(const std::vector<Axis>& axes, Lines& lines) {
        for (const Axis& axis : axes) lines.open(fmt::format("for {} in range({}):", axis.name, text(axis.extent)));
        return static_cast<int>(axes.size());
    }

    // The last axis in chunks of lanes.
    int open_chunks(const std::vector<Axis>& axes, Lines& lines) {
        const Axis& last = axes.back();
        const std::string first = names_.fresh("first");
        add_constant(chunk_lanes);
        const int outer = open_loops({axes.begin(), axes.end() - 1}, lines);
        lines.open(fmt::format("for {} in range(0, {}, {}):", first, text(last.extent), chunk_lanes));
        lines.add(fmt::format("{} = {} + tl.arange(0, {})", last.name, first, chunk_lanes));
        inside_ = {{last.name, fmt::format("{} < {}", last.name, text(last.extent))}};
        terms_.set_lanes(last.name, inside_);
        return outer + 1;
    }

    // ---- folds
    // ---------------------------------------------------------------------------------------------

    struct Running {
        const Fold* fold = nullptr;
        std::vector<std::string> names;     // of its parts
        std::vector<std::string> elements;  // the state of one position
    };

    std::string start_text(const Law::Part& part, const std::string& shape) const {
        if (part.start == 0) return fmt::format("tl.zeros({}, {})", shape, triton_type(part.dtype));
        return fmt::format("tl.full({}, {}, {})", shape, triton_literal(part.start, part.dtype),
                           triton_type(part.dtype));
    }
    void start(const Law& law, const std::vector<std::string>& names, const std::string& lanes, Lines& lines) {
        for (size_t k = 0; k < names.size(); ++k)
            lines.add(fmt::format("{} = {}", names[k], start_text(law.parts[k], "[" + lanes + "]")));
    }

    // `into` = the law's merge of `into` and `from`.
    void merge(const Law& law, const std::vector<std::string>& into, const std::vector<std::string>& from,
               Lines& lines) {
        if (law.name == "sum") return lines.add(fmt::format("{} += {}", into[0], from[0]));
        lines.add(fmt::format("{} = {}({}, {})", join(into, ", "), law_function(law, helpers_, lacks_),
                              join(into, ", "), join(from, ", ")));
    }
    // One state of all lanes.
    void reduce(const Law& law, const std::vector<std::string>& into, const std::vector<std::string>& from,
                Lines& lines) {
        if (law.name == "sum") return lines.add(fmt::format("{} = tl.sum({}, axis=0)", into[0], from[0]));
        const std::string states = from.size() == 1 ? from[0] : "(" + join(from, ", ") + ")";
        lines.add(
            fmt::format("{} = tl.reduce({}, 0, {})", join(into, ", "), states, law_function(law, helpers_, lacks_)));
    }

    // Loads that are elements themselves give the law's start in lanes without work.
    void set_outside(const Law& law, const std::vector<int>& terms) {
        for (size_t k = 0; k < terms.size(); ++k)
            if (launch_.terms[static_cast<size_t>(terms[k])].kind == Term::Kind::load)
                terms_.set_outside(terms[k], law.parts[k].start);
    }

    // The state of one position; of lanes without work the law's start.
    std::vector<std::string> elements(const Law& law, const std::vector<int>& terms, bool masked) {
        std::vector<std::string> values;
        for (size_t k = 0; k < terms.size(); ++k) {
            const std::string value = terms_.element(terms[k]);
            const bool loaded =
                terms_.is_masked_load(terms[k], law.parts[k].start) && terms_.lanes_of(terms[k]) == inside_;
            values.push_back(!masked || loaded ? value
                                               : fmt::format("tl.where({}, {}, {})", mask_of(inside_), value,
                                                             triton_literal(law.parts[k].start, law.parts[k].dtype)));
        }
        return values;
    }

    void write_fold(const Step& step, const FoldStep& fold, Lines& lines) {
        const std::vector<int> wanted = terms_of(step);
        if (!step.axes.empty() && !in_row(step)) terms_.hoist(wanted, inside_of(step), lines);
        std::vector<Running> running;
        for (const Fold& one : fold.folds) {
            running.push_back({&one, {}, {}});
            for (const std::string& name : one.names) running.back().names.push_back(names_.fresh(name));
        }
        const TermText::Named outside = terms_.named();
        if (in_blocks())
            in_row(step) || step.axes.empty() ? fold_at_once(step, running, lines) : fold_chunks(step, running, lines);
        else fold_lanes(step, !in_blocks() && sums_in_pieces(step, fold), running, lines);
        terms_.restore(outside);
        for (const Running& one : running)
            for (size_t part = 0; part < one.names.size(); ++part)
                terms_.set_result(one.fold->names[part], one.names[part], in_blocks() ? Lanes{} : inside_);
    }

    void find_elements(std::vector<Running>& running, bool masked, Lines& lines) {
        std::vector<int> wanted;
        for (const Running& one : running) {
            wanted.insert(wanted.end(), one.fold->terms.begin(), one.fold->terms.end());
            if (masked) set_outside(one.fold->law, one.fold->terms);
        }
        terms_.prepare(wanted, lines);
        for (Running& one : running) one.elements = elements(one.fold->law, one.fold->terms, masked);
    }

    void fold_at_once(const Step& step, std::vector<Running>& running, Lines& lines) {
        find_elements(running, !step.axes.empty(), lines);
        for (const Running& one : running)
            if (!step.axes.empty()) reduce(one.fold->law, one.names, one.elements, lines);
            else lines.add(fmt::format("{} = {}", join(one.names, ", "), join(one.elements, ", ")));
    }

    void fold_chunks(const Step& step, std::vector<Running>& running, Lines& lines) {
        for (const Running& one : running) start(one.fold->law, one.names, chunk_lanes, lines);
        const int loops = open_chunks(step.axes, lines);
        find_elements(running, true, lines);
        for (const Running& one : running) merge(one.fold->law, one.names, one.elements, lines);
        lines.close(loops);
        for (const Running& one : running) reduce(one.fold->law, one.names, one.names, lines);
    }

    // Each lane has a state of its own.
    void fold_lanes(const Step& step, bool pieces, std::vector<Running>& running, Lines& lines) {
        for (const Running& one : running) start(one.fold->law, one.names, block_lanes, lines);
        int loops = 0;
        std::vector<Running> parts = running;
        if (pieces) {
            const Axis& last = step.axes.back();
            const std::string first = names_.fresh("first"), extent = text(last.extent);
            loops = open_loops({step.axes.begin(), step.axes.end() - 1}, lines) + 1;
            lines.open(fmt::format("for {} in range(0, {}, {}):", first, extent, short_sum));
            for (Running& one : parts) {
                if (one.fold->law.name != "sum") continue;
                one.names = {names_.fresh("part_of_" + one.names[0])};
                start(one.fold->law, one.names, block_lanes, lines);
            }
            lines.open(fmt::format("for {0} in range({1}, min({1} + {2}, {3})):", last.name, first, short_sum, extent));
        } else {
            loops = open_loops(step.axes, lines);
        }
        find_elements(parts, false, lines);
        for (const Running& one : parts) merge(one.fold->law, one.names, one.elements, lines);
        if (pieces) {
            lines.close();
            for (size_t k = 0; k < parts.size(); ++k)
                if (parts[k].names != running[k].names)
                    merge(running[k].fold->law, running[k].names, parts[k].names, lines);
        }
        lines.close(loops);
    }

    // ---- stores, kept values, scans
    // ------------------------------------------------------------------------

    void write_stores(const Step& step, const std::vector<Store>& stores, Lines& lines) {
        std::vector<int> wanted;
        for (const Store& store : stores) wanted.push_back(store.term);
        const bool loops = !step.axes.empty() && !in_row(step);
        if (loops) terms_.hoist(wanted, inside_of(step), lines);
        const TermText::Named outside = terms_.named();
        int opened = 0;
        if (loops) opened = in_blocks() ? open_chunks(step.axes, lines) : open_loops(step.axes, lines);
        terms_.prepare(wanted, lines);
        put(stores, in_blocks() && step.axes.empty() ? Lanes{} : inside_, lines);
        lines.close(opened);
        terms_.restore(outside);
    }

    void put(const std::vector<Store>& stores, const Lanes& lanes, Lines& lines) {
        for (const Store& store : stores) {
            const std::string mask = mask_of(lanes);
            lines.add(fmt::format("tl.store({}, {}{})", terms_.pointer(store.tensor, store.at, lanes),
                                  terms_.text_of(store.term), mask.empty() ? "" : ", mask=" + mask));
        }
    }

    void write_keep(const Step& step, const KeepStep& keep, Lines& lines) {
        if (!in_blocks() || !in_row(step)) return note_missing("values that are kept elsewhere than in a row");
        const TermText::Named outside = terms_.named();
        for (const Keep& one : keep.values) {
            const std::string name = names_.fresh(one.name);
            lines.add(fmt::format("{} = {}", name, terms_.text_of(one.term)));
            terms_.set_result(one.name, name, inside_);
        }
        terms_.restore(outside);
    }

    void write_scan(const Step& step, const ScanStep& scan, Lines& lines) {
        const std::vector<Axis> outer(step.axes.begin(), step.axes.end() - 1);
        std::set<std::string> inside = inside_of(step);
        inside.insert(scan.name);
        terms_.hoist(terms_of(step), inside, lines);
        const TermText::Named outside = terms_.named();
        const std::string running = names_.fresh(scan.name);
        const int loops = open_loops(outer, lines) + (in_blocks() ? scan_chunks(step, scan, running, lines)
                                                                  : scan_lanes(step, scan, running, lines));
        terms_.set_result(scan.name, running, inside_);
        std::vector<int> after;
        for (const Store& store : scan.stores) after.push_back(store.term);
        terms_.prepare(after, lines);
        put(scan.stores, inside_, lines);
        lines.close(loops);
        terms_.restore(outside);
    }

    int scan_lanes(const Step& step, const ScanStep& scan, const std::string& running, Lines& lines) {
        start(scan.law, {running}, block_lanes, lines);
        const int loops = open_loops({step.axes.back()}, lines);
        terms_.prepare({scan.term}, lines);
        merge(scan.law, {running}, {terms_.element(scan.term)}, lines);
        return loops;
    }

    // The prefix of a chunk behind that of all chunks before it.
    int scan_chunks(const Step& step, const ScanStep& scan, const std::string& running, Lines& lines) {
        const std::string carried = names_.fresh("carried"), chunk = names_.fresh("chunk"),
                          whole = names_.fresh("whole");
        start(scan.law, {carried}, "", lines);
        const int loops = open_chunks({step.axes.back()}, lines);
        set_outside(scan.law, {scan.term});
        terms_.prepare({scan.term}, lines);
        const std::string element = elements(scan.law, {scan.term}, true)[0];
        const bool sum = scan.law.name == "sum";
        const std::string function = sum ? "" : law_function(scan.law, helpers_, lacks_);
        const std::string from = is_identifier(element) ? element : chunk;
        if (from == chunk) lines.add(fmt::format("{} = {}", chunk, element));
        if (sum) lines.add(fmt::format("{} = {} + tl.cumsum({}, axis=0)", running, carried, from));
        else
            lines.add(
                fmt::format("{} = {}({}, tl.associative_scan({}, 0, {}))", running, function, carried, from, function));
        reduce(scan.law, {whole}, {from}, lines);
        merge(scan.law, {carried}, {whole}, lines);
        return loops;
    }

    // ---- tiles
    // ---------------------------------------------------------------------------------------------

    void write_tile_position(Lines& lines) {
        const size_t rank = launch_.grid.size();
        const Axis &m = launch_.grid[rank - 2], &n = launch_.grid[rank - 1];
        std::vector<Axis> blocks(launch_.grid.begin(), launch_.grid.end() - 2);
        blocks.push_back({names_.fresh("tile_row"), ceil_divide(m.extent, symbol(tile_m))});
        blocks.push_back({names_.fresh("tile_column"), ceil_divide(n.extent, symbol(tile_n))});
        for (const char* name : {tile_m, tile_n, tile_k}) add_constant(name);
        kernel_.programs = product_of(blocks);
        take_apart(blocks, "tl.program_id(0).to(INDEX)", "tile", lines);
        lines.add(fmt::format("{0} = ({1} * {2} + tl.arange(0, {2}))[:, None]", m.name, blocks[blocks.size() - 2].name,
                              tile_m));
        lines.add(fmt::format("{0} = ({1} * {2} + tl.arange(0, {2}))[None, :]", n.name, blocks.back().name, tile_n));
        for (const Axis& axis : {m, n}) {
            inside_.push_back({axis.name, fmt::format("{} < {}", axis.name, text(axis.extent))});
            terms_.set_lanes(axis.name, {inside_.back()});
        }
    }

    // Zero outside of the tensors.
    std::string operand(int term, const Lane& lane, const Lane& depth, const std::string& k, const std::string& name,
                        bool depth_last, Lines& lines) {
        terms_.set_symbol(k, depth.name);
        terms_.set_lanes(k, {depth});
        const Lanes wanted = depth_last ? Lanes{lane, depth} : Lanes{depth, lane};
        const TermText::Named outside = terms_.named();
        const Term& value = launch_.terms[static_cast<size_t>(term)];
        std::string text;
        if (terms_.is_masked_load(term, 0) && terms_.lanes_of(term).size() == 2) {
            text = terms_.text_of(term);
        } else {
            terms_.prepare({term}, lines);
            text = fmt::format("tl.where({}, {}, {})", mask_of(wanted), terms_.text_of(term),
                               triton_literal(0, value.dtype));
        }
        terms_.restore(outside);
        lines.add(fmt::format("{} = {}", name, text));
        return name;
    }

    void write_dot(const Step& step, const DotStep& dot, Lines& lines) {
        if (step.axes.size() != 1) return note_missing("a tile product over several axes");
        const Axis& k = step.axes[0];
        const std::string first = names_.fresh("first"), sums = names_.fresh(dot.name),
                          across = names_.fresh(k.name + "_across"), down = names_.fresh(k.name + "_down");
        lines.add(fmt::format("{} = tl.zeros([{}, {}], {})", sums, tile_m, tile_n, triton_type(dot.dtype)));
        lines.open(fmt::format("for {} in range(0, {}, {}):", first, text(k.extent), tile_k));
        lines.add(fmt::format("{} = {} + tl.arange(0, {})", k.name, first, tile_k));
        lines.add(fmt::format("{}, {} = {}[None, :], {}[:, None]", across, down, k.name, k.name));
        const std::string extent = text(k.extent);
        const std::string a =
            operand(dot.a, inside_[0], {across, across + " < " + extent}, k.name, names_.fresh("a_tile"), true, lines);
        const std::string b =
            operand(dot.b, inside_[1], {down, down + " < " + extent}, k.name, names_.fresh("b_tile"), false, lines);
        const std::string wide = dot.dtype == DType::float64 ? ", out_dtype=tl.float64" : "";
        lines.add(fmt::format("{0} = tl.dot({1}, {2}, {0}, input_precision=\"ieee\"{3})", sums, a, b, wide));
        lines.close();
        terms_.set_result(dot.name, sums, inside_);
    }

    const Problem& problem_;
    const Launch& launch_;
    Helpers& helpers_;
    std::string& lacks_;
    const Shapes shapes_;
    Names names_;
    TritonTerms terms_;
    TritonKernel kernel_;
    std::vector<Axis> row_axes_;  // of rows that a program keeps
    Lanes inside_;                // along which values are computed now
};

}  // namespace

TritonKernel write_triton_kernel(const Problem& problem, const Schedule& schedule, const Launch& launch,
                                 Helpers& helpers, std::string& lacks) {
    return KernelWriter(problem, schedule, launch, helpers, lacks).write();
}

}  // namespace strop::backend
