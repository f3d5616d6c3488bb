#include "tune/space.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <numeric>

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
        if (quote)
            quote = c == quote ? 0 : quote;
        else if (c == '\'' || c == '"')
            quote = c;
        else if (c == '(' || c == '[')
            ++depth;
        else if (c == ')' || c == ']')
            --depth;
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
            throw UsageError("constraint '" + expression.text() + "': '" + *names.begin() +
                             "' is no tunable");
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
        for (size_t i = 0; i < variables_.size(); ++i)
            *slots_[i] = tunables[variables_[i]].values[row[variables_[i]]];
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

// Depth-first enumeration. Variables are bound in an order that completes the tightest constraints first.
class Enumeration {
public:
    explicit Enumeration(const TunableSpace& space)
        : tunables_(space.tunables), row_(space.tunables.size(), 0) {
        for (const Expression& whole : space.constraints)
            for (const Expression& part : conjuncts(whole)) constraints_.emplace_back(part, tunables_);
        order_variables();
    }

    // At most `budget` rows. With `spread` every value gets an equal share of the budget, so that a space
    // that is too large is thinned in its last variables (which keep their first values) and not cut off in
    // its first.
    std::vector<uint16_t> rows(size_t budget, bool spread) {
        found_.clear();
        spread_ = spread;
        if (constants_hold()) descend(0, budget);
        return std::move(found_);
    }

private:
    void order_variables() {
        std::vector<bool> bound(tunables_.size(), false), done(constraints_.size(), false);
        auto bind = [&](size_t variable) {
            if (bound[variable]) return;
            bound[variable] = true;
            order_.push_back(variable);
            due_.emplace_back();
            for (size_t c = 0; c < constraints_.size(); ++c) {
                const std::vector<size_t>& needs = constraints_[c].variables();
                bool ready = std::all_of(needs.begin(), needs.end(), [&](size_t v) { return bound[v]; });
                if (done[c] || !ready) continue;
                done[c] = true;
                due_.back().push_back(c);
            }
        };
        for (;;) {
            size_t next = constraints_.size();
            double fewest = std::numeric_limits<double>::infinity();
            for (size_t c = 0; c < constraints_.size(); ++c) {
                double combinations = 1;
                for (size_t v : constraints_[c].variables())
                    if (!bound[v]) combinations *= static_cast<double>(tunables_[v].values.size());
                if (done[c] || constraints_[c].variables().empty() || combinations >= fewest) continue;
                fewest = combinations;
                next = c;
            }
            if (next == constraints_.size()) break;
            for (size_t v : std::vector<size_t>(constraints_[next].variables())) bind(v);
        }
        for (size_t v = 0; v < tunables_.size(); ++v) bind(v);
    }

    bool constants_hold() {
        for (Constraint& constraint : constraints_)
            if (constraint.variables().empty() && !constraint.holds(tunables_, row_)) return false;
        return true;
    }

    size_t descend(size_t depth, size_t budget) {
        if (budget == 0) return 0;
        if (depth == order_.size()) {
            found_.insert(found_.end(), row_.begin(), row_.end());
            return 1;
        }
        size_t variable = order_[depth], count = 0;
        size_t values = tunables_[variable].values.size();
        for (size_t v = 0; v < values && count < budget; ++v) {
            row_[variable] = static_cast<uint16_t>(v);
            bool valid = std::all_of(due_[depth].begin(), due_[depth].end(),
                                     [&](size_t c) { return constraints_[c].holds(tunables_, row_); });
            size_t left = budget - count;
            size_t share = spread_ ? (left + values - v - 1) / (values - v) : left;
            if (valid) count += descend(depth + 1, share);
        }
        return count;
    }

    const std::vector<Tunable>& tunables_;
    std::vector<uint16_t> row_, found_;
    std::deque<Constraint> constraints_;    // never moved: they point into themselves
    std::vector<size_t> order_;             // depth -> variable
    std::vector<std::vector<size_t>> due_;  // depth -> constraints that are complete there
    bool spread_ = false;
};

std::vector<uint16_t> sorted_rows(const std::vector<uint16_t>& rows, size_t width) {
    std::vector<uint32_t> order(rows.size() / width);
    std::iota(order.begin(), order.end(), 0u);
    std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
        const uint16_t *x = &rows[a * width], *y = &rows[b * width];
        return std::lexicographical_compare(x, x + width, y, y + width);
    });
    std::vector<uint16_t> result;
    result.reserve(rows.size());
    for (uint32_t row : order) result.insert(result.end(), &rows[row * width], &rows[row * width] + width);
    return result;
}

// The index of `row` among sorted rows.
std::optional<size_t> find_row(const std::vector<uint16_t>& rows, size_t count,
                               const std::vector<uint16_t>& row) {
    size_t width = row.size(), low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const uint16_t* at = rows.data() + middle * width;
        if (std::lexicographical_compare(at, at + width, row.begin(), row.end()))
            low = middle + 1;
        else
            high = middle;
    }
    bool same = low < count && std::equal(row.begin(), row.end(), rows.data() + low * width);
    return same ? std::optional<size_t>(low) : std::nullopt;
}

}  // namespace

Space::Space(const TunableSpace& space, size_t limit) : tunables_(space.tunables) {
    for (const Tunable& tunable : tunables_)
        if (tunable.values.size() > std::numeric_limits<uint16_t>::max())
            throw UsageError("tunable '" + tunable.name + "' has too many values");
    Enumeration enumeration(space);
    if (tunables_.empty()) {
        // No rows to hold: valid exactly when the constraints, which are constants then, hold.
        count_ = 1;
        for (const Expression& constraint : space.constraints)
            if (!truthy(constraint.evaluate({}))) count_ = 0;
        return;
    }
    size_t width = tunables_.size();
    rows_ = enumeration.rows(limit + 1, false);
    truncated_ = rows_.size() / width > limit;
    if (truncated_) rows_ = enumeration.rows(limit, true);
    rows_ = sorted_rows(rows_, width);
    count_ = rows_.size() / width;
}

std::vector<uint16_t> Space::coordinates(size_t index) const {
    auto begin = rows_.begin() + static_cast<std::ptrdiff_t>(index * tunables_.size());
    return {begin, begin + static_cast<std::ptrdiff_t>(tunables_.size())};
}

Configuration Space::configuration(size_t index) const {
    Configuration configuration;
    std::vector<uint16_t> row = coordinates(index);
    for (size_t t = 0; t < tunables_.size(); ++t)
        configuration[tunables_[t].name] = tunables_[t].values[row[t]];
    return configuration;
}

std::optional<size_t> Space::find(const Configuration& configuration) const {
    if (configuration.size() != tunables_.size()) return std::nullopt;
    if (tunables_.empty()) return count_ ? std::optional<size_t>(0) : std::nullopt;
    std::vector<uint16_t> row;
    for (const Tunable& tunable : tunables_) {
        auto value = configuration.find(tunable.name);
        if (value == configuration.end()) return std::nullopt;
        auto at = std::find(tunable.values.begin(), tunable.values.end(), value->second);
        if (at == tunable.values.end()) return std::nullopt;
        row.push_back(static_cast<uint16_t>(at - tunable.values.begin()));
    }
    return find_row(rows_, count_, row);
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
            if (std::optional<size_t> found = find_row(rows_, count_, row)) result.push_back(*found);
        }
        row[t] = own;
    }
    return result;
}

}  // namespace strop::tune
