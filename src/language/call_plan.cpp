#include "language/call_plan.h"

#include <algorithm>
#include <set>

#include "base/error.h"

namespace strop {

namespace {

// By trial instead of algebra: the factor must be the same at every probe. A wrong guess could only refuse
// good inputs, since every shape is compared with its expressions afterwards.
std::optional<Inverse> inverse_of(const Expression& extent, const std::string& dimension) {
    std::optional<int64_t> factor;
    try {
        for (int64_t seed : {2, 3, 7}) {
            Bindings bindings;
            for (const std::string& name : extent.symbols()) bindings[name] = seed += 2;
            bindings[dimension] = int64_t{0};
            const int64_t rest = extent.evaluate_integer(bindings);
            for (int64_t probe : {1, 2, 3, 5, 8, 64, 1001, 100003}) {
                bindings[dimension] = probe;
                const int64_t change = extent.evaluate_integer(bindings) - rest;
                if (change == 0 || change % probe != 0) return std::nullopt;
                if (factor && *factor != change / probe) return std::nullopt;
                factor = change / probe;
            }
        }
    } catch (const UsageError&) {
        return std::nullopt;
    }
    return Inverse{*factor, extent.substitute({{dimension, Expression(int64_t{0})}})};
}

class Planner {
public:
    explicit Planner(const Problem& problem) : problem_(problem) {
        for (const Parameter& parameter : problem.parameters) known_.insert(parameter.name);
    }

    CallPlan plan() {
        each_extent([this](size_t input, size_t axis) { return read_plain(input, axis); });
        while (each_extent([this](size_t input, size_t axis) { return read_inverse(input, axis); })) {
        }
        for (const std::string& name : problem_.dimensions)
            if (known_.insert(name).second) plan_.asked.push_back(name);
        return plan_;
    }

private:
    template <typename Read>
    bool each_extent(const Read& read) {
        bool progress = false;
        for (size_t i = 0; i < problem_.inputs.size(); ++i)
            for (size_t axis = 0; axis < problem_.inputs[i].shape.size(); ++axis) progress |= read(i, axis);
        return progress;
    }

    bool read_plain(size_t input, size_t axis) {
        const Expression& extent = problem_.inputs[input].shape[axis];
        if (!extent.is_symbol() || !is_dimension(problem_, extent.text())) return false;
        if (!known_.insert(extent.text()).second) return false;
        plan_.readings.push_back({extent.text(), input, axis, {}});
        return true;
    }

    bool read_inverse(size_t input, size_t axis) {
        const Expression& extent = problem_.inputs[input].shape[axis];
        std::vector<std::string> open;
        for (const std::string& name : extent.symbols())
            if (!known_.count(name)) open.push_back(name);
        if (open.size() != 1 || !is_dimension(problem_, open[0])) return false;
        std::optional<Inverse> inverse = inverse_of(extent, open[0]);
        if (!inverse) return false;
        known_.insert(open[0]);
        plan_.readings.push_back({open[0], input, axis, inverse});
        return true;
    }

    const Problem& problem_;
    std::set<std::string> known_;
    CallPlan plan_;
};

}  // namespace

const Reading* CallPlan::plain_at(size_t input, size_t axis) const {
    for (const Reading& reading : readings)
        if (reading.input == input && reading.axis == axis && !reading.inverse) return &reading;
    return nullptr;
}

CallPlan plan_call(const Problem& problem) { return Planner(problem).plan(); }

bool is_dimension(const Problem& problem, const std::string& name) {
    return std::find(problem.dimensions.begin(), problem.dimensions.end(), name) != problem.dimensions.end();
}

}  // namespace strop
