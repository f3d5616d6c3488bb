#include "tune/space.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <string>
#include <unordered_map>

#include "base/error.h"

namespace strop::tune {

namespace {

constexpr size_t no_table_beyond = size_t{1} << 24;

// Top-level conjunctions fall apart, so that each part is tested as soon as its own variables are bound.
std::vector<Expression> conjuncts(const Expression& whole) {
    std::string text = whole.text(), part;
    std::vector<std::string> parts;
    int depth = 0;
    char quote = 0;
    for (size_t i = 0; i < text.size(); ++i) {
        char c = text[i];
        if (quote) quote = c == quote ? 0 : quote;
        else if (c == '\'' || c == '"') quote = c;
        else if (c == '(' || c == '[') ++depth;
        else if (c == ')' || c == ']') --depth;
        bool outside = depth == 0 && !quote;
        if (outside && text.compare(i, 4, " or ") == 0) return {whole};
        if (outside && text.compare(i, 5, " and ") == 0) {
            parts.push_back(part);
            part.clear();
            i += 4;
        } else {
            part += c;
        }
    }
    parts.push_back(part);
    if (parts.size() == 1) return {whole};
    std::vector<Expression> result;
    for (const std::string& text_of_part : parts) result.push_back(Expression::parse(text_of_part));
    return result;
}

// A constraint over a few of the tunables. Each combination of their values is evaluated at most once.
class Constraint {
public:
    Constraint(const Expression& expression, const std::vector<Tunable>& tunables) : expression_(expression) {
        size_t combinations = 1;
        std::set<std::string> names = expression.symbols();
        for (size_t t = 0; t < tunables.size(); ++t) {
            if (!names.erase(tunables[t].name)) continue;
            variables_.push_back(t);
            slots_.push_back(&bindings_[tunables[t].name]);
            strides_.push_back(combinations);
            combinations *= std::max<size_t>(tunables[t].values.size(), 1);
            combinations = std::min(combinations, no_table_beyond + 1);
        }
        if (!names.empty())
            throw UsageError("constraint '" + expression.text() + "': '" + *names.begin() + "' is no tunable");
        if (combinations <= no_table_beyond) table_.assign(combinations, Unknown);
    }

    const std::vector<size_t>& variables() const { return variables_; }

    bool holds(const std::vector<Tunable>& tunables, const std::vector<uint16_t>& row) {
        if (table_.empty()) return evaluate(tunables, row);
        size_t entry = 0;
        for (size_t i = 0; i < variables_.size(); ++i) entry += strides_[i] * row[variables_[i]];
        if (table_[entry] == Unknown) table_[entry] = evaluate(tunables, row) ? Yes : No;
        return table_[entry] == Yes;
    }

private:
    enum Known : uint8_t { Unknown, Yes, No };

    bool evaluate(const std::vector<Tunable>& tunables, const std::vector<uint16_t>& row) {
        for (size_t i = 0; i < variables_.size(); ++i) *slots_[i] = tunables[variables_[i]].values[row[variables_[i]]];
        try {
            return truthy(expression_.evaluate(bindings_));
        } catch (const UsageError& error) {
            throw UsageError("constraint '" + expression_.text() + "': " + error.what(), error.hint());
        }
    }

    Expression expression_;
    Bindings bindings_;
    std::vector<size_t> variables_, strides_;
    std::vector<Value*> slots_;  // into bindings_, one a variable
    std::vector<uint8_t> table_;
};

// Tunables in an order that completes the tightest constraints first, and the constraints that are complete
// at each level.
struct Schedule {
    std::vector<size_t> order;             // level -> tunable
    std::vector<std::vector<size_t>> due;  // level -> constraints
    // level -> tunables bound before it on which a constraint at that level or later depends
    std::vector<std::vector<size_t>> live;
};

Schedule schedule(const std::vector<Tunable>& tunables, const std::deque<Constraint>& constraints) {
    Schedule result;
    std::vector<bool> bound(tunables.size(), false), done(constraints.size(), false);
    auto bind = [&](size_t variable) {
        if (bound[variable]) return;
        bound[variable] = true;
        result.order.push_back(variable);
        result.due.emplace_back();
        for (size_t c = 0; c < constraints.size(); ++c) {
            const std::vector<size_t>& needs = constraints[c].variables();
            bool ready = std::all_of(needs.begin(), needs.end(), [&](size_t v) { return bound[v]; });
            if (done[c] || !ready) continue;
            done[c] = true;
            result.due.back().push_back(c);
        }
    };
    for (;;) {
        size_t next = constraints.size();
        double fewest = std::numeric_limits<double>::infinity();
        for (size_t c = 0; c < constraints.size(); ++c) {
            double combinations = 1;
            for (size_t v : constraints[c].variables())
                if (!bound[v]) combinations *= static_cast<double>(tunables[v].values.size());
            if (done[c] || constraints[c].variables().empty() || combinations >= fewest) continue;
            fewest = combinations;
            next = c;
        }
        if (next == constraints.size()) break;
        for (size_t v : std::vector<size_t>(constraints[next].variables())) bind(v);
    }
    for (size_t v = 0; v < tunables.size(); ++v) bind(v);

    for (size_t level = 0; level < result.order.size(); ++level) {
        result.live.emplace_back();
        for (size_t before = 0; before < level; ++before) {
            bool needed = false;
            for (size_t at = level; at < result.due.size(); ++at)
                for (size_t c : result.due[at]) {
                    const std::vector<size_t>& needs = constraints[c].variables();
                    needed = needed || std::find(needs.begin(), needs.end(), result.order[before]) != needs.end();
                }
            if (needed) result.live.back().push_back(result.order[before]);
        }
    }
    return result;
}

void check_sizes(const std::vector<Tunable>& tunables) {
    for (const Tunable& tunable : tunables)
        if (tunable.values.size() > std::numeric_limits<uint16_t>::max())
            throw UsageError("tunable '" + tunable.name + "' has too many values");
}

}  // namespace

class SpaceBuilder {
public:
    explicit SpaceBuilder(Space& space) : space_(space), row_(space.tunables_.size(), 0) {
        check_sizes(space.tunables_);
        space_.nodes_.push_back({0, 0, 1});
    }

    void build(const std::vector<Expression>& expressions, size_t most_tried) {
        most_tried_ = most_tried;
        for (const Expression& whole : expressions)
            for (const Expression& part : conjuncts(whole)) constraints_.emplace_back(part, space_.tunables_);
        schedule_ = schedule(space_.tunables_, constraints_);
        space_.order_ = schedule_.order;
        known_.resize(schedule_.order.size());
        for (Constraint& constraint : constraints_)
            if (constraint.variables().empty() && !constraint.holds(space_.tunables_, row_)) return;
        finish(grow(0));
    }

    // Rows are coordinates in the order of the tunables, sorted and unique.
    void build(const std::vector<std::vector<uint16_t>>& rows) {
        for (size_t t = 0; t < row_.size(); ++t) space_.order_.push_back(t);
        finish(rows.empty() ? nothing : grow(rows, 0, rows.size(), 0));
    }

private:
    static constexpr uint32_t nothing = std::numeric_limits<uint32_t>::max();
    static constexpr uint32_t end = 0;
    static constexpr size_t most_nodes = size_t{1} << 25;  // with their edges about a gigabyte

    [[noreturn]] static void refuse_entangled() {
        throw UsageError("the tunables' constraints entangle too many configurations",
                         "use fewer values or constraints over fewer tunables");
    }

    void finish(uint32_t root) {
        if (root == nothing) return;
        space_.root_ = root;
        space_.count_ = space_.nodes_[root].count;
    }

    // The node of all that may follow the values in row_ below `level`.
    uint32_t grow(size_t level) {
        if (level == schedule_.order.size()) return end;
        std::u16string key;
        for (size_t variable : schedule_.live[level]) key += static_cast<char16_t>(row_[variable]);
        if (auto known = known_[level].find(key); known != known_[level].end()) return known->second;
        size_t variable = schedule_.order[level];
        std::vector<Space::Edge> edges;
        for (size_t v = 0; v < space_.tunables_[variable].values.size(); ++v) {
            row_[variable] = static_cast<uint16_t>(v);
            if (++tried_ > most_tried_) refuse_entangled();
            bool valid = std::all_of(schedule_.due[level].begin(), schedule_.due[level].end(),
                                     [&](size_t c) { return constraints_[c].holds(space_.tunables_, row_); });
            if (valid) edges.push_back({0, grow(level + 1), static_cast<uint16_t>(v)});
        }
        uint32_t node = add(std::move(edges));
        known_[level].emplace(std::move(key), node);
        return node;
    }

    uint32_t grow(const std::vector<std::vector<uint16_t>>& rows, size_t from, size_t to, size_t level) {
        if (level == row_.size()) return end;
        std::vector<Space::Edge> edges;
        for (size_t begin = from; begin < to;) {
            size_t past = begin;
            while (past < to && rows[past][level] == rows[begin][level]) ++past;
            edges.push_back({0, grow(rows, begin, past, level + 1), rows[begin][level]});
            begin = past;
        }
        return add(std::move(edges));
    }

    uint32_t add(std::vector<Space::Edge> edges) {
        std::erase_if(edges, [](const Space::Edge& edge) { return edge.child == nothing; });
        if (edges.empty()) return nothing;
        Space::Node node;
        node.first_edge = static_cast<uint32_t>(space_.edges_.size());
        for (Space::Edge& edge : edges) {
            edge.before = node.count;
            if (__builtin_add_overflow(node.count, space_.nodes_[edge.child].count, &node.count))
                throw UsageError("the tunables have more than 2^64 configurations", "add constraints");
            space_.edges_.push_back(edge);
        }
        node.last_edge = static_cast<uint32_t>(space_.edges_.size());
        if (space_.edges_.size() > most_nodes) refuse_entangled();
        space_.nodes_.push_back(node);
        return static_cast<uint32_t>(space_.nodes_.size() - 1);
    }

    Space& space_;
    std::vector<uint16_t> row_;
    size_t tried_ = 0, most_tried_ = 0;   // values, each beside those before it
    std::deque<Constraint> constraints_;  // never moved: they point into themselves
    Schedule schedule_;
    std::vector<std::unordered_map<std::u16string, uint32_t>> known_;  // level -> live values -> node
};

Space::Space(const TunableSpace& space, size_t most_tried) : tunables_(space.tunables) {
    SpaceBuilder(*this).build(space.constraints, most_tried);
}

Space::Space(const std::vector<Tunable>& tunables, const std::vector<Configuration>& valid) : tunables_(tunables) {
    std::vector<std::vector<uint16_t>> rows;
    for (const Configuration& configuration : valid) {
        std::optional<std::vector<uint16_t>> row = coordinates_of(configuration);
        if (!row) throw UsageError("no configuration of the space: " + describe(configuration));
        rows.push_back(std::move(*row));
    }
    std::sort(rows.begin(), rows.end());
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    SpaceBuilder(*this).build(rows);
}

std::vector<uint16_t> Space::coordinates(size_t index) const {
    std::vector<uint16_t> row(tunables_.size());
    uint32_t node = root_;
    for (size_t tunable : order_) {
        auto first = edges_.begin() + nodes_[node].first_edge, last = edges_.begin() + nodes_[node].last_edge;
        auto after = std::upper_bound(first, last, index, [](size_t at, const Edge& edge) { return at < edge.before; });
        const Edge& edge = *std::prev(after);
        index -= edge.before;
        row[tunable] = edge.value;
        node = edge.child;
    }
    return row;
}

Configuration Space::configuration(size_t index) const {
    Configuration configuration;
    std::vector<uint16_t> row = coordinates(index);
    for (size_t t = 0; t < tunables_.size(); ++t) configuration[tunables_[t].name] = tunables_[t].values[row[t]];
    return configuration;
}

std::optional<std::vector<uint16_t>> Space::coordinates_of(const Configuration& configuration) const {
    if (configuration.size() != tunables_.size()) return std::nullopt;
    std::vector<uint16_t> row;
    for (const Tunable& tunable : tunables_) {
        auto value = configuration.find(tunable.name);
        if (value == configuration.end()) return std::nullopt;
        auto at = std::find(tunable.values.begin(), tunable.values.end(), value->second);
        if (at == tunable.values.end()) return std::nullopt;
        row.push_back(static_cast<uint16_t>(at - tunable.values.begin()));
    }
    return row;
}

std::optional<size_t> Space::find(const Configuration& configuration) const {
    std::optional<std::vector<uint16_t>> row = coordinates_of(configuration);
    return row ? index_of(*row) : std::nullopt;
}

std::optional<size_t> Space::index_of(const std::vector<uint16_t>& row) const {
    if (count_ == 0) return std::nullopt;
    size_t index = 0;
    uint32_t node = root_;
    for (size_t tunable : order_) {
        auto first = edges_.begin() + nodes_[node].first_edge, last = edges_.begin() + nodes_[node].last_edge;
        auto edge = std::lower_bound(first, last, row[tunable],
                                     [](const Edge& at, uint16_t value) { return at.value < value; });
        if (edge == last || edge->value != row[tunable]) return std::nullopt;
        index += edge->before;
        node = edge->child;
    }
    return index;
}

std::vector<size_t> Space::neighbours(size_t index, bool adjacent) const {
    std::vector<size_t> result;
    std::vector<uint16_t> row = coordinates(index);
    for (size_t t = 0; t < tunables_.size(); ++t) {
        uint16_t own = row[t];
        for (size_t v = 0; v < tunables_[t].values.size(); ++v) {
            bool step = v + 1 == own || v == static_cast<size_t>(own) + 1;
            if (v == own || (adjacent && !step)) continue;
            row[t] = static_cast<uint16_t>(v);
            if (std::optional<size_t> found = index_of(row)) result.push_back(*found);
        }
        row[t] = own;
    }
    return result;
}

}  // namespace strop::tune
