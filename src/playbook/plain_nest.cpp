#include "playbook/plain_nest.h"

#include <algorithm>

#include <fmt/format.h>

namespace strop::playbook {

namespace {

std::string grouped(const std::string& extent) {
    return extent.find(' ') == std::string::npos ? extent : "(" + extent + ")";
}

}  // namespace

std::string LoopNest::fresh_index() {
    static const std::vector<std::string> letters = {"i", "j", "k", "l", "m", "n"};
    return values.fresh(letters[std::min(loops_.size(), letters.size() - 1)]);
}

Term LoopNest::open(const Expression& extent, bool carried) {
    if (extent.is_literal(1)) return {"0", 0, true};
    std::string name = fresh_index();
    loops_.push_back({name, "0", extent.cpp(), "", extent.cpp(), carried});
    return {name, depth(), true};
}

TermIndex LoopNest::open(const Shape& shape) {
    TermIndex index;
    for (const Expression& extent : shape) index.push_back(open(extent));
    return index;
}

LoopNest::Tiled LoopNest::open_tiles(const Expression& extent, int64_t size, bool carried) {
    Tiled tiles{values.fresh("begin"), values.fresh("end"), values.fresh("TILE")};
    before(0, fmt::format("constexpr int64_t {} = {};", tiles.size, size));
    loops_.push_back({tiles.begin, "0", extent.cpp(), tiles.size, extent.cpp(), carried});
    std::string whole = grouped(extent.cpp());
    before(depth(), fmt::format("const int64_t {0} = {1} - {2} < {3} ? {1} : {2} + {3};", tiles.end, whole, tiles.begin,
                                tiles.size));
    return tiles;
}

Term LoopNest::open_tile(const Tiled& tiles, bool carried) {
    std::string name = fresh_index();
    loops_.push_back({name, tiles.begin, tiles.end, "", "", carried});
    return {name, depth(), true};
}

void LoopNest::write(Lines& lines, size_t at) {
    lines.add(values.statements(static_cast<int>(at)));
    const size_t joined = at == 0 ? joined_loops() : 0;
    if (joined > 0) {
        start_threads(lines, joined);
        write(lines, joined);
        lines.add("}");
        lines.add("});");
    } else if (at < loops_.size()) {
        const Loop& loop = loops_[at];
        std::string next = loop.step.empty() ? "++" + loop.name : loop.name + " += " + loop.step;
        lines.add(fmt::format("for (int64_t {0} = {1}; {0} < {2}; {3}) {{", loop.name, loop.begin, loop.end, next));
        write(lines, at + 1);
        lines.add("}");
    }
    lines.add(after_[static_cast<int>(at)]);
}

// The outer loops that nothing stands between, but not the innermost, which is for vectors.
size_t LoopNest::joined_loops() {
    size_t joined = 0;
    while (joined < loops_.size() && !loops_[joined].carried && !loops_[joined].extent.empty() &&
           (joined == 0 || joined + 1 < loops_.size()) &&
           (joined == 0 || values.statements(static_cast<int>(joined)).empty()))
        ++joined;
    return joined;
}

std::string LoopNest::work() const {
    std::string work;
    for (const Loop& loop : loops_)
        if (!loop.extent.empty()) work += (work.empty() ? "" : " * ") + grouped(loop.extent);
    for (const std::string& extent : called_) work += (work.empty() ? "" : " * ") + grouped(extent);
    return work;
}

// Threads share the joined loops: a task is one iteration of the innermost of them.
void LoopNest::start_threads(Lines& lines, size_t joined) {
    lines.add(fmt::format("team::parallel({} < PARALLEL_MIN ? 1 : team::size(), [=](team::Member me) {{", work()));
    auto share = [&](const std::string& name, const std::string& count) {
        lines.add(fmt::format("for (int64_t {0} = me.begin({1}); {0} < me.end({1}); ++{0}) {{", name, count));
    };
    if (joined == 1 && loops_[0].step.empty()) return share(loops_[0].name, loops_[0].end);
    std::vector<std::string> counts;
    std::string tasks;
    for (size_t k = 0; k < joined; ++k) {
        const Loop& loop = loops_[k];
        std::string count = grouped(loop.end);
        if (!loop.step.empty()) count = fmt::format("(({0} + {1} - 1) / {1})", count, loop.step);
        tasks += (k ? " * " : "") + count;
        counts.push_back(count);
    }
    const std::string task = values.fresh("task");
    share(task, tasks);
    for (size_t k = 0; k < joined; ++k) {
        std::string place = task, inner;
        for (size_t later = k + 1; later < joined; ++later) inner += (inner.empty() ? "" : " * ") + counts[later];
        if (joined - k == 2) place += " / " + inner;
        if (joined - k > 2) place += " / (" + inner + ")";
        if (k > 0) place += " % " + counts[k];
        const Loop& loop = loops_[k];
        if (!loop.step.empty()) place = (joined > 1 ? "(" + place + ")" : place) + " * " + loop.step;
        lines.add(fmt::format("const int64_t {} = {};", loop.name, place));
    }
}

}  // namespace strop::playbook
