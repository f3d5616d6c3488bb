#include "backend/tilelang_kernel.h"

#include <algorithm>

#include <fmt/format.h>

#include "backend/python_lines.h"
#include "backend/python_module.h"
#include "backend/tilelang_terms.h"
#include "base/strings.h"
#include "schedule/graph_terms.h"

namespace strop::backend {

using namespace schedule;

namespace {

class KernelWriter {
public:
    KernelWriter(const Problem& problem, const Schedule& schedule, const Launch& launch, std::string& lacks)
        : problem_(problem),
          schedule_(schedule),
          launch_(launch),
          lacks_(lacks),
          shapes_(shapes_of(problem, schedule)),
          names_(names_in(problem, schedule, launch)),
          terms_({launch.terms, shapes_, lacks}, names_) {
        kernel_.arguments = arguments_of(problem, schedule, launch);
        for (const Step& step : launch.steps)
            if (std::holds_alternative<KeepStep>(step.what)) row_axes_ = step.axes;
        for (const Step& step : launch.steps)
            walks_ = walks_ || !step.axes.empty() || std::holds_alternative<FoldStep>(step.what);
        for (std::string* name : {&block_, &lane_, &first_}) *name = names_.fresh(*name);
    }

    TileLangKernel write() {
        add_constant(tilelang_threads);
        Lines body(2);
        write_position(body);
        kernel_.text = head() + wrapped(body.text()) + "\n    return compiled(" +
                       join(concatenated({launch_.name}, element_counts()), ", ") + ")\n";
        return std::move(kernel_);
    }

private:
    static std::vector<std::string> concatenated(std::vector<std::string> all, const std::vector<std::string>& more) {
        all.insert(all.end(), more.begin(), more.end());
        return all;
    }

    DType type_of(const std::string& tensor) const { return dtype_of(problem_, schedule_, tensor); }

    std::vector<std::string> element_counts() const {
        std::vector<std::string> counts;
        for (const std::string& tensor : kernel_.arguments.tensors)
            counts.push_back(tilelang_text(schedule::product_of(shapes_.at(tensor))));
        return counts;
    }

    std::string head() {
        const LaunchArguments& arguments = kernel_.arguments;
        std::vector<std::string> known = arguments.dimensions, passed;
        const std::vector<std::string> counts = element_counts();
        for (size_t k = 0; k < counts.size(); ++k)
            passed.push_back(fmt::format("{}: tl.Tensor(({},), {})", arguments.tensors[k], counts[k],
                                         tilelang_type(type_of(arguments.tensors[k]))));
        for (const Parameter& parameter : problem_.parameters) {
            const auto& used = arguments.parameters;
            if (std::find(used.begin(), used.end(), parameter.name) == used.end()) continue;
            if (is_floating(parameter.dtype))
                passed.push_back(fmt::format("{}: tl.{}", parameter.name, name_of(parameter.dtype)));
            else known.push_back(parameter.name);
        }
        known = concatenated(std::move(known), kernel_.constants);
        std::string text = "@functools.cache\n" + in_lines(fmt::format("def {}(", launch_.name), known, "):") + "\n";
        if (!row_axes_.empty())  // so many lanes that no thread is left out when states meet
            text += fmt::format("    {} = max(2 * {}, 1 << ({} - 1).bit_length())\n\n", tilelang_row, tilelang_threads,
                                grouped(product_of(row_axes_)));
        return text + "    @tl.prim_func\n" + in_lines(fmt::format("def {}(", launch_.name), passed, "):", 1) + "\n";
    }

    void add_constant(const std::string& name) {
        const auto& known = kernel_.constants;
        if (std::find(known.begin(), known.end(), name) == known.end()) kernel_.constants.push_back(name);
    }

    // ---- positions

    std::string text(const Expression& expression) const { return tilelang_text(expression); }
    std::string grouped(const Expression& expression) const {
        return expression.is_symbol() || expression.is_literal() ? text(expression) : "(" + text(expression) + ")";
    }

    void open_kernel(const Expression& blocks, Lines& lines) {
        lines.open(fmt::format("with tl.Kernel({}, threads={}) as {}:", text(blocks), tilelang_threads, block_));
    }

    void write_position(Lines& lines) {
        if (launch_.share == Share::tiles) return write_tiles(lines);
        const Expression count = product_of(launch_.grid);
        if (launch_.share == Share::blocks) {
            open_kernel(count, lines);
            take_apart(launch_.grid, block_, lines);
            return write_steps(lines);
        }
        const char* side = walks_ ? tilelang_threads : tilelang_block;
        add_constant(side);
        open_kernel(ceil_divide(count, symbol(side)), lines);
        const std::string position = launch_.grid.size() == 1 ? launch_.grid[0].name : names_.fresh("position");
        if (!walks_) lines.open(fmt::format("for {} in tl.Parallel({}):", lane_, tilelang_block));
        lines.add(fmt::format("{} = {} * {} + {}", position, block_, side,
                              walks_ ? std::string("tl.get_thread_binding()") : lane_));
        lines.open(fmt::format("if {} < {}:", position, text(count)));
        if (launch_.grid.size() > 1) take_apart(launch_.grid, position, lines);
        write_steps(lines);
    }

    // One number as a position on each axis, the last axis fastest.
    void take_apart(const std::vector<Axis>& axes, const std::string& number, Lines& lines) {
        Expression below = 1;
        std::vector<std::string> parts;
        for (size_t i = axes.size(); i-- > 0;) {
            std::string value = number;
            if (!below.is_literal(1)) value += " // " + grouped(below);
            if (i > 0) value += " % " + grouped(axes[i].extent);
            if (axes[i].name != number) parts.push_back(axes[i].name + " = " + value);
            below = below * axes[i].extent;
        }
        std::reverse(parts.begin(), parts.end());
        lines.add(parts);
    }

    void note_missing(const std::string& what) {
        if (lacks_.empty()) lacks_ = what;
    }
    bool in_blocks() const { return launch_.share == Share::blocks; }
    bool in_row(const Step& step) const {
        return !row_axes_.empty() && !step.axes.empty() &&
               std::equal(step.axes.begin(), step.axes.end(), row_axes_.begin(), row_axes_.end(),
                          [](const Axis& a, const Axis& b) { return a.name == b.name; });
    }

    void write_steps(Lines& lines) {
        for (const Step& step : launch_.steps) {
            if (const auto* store = std::get_if<StoreStep>(&step.what)) write_stores(step, store->stores, lines);
            else if (const auto* fold = std::get_if<FoldStep>(&step.what)) write_fold(step, *fold, lines);
            else if (const auto* scan = std::get_if<ScanStep>(&step.what)) write_scan(step, *scan, lines);
            else if (const auto* keep = std::get_if<KeepStep>(&step.what)) write_keep(step, *keep, lines);
            else note_missing("a tile product without tiles");
        }
    }

    // What changes within a step.
    std::set<std::string> inside_of(const Step& step) const {
        std::set<std::string> inside = kept_;
        for (const Axis& axis : step.axes) inside.insert(axis.name);
        return inside;
    }

    int open_loops(const std::vector<Axis>& axes, Lines& lines) {
        for (const Axis& axis : axes) lines.open(fmt::format("for {} in tl.serial({}):", axis.name, text(axis.extent)));
        return static_cast<int>(axes.size());
    }

    std::string lanes_of(const Step& step) const { return in_row(step) ? tilelang_row : tilelang_chunk; }

    // Loops around those over lanes: all axes but the last, and the last one in chunks.
    int open_chunks(const Step& step, Lines& lines) {
        if (in_row(step)) return 0;
        add_constant(tilelang_chunk);
        const int outer = open_loops({step.axes.begin(), step.axes.end() - 1}, lines);
        const std::string chunks = text(ceil_divide(step.axes.back().extent, symbol(tilelang_chunk)));
        lines.open(fmt::format("for {} in tl.serial({}):", first_, chunks));
        return outer + 1;
    }

    // The threads of the block side by side, where there is work.
    int open_lanes(const Step& step, Lines& lines) {
        lines.open(fmt::format("for {} in tl.Parallel({}):", lane_, lanes_of(step)));
        const bool row = in_row(step);
        const std::string place = row && step.axes.size() > 1 ? lane_ : step.axes.back().name;
        if (place != lane_)
            lines.add(row ? fmt::format("{} = {}", place, lane_)
                          : fmt::format("{} = {} * {} + {}", place, first_, tilelang_chunk, lane_));
        lines.open(fmt::format("if {} < {}:", place, text(row ? product_of(step.axes) : step.axes.back().extent)));
        if (row && step.axes.size() > 1) take_apart(step.axes, place, lines);
        return 2;
    }

    // ---- folds

    struct Running {
        const Fold* fold = nullptr;
        std::vector<std::string> names;   // of its parts
        std::vector<std::string> states;  // where they are while it runs
    };

    static std::string start_of(const Law::Part& part) { return tilelang_literal(part.start, part.dtype); }

    void allocate(const char* place, const std::string& name, const std::string& extent, DType dtype, Lines& lines) {
        lines.add(fmt::format("{} = tl.alloc_{}(({},), {})", name, place, extent, tilelang_type(dtype)));
    }

    void merge(const Law& law, const std::vector<std::string>& into, const std::vector<std::string>& from,
               Lines& lines) {
        merge_states(law, into, from, {launch_.terms, shapes_, lacks_}, names_, lines);
    }

    void merge_elements(const std::vector<Running>& running, Lines& lines) {
        std::vector<int> wanted;
        for (const Running& one : running) wanted.insert(wanted.end(), one.fold->terms.begin(), one.fold->terms.end());
        terms_.prepare(wanted, lines);
        for (const Running& one : running) {
            std::vector<std::string> elements;
            for (int term : one.fold->terms) elements.push_back(terms_.text_of(term));
            merge(one.fold->law, one.states, elements, lines);
        }
    }

    void write_fold(const Step& step, const FoldStep& fold, Lines& lines) {
        terms_.hoist(terms_of(step), inside_of(step), lines);
        std::vector<Running> running;
        for (const Fold& one : fold.folds) {
            running.push_back({&one, {}, {}});
            for (const std::string& name : one.names) running.back().names.push_back(names_.fresh(name));
        }
        const TermText::Named outside = terms_.named();
        if (step.axes.empty()) fold_nothing(running, lines);
        else if (in_blocks()) fold_in_block(step, running, lines);
        else fold_in_thread(step, !in_blocks() && sums_in_pieces(step, fold), running, lines);
        terms_.restore(outside);
        for (const Running& one : running)
            for (size_t part = 0; part < one.names.size(); ++part)
                terms_.set_result(one.fold->names[part],
                                  one.names[part] + (in_blocks() && !step.axes.empty() ? "[0]" : ""));
    }

    void fold_nothing(const std::vector<Running>& running, Lines& lines) {
        for (const Running& one : running) {
            terms_.prepare(one.fold->terms, lines);
            for (size_t part = 0; part < one.names.size(); ++part)
                lines.add(fmt::format("{} = {}", one.names[part], terms_.text_of(one.fold->terms[part])));
        }
    }

    // Each lane has a state of its own; then they become one.
    void fold_in_block(const Step& step, std::vector<Running>& running, Lines& lines) {
        for (Running& one : running)
            for (size_t part = 0; part < one.names.size(); ++part) {
                const std::string states = names_.fresh(one.names[part] + "_of_lanes");
                allocate("fragment", states, lanes_of(step), one.fold->law.parts[part].dtype, lines);
                lines.add(fmt::format("tl.fill({}, {})", states, start_of(one.fold->law.parts[part])));
                one.states.push_back(fmt::format("{}[{}]", states, lane_));
            }
        const int loops = open_chunks(step, lines);
        const int inner = open_lanes(step, lines);
        merge_elements(running, lines);
        lines.close(loops + inner);
        for (const Running& one : running) reduce(step, one, lines);
    }

    void reduce(const Step& step, const Running& one, Lines& lines) {
        const Law& law = one.fold->law;
        const std::string lanes = lanes_of(step);
        if (law.name == "sum") {
            allocate("fragment", one.names[0], "1", law.parts[0].dtype, lines);
            const std::string states = one.states[0].substr(0, one.states[0].find('['));
            return lines.add(fmt::format("tl.reduce_sum({}, {}, dim=0)", states, one.names[0]));
        }
        std::vector<std::string> near, far;
        const std::string half = names_.fresh("half"), level = names_.fresh("level");
        for (size_t part = 0; part < one.names.size(); ++part) {
            allocate("shared", one.names[part], lanes, law.parts[part].dtype, lines);
            near.push_back(fmt::format("{}[{}]", one.names[part], lane_));
            far.push_back(fmt::format("{}[{} + {}]", one.names[part], lane_, half));
        }
        lines.open(fmt::format("for {} in tl.Parallel({}):", lane_, lanes));
        for (size_t part = 0; part < near.size(); ++part)
            lines.add(fmt::format("{} = {}", near[part], one.states[part]));
        lines.close();
        lines.open(fmt::format("for {} in tl.serial(({} - 1).bit_length()):", level, lanes));
        lines.open(fmt::format("for {} in tl.Parallel({} // 2):", lane_, lanes));
        lines.add(fmt::format("{} = ({} // 2) >> {}", half, lanes, level));
        lines.open(fmt::format("if {} < {}:", lane_, half));
        merge(law, near, far, lines);
        lines.close(3);
    }

    void start_variables(const Law& law, const std::vector<std::string>& names, Lines& lines) {
        for (size_t k = 0; k < names.size(); ++k)
            lines.add(fmt::format("{} = tl.alloc_var({}, init={})", names[k], tilelang_type(law.parts[k].dtype),
                                  start_of(law.parts[k])));
    }

    void fold_in_thread(const Step& step, bool pieces, std::vector<Running>& running, Lines& lines) {
        for (Running& one : running) {
            start_variables(one.fold->law, one.names, lines);
            one.states = one.names;
        }
        int loops = 0;
        std::vector<Running> parts = running;
        if (pieces) {
            const Axis& last = step.axes.back();
            const std::string extent = text(last.extent);
            loops = open_loops({step.axes.begin(), step.axes.end() - 1}, lines) + 1;
            lines.open(
                fmt::format("for {} in tl.serial({}):", first_, text(ceil_divide(last.extent, Expression(short_sum)))));
            for (Running& one : parts) {
                if (one.fold->law.name != "sum") continue;
                one.states = {names_.fresh("part_of_" + one.names[0])};
                start_variables(one.fold->law, one.states, lines);
            }
            lines.open(fmt::format("for {0} in tl.serial({1} * {2}, tl.min({1} * {2} + {2}, {3})):", last.name, first_,
                                   short_sum, extent));
        } else {
            loops = open_loops(step.axes, lines);
        }
        merge_elements(parts, lines);
        if (pieces) {
            lines.close();
            for (size_t k = 0; k < parts.size(); ++k)
                if (parts[k].states != running[k].states)
                    merge(running[k].fold->law, running[k].states, parts[k].states, lines);
        }
        lines.close(loops);
    }

    // ---- stores, kept values, scans

    void write_stores(const Step& step, const std::vector<Store>& stores, Lines& lines) {
        std::vector<int> wanted;
        for (const Store& store : stores) wanted.push_back(store.term);
        if (!step.axes.empty()) terms_.hoist(wanted, inside_of(step), lines);
        const TermText::Named outside = terms_.named();
        int opened = 0;
        if (!in_blocks()) {
            opened = open_loops(step.axes, lines);
        } else if (step.axes.empty()) {
            lines.open(fmt::format("for {} in tl.Parallel(1):", lane_));
            opened = 1;
        } else {
            opened = open_chunks(step, lines);
            opened += open_lanes(step, lines);
        }
        terms_.prepare(wanted, lines);
        put(stores, lines);
        lines.close(opened);
        terms_.restore(outside);
    }

    void put(const std::vector<Store>& stores, Lines& lines) {
        for (const Store& store : stores)
            lines.add(fmt::format("{} = {}", terms_.element(store.tensor, store.at), terms_.text_of(store.term)));
    }

    void write_keep(const Step& step, const KeepStep& keep, Lines& lines) {
        if (!in_blocks() || !in_row(step)) return note_missing("values that are kept elsewhere than in a row");
        if (keep.values.empty()) return;
        terms_.hoist(terms_of(step), inside_of(step), lines);
        const TermText::Named outside = terms_.named();
        std::vector<std::string> names;
        for (const Keep& one : keep.values) {
            names.push_back(names_.fresh(one.name));
            allocate("fragment", names.back(), tilelang_row, launch_.terms[static_cast<size_t>(one.term)].dtype, lines);
        }
        const int opened = open_lanes(step, lines);
        terms_.prepare(terms_of(step), lines);
        for (size_t k = 0; k < names.size(); ++k)
            lines.add(fmt::format("{}[{}] = {}", names[k], lane_, terms_.text_of(keep.values[k].term)));
        lines.close(opened);
        terms_.restore(outside);
        for (size_t k = 0; k < names.size(); ++k) {
            terms_.set_result(keep.values[k].name, fmt::format("{}[{}]", names[k], lane_));
            kept_.insert(keep.values[k].name);
        }
    }

    void write_scan(const Step& step, const ScanStep& scan, Lines& lines) {
        std::set<std::string> inside = inside_of(step);
        inside.insert(scan.name);
        terms_.hoist(terms_of(step), inside, lines);
        const TermText::Named outside = terms_.named();
        if (in_blocks()) scan_in_block(step, scan, lines);
        else scan_in_thread(step, scan, lines);
        terms_.restore(outside);
    }

    void put_scanned(const ScanStep& scan, const std::string& running, Lines& lines) {
        terms_.set_result(scan.name, running);
        std::vector<int> after;
        for (const Store& store : scan.stores) after.push_back(store.term);
        terms_.prepare(after, lines);
        put(scan.stores, lines);
    }

    void scan_in_thread(const Step& step, const ScanStep& scan, Lines& lines) {
        const std::string running = names_.fresh(scan.name);
        int loops = open_loops({step.axes.begin(), step.axes.end() - 1}, lines);
        start_variables(scan.law, {running}, lines);
        loops += open_loops({step.axes.back()}, lines);
        terms_.prepare({scan.term}, lines);
        merge(scan.law, {running}, {terms_.text_of(scan.term)}, lines);
        put_scanned(scan, running, lines);
        lines.close(loops);
    }

    // The prefix of a chunk behind that of all chunks before it (W. D. Hillis and G. L. Steele, "Data parallel
    // algorithms", 1986).
    void scan_in_block(const Step& step, const ScanStep& scan, Lines& lines) {
        if (in_row(step)) return note_missing("a scan of a row that is kept");
        const DType dtype = scan.law.parts[0].dtype;
        const std::string line = names_.fresh("line"), next = names_.fresh("next"), carried = names_.fresh("carried"),
                          running = names_.fresh(scan.name), start = start_of(scan.law.parts[0]);
        allocate("shared", line, tilelang_chunk, dtype, lines);
        allocate("fragment", next, tilelang_chunk, dtype, lines);
        allocate("shared", carried, "1", dtype, lines);
        const int outer = open_loops({step.axes.begin(), step.axes.end() - 1}, lines);
        lines.add(fmt::format("tl.fill({}, {})", carried, start));
        const int chunks = open_chunks({{step.axes.back()}, scan}, lines);
        const TermText::Named before = terms_.named();
        int opened = open_lanes(step, lines);
        terms_.prepare({scan.term}, lines);
        lines.add(fmt::format("{}[{}] = {}", line, lane_, terms_.text_of(scan.term)));
        lines.close();
        lines.open("else:");
        lines.add(fmt::format("{}[{}] = {}", line, lane_, start));
        lines.close(opened);
        terms_.restore(before);
        write_prefix(scan.law, line, next, lines);
        opened = open_lanes(step, lines);
        const std::string whole = names_.fresh("before");
        if (scan.law.name == "sum") {
            lines.add(fmt::format("{} = {}[0] + {}[{}]", running, carried, line, lane_));
        } else {
            lines.add(fmt::format("{} = {}[0]", whole, carried));
            const std::string merged = merged_text(scan.law, whole, fmt::format("{}[{}]", line, lane_), lines);
            lines.add(fmt::format("{} = {}", running, merged));
        }
        put_scanned(scan, running, lines);
        lines.close(opened);
        lines.open(fmt::format("for {} in tl.Parallel(1):", lane_));
        merge(scan.law, {carried + "[0]"}, {fmt::format("{}[{} - 1]", line, tilelang_chunk)}, lines);
        lines.close(1 + chunks + outer);
    }

    std::string merged_text(const Law& law, const std::string& a, const std::string& b, Lines& lines) {
        return merge_of_states(law, a, b, {launch_.terms, shapes_, lacks_}, names_, lines);
    }

    void write_prefix(const Law& law, const std::string& line, const std::string& next, Lines& lines) {
        const std::string level = names_.fresh("level"), distance = names_.fresh("distance");
        lines.open(fmt::format("for {} in tl.serial(({} - 1).bit_length()):", level, tilelang_chunk));
        lines.add(fmt::format("{} = 1 << {}", distance, level));
        lines.open(fmt::format("for {} in tl.Parallel({}):", lane_, tilelang_chunk));
        lines.open(fmt::format("if {} >= {}:", lane_, distance));
        const std::string earlier = names_.fresh("earlier");
        lines.add(fmt::format("{} = {}[{} - {}]", earlier, line, lane_, distance));
        const std::string merged = merged_text(law, earlier, fmt::format("{}[{}]", line, lane_), lines);
        lines.add(fmt::format("{}[{}] = {}", next, lane_, merged));
        lines.close();
        lines.open("else:");
        lines.add(fmt::format("{0}[{2}] = {1}[{2}]", next, line, lane_));
        lines.close(2);
        lines.open(fmt::format("for {} in tl.Parallel({}):", lane_, tilelang_chunk));
        lines.add(fmt::format("{0}[{2}] = {1}[{2}]", line, next, lane_));
        lines.close(2);
    }

    // ---- tiles

    void write_tiles(Lines& lines) {
        const size_t rank = launch_.grid.size();
        const Axis &m = launch_.grid[rank - 2], &n = launch_.grid[rank - 1];
        std::vector<Axis> blocks(launch_.grid.begin(), launch_.grid.end() - 2);
        blocks.push_back({names_.fresh("tile_row"), ceil_divide(m.extent, symbol(tile_m))});
        blocks.push_back({names_.fresh("tile_column"), ceil_divide(n.extent, symbol(tile_n))});
        row_at_ = fmt::format("{} * {}", blocks[rank - 2].name, tile_m);
        column_at_ = fmt::format("{} * {}", blocks[rank - 1].name, tile_n);
        for (const char* name : {tile_m, tile_n, tile_k, tilelang_stages}) add_constant(name);
        for (std::string* name : {&down_, &across_}) *name = names_.fresh(*name);
        open_kernel(product_of(blocks), lines);
        take_apart(blocks, block_, lines);
        for (const Step& step : launch_.steps) {
            const auto* store = std::get_if<StoreStep>(&step.what);
            if (const auto* dot = std::get_if<DotStep>(&step.what)) write_dot(step, *dot, lines);
            else if (store && step.axes.empty()) store_tile(store->stores, lines);
            else note_missing(store ? "loops over tiles" : "this step in tiles");
        }
    }

    struct Side {
        const Axis& axis;
        std::string at, width;  // where its tile begins, how wide it is
    };
    Side rows() const { return {launch_.grid[launch_.grid.size() - 2], row_at_, tile_m}; }
    Side columns() const { return {launch_.grid.back(), column_at_, tile_n}; }

    // A loop over both sides of a tile, with the names of their axes; the condition that there is work.
    std::string open_tile(const Side& down, const Side& across, Lines& lines) {
        lines.open(fmt::format("for {}, {} in tl.Parallel({}, {}):", down_, across_, down.width, across.width));
        lines.add(fmt::format("{} = {} + {}", down.axis.name, down.at, down_));
        lines.add(fmt::format("{} = {} + {}", across.axis.name, across.at, across_));
        return fmt::format("{} < {} and {} < {}", down.axis.name, text(down.axis.extent), across.axis.name,
                           text(across.axis.extent));
    }

    // Zero outside of the tensors.
    void load_piece(int term, const Side& down, const Side& across, const std::string& into, Lines& lines) {
        const std::string inside = open_tile(down, across, lines);
        const std::string zero = tilelang_literal(0, launch_.terms[static_cast<size_t>(term)].dtype);
        const std::string element = fmt::format("{}[{}, {}]", into, down_, across_);
        const TermText::Named outside = terms_.named();
        Lines needed;
        terms_.prepare({term}, needed);
        terms_.restore(outside);
        if (needed.text().empty()) {  // in this form loads can run ahead
            lines.add(fmt::format("{} = tl.if_then_else({}, {}, {})", element, inside, terms_.text_of(term), zero));
            return lines.close();
        }
        lines.open(fmt::format("if {}:", inside));
        terms_.prepare({term}, lines);
        lines.add(fmt::format("{} = {}", element, terms_.text_of(term)));
        terms_.restore(outside);
        lines.close();
        lines.open("else:");
        lines.add(fmt::format("{} = {}", element, zero));
        lines.close(2);
    }

    void write_dot(const Step& step, const DotStep& dot, Lines& lines) {
        if (step.axes.size() != 1) return note_missing("a tile product over several axes");
        const Side depth{step.axes[0], fmt::format("{} * {}", first_, tile_k), tile_k};
        const std::string sums = names_.fresh(dot.name), a = names_.fresh("a_tile"), b = names_.fresh("b_tile");
        const DType a_type = launch_.terms[static_cast<size_t>(dot.a)].dtype,
                    b_type = launch_.terms[static_cast<size_t>(dot.b)].dtype;
        kernel_.piece_bytes = std::max<int64_t>(kernel_.piece_bytes, size_of(std::max(a_type, b_type, wider)));
        auto shared = [&](const std::string& name, const char* down, const char* across, DType dtype) {
            lines.add(fmt::format("{} = tl.alloc_shared(({}, {}), {})", name, down, across, tilelang_type(dtype)));
        };
        shared(a, tile_m, tile_k, a_type);
        shared(b, tile_k, tile_n, b_type);
        lines.add(fmt::format("{} = tl.alloc_fragment(({}, {}), {})", sums, tile_m, tile_n, tilelang_type(dot.dtype)));
        lines.add(fmt::format("tl.fill({}, {})", sums, tilelang_literal(0, dot.dtype)));
        lines.open(fmt::format("for {} in tl.Pipelined({}, num_stages={}):", first_,
                               text(ceil_divide(depth.axis.extent, symbol(tile_k))), tilelang_stages));
        load_piece(dot.a, rows(), depth, a, lines);
        load_piece(dot.b, depth, columns(), b, lines);
        const std::string inner = names_.fresh("inner");
        lines.open(fmt::format("for {} in tl.serial({}):", inner, tile_k));
        lines.open(fmt::format("for {}, {} in tl.Parallel({}, {}):", down_, across_, tile_m, tile_n));
        auto operand = [&](const std::string& element, DType dtype) {
            return dtype == dot.dtype ? element : fmt::format("tl.cast({}, {})", element, tilelang_type(dot.dtype));
        };
        const std::string left = operand(fmt::format("{}[{}, {}]", a, down_, inner), a_type),
                          right = operand(fmt::format("{}[{}, {}]", b, inner, across_), b_type),
                          sum = fmt::format("{}[{}, {}]", sums, down_, across_);
        lines.add(fmt::format("{0} = {0} + {1} * {2}", sum, left, right));
        lines.close(3);
        terms_.set_result(dot.name, sum);
    }

    static bool wider(DType a, DType b) { return size_of(a) < size_of(b); }

    void store_tile(const std::vector<Store>& stores, Lines& lines) {
        const TermText::Named outside = terms_.named();
        lines.open(fmt::format("if {}:", open_tile(rows(), columns(), lines)));
        std::vector<int> wanted;
        for (const Store& store : stores) wanted.push_back(store.term);
        terms_.prepare(wanted, lines);
        put(stores, lines);
        lines.close(2);
        terms_.restore(outside);
    }

    const Problem& problem_;
    const Schedule& schedule_;
    const Launch& launch_;
    std::string& lacks_;
    const Shapes shapes_;
    Names names_;
    TileLangTerms terms_;
    TileLangKernel kernel_;
    std::vector<Axis> row_axes_;  // of rows that a block keeps
    std::set<std::string> kept_;  // results that each lane has one of
    bool walks_ = false;          // a thread does more than to compute its element
    std::string block_ = "block", lane_ = "lane", first_ = "piece", down_ = "down", across_ = "across";
    std::string row_at_, column_at_;  // where the tile begins
};

}  // namespace

TileLangKernel write_tilelang_kernel(const Problem& problem, const Schedule& schedule, const Launch& launch,
                                     std::string& lacks) {
    return KernelWriter(problem, schedule, launch, lacks).write();
}

}  // namespace strop::backend
