#include "schedule/interpreter.h"

#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <unordered_map>

#include <fmt/format.h>

#include "base/error.h"
#include "core/expression_program.h"
#include "graph/operations.h"

namespace strop::schedule {

namespace {

struct Memory {
    Array array;
    std::vector<char> written;
};

// What a term refers to by name, looked up once.
struct Links {
    std::vector<int> places;  // earlier terms whose places its expressions read
    const Operation* operation = nullptr;
    const Memory* memory = nullptr;
    size_t result = 0;
};

using Position = std::vector<int64_t>;

// Of folds, scans and dots at this position of the grid, or the states that a law merges, by the numbers of their
// names.
class Results {
public:
    void set(size_t name, double value) {
        if (name >= known_.size()) {
            known_.resize(name + 1);
            values_.resize(name + 1);
        }
        known_[name] = 1;
        values_[name] = value;
    }
    const double* find(size_t name) const { return name < known_.size() && known_[name] ? &values_[name] : nullptr; }
    void erase(size_t name) { known_[name] = 0; }
    void clear() { known_.clear(); }

private:
    std::vector<double> values_;
    std::vector<char> known_;
};

// The numbers of the parts' names, in the state so far and in the one that joins it.
struct LawNames {
    std::vector<size_t> earlier, joining;
};

using State = std::vector<double>;

class Interpreter {
public:
    Interpreter(const Problem& problem, const Schedule& schedule, const Arguments& arguments,
                const Configuration& tunables)
        : problem_(problem),
          schedule_(schedule),
          arguments_(arguments),
          constants_(arguments.bindings) {
        constants_.insert(tunables.begin(), tunables.end());
        for (const auto& [name, value] : constants_)
            if (const auto* number = std::get_if<int64_t>(&value)) set(name, *number);
        for (const Tensor& input : problem.inputs) {
            const Array& array = arguments.inputs.at(input.name);
            memory_[input.name] = {array, std::vector<char>(array.values.size(), 1)};
        }
        for (const Tensor& output : problem.outputs) make(output.name, output.shape);
        for (const Buffer& buffer : schedule.buffers) make(buffer.name, buffer.shape);
    }

    std::vector<Array> run() {
        for (const Launch& launch : schedule_.launches) {
            launch_ = &launch;
            each(launch.grid, [&] { at_position(); });
        }
        std::vector<Array> outputs;
        for (const Tensor& output : problem_.outputs) {
            const Memory& memory = memory_.at(output.name);
            for (char written : memory.written)
                if (!written) fail(fmt::format("an element of '{}' is never written", output.name));
            outputs.push_back(memory.array);
        }
        return outputs;
    }

private:
    [[noreturn]] static void fail(const std::string& what) { throw UsageError(what, "the schedule has a defect"); }

    size_t place_of(const std::string& name) {
        const auto [found, is_new] = places_.try_emplace(name, numbers_.size());
        if (is_new) {
            numbers_.push_back(0);
            known_.push_back(0);
        }
        return found->second;
    }

    void set(const std::string& name, int64_t number) {
        const size_t place = place_of(name);
        numbers_[place] = number;
        known_[place] = 1;
    }

    int64_t whole(const Expression& expression) {
        auto [found, is_new] = programs_.try_emplace(&expression.node());
        if (is_new)
            found->second = ExpressionProgram::of(
                expression, [this](const std::string& name) { return static_cast<int>(place_of(name)); });
        if (found->second) return found->second->run(numbers_, known_);
        Bindings bindings = constants_;
        for (const auto& [name, place] : places_)
            if (known_[place]) bindings[name] = numbers_[place];
        return expression.evaluate_integer(bindings);
    }

    void make(const std::string& name, const std::vector<Expression>& shape) {
        Memory memory;
        for (const Expression& extent : shape) memory.array.shape.push_back(whole(extent));
        const auto count = static_cast<size_t>(element_count(memory.array.shape));
        memory.array.values.assign(count, std::numeric_limits<double>::quiet_NaN());
        memory.written.assign(count, 0);
        memory_[name] = std::move(memory);
    }

    void each(const std::vector<Axis>& axes, const std::function<void()>& body, size_t from = 0) {
        if (from == axes.size()) return body();
        const int64_t extent = whole(axes[from].extent);
        const size_t place = place_of(axes[from].name);
        for (int64_t i = 0; i < extent; ++i) {
            numbers_[place] = i;
            known_[place] = 1;
            each(axes, body, from + 1);
        }
        known_[place] = 0;
    }

    void at_position() {
        results_.clear();
        kept_.clear();
        for (const Step& step : launch_->steps) {
            step_ = &step;
            std::visit([&](const auto& what) { run(what); }, step.what);
        }
    }

    void run(const FoldStep& step) {
        std::vector<State> states;
        for (const Fold& fold : step.folds) {
            states.emplace_back();
            for (const Law::Part& part : fold.law.parts) states.back().push_back(part.start);
        }
        State element;
        each(step_->axes, [&] {
            for (size_t k = 0; k < step.folds.size(); ++k) {
                element.clear();
                for (int term : step.folds[k].terms) element.push_back(value(term));
                merge(step.folds[k].law, states[k], element);
            }
        });
        for (size_t k = 0; k < step.folds.size(); ++k)
            for (size_t part = 0; part < states[k].size(); ++part)
                results_.set(name_of(step.folds[k].names[part]), states[k][part]);
    }

    void run(const ScanStep& step) {
        std::vector<Axis> outer(step_->axes.begin(), step_->axes.end() - 1);
        const size_t name = name_of(step.name);
        each(outer, [&] {
            State state = {step.law.parts[0].start};
            each({step_->axes.back()}, [&] {
                merge(step.law, state, {value(step.term)});
                results_.set(name, state[0]);
                for (const Store& store : step.stores) write(store);
            });
        });
        results_.erase(name);
    }

    void run(const DotStep& step) {
        double total = 0;
        each(step_->axes, [&] { total += value(step.a) * value(step.b); });
        results_.set(name_of(step.name), total);
    }

    void run(const KeepStep& step) {
        each(step_->axes, [&] {
            for (const Keep& keep : step.values) kept_[keep.name][positions()] = value(keep.term);
        });
    }

    void run(const StoreStep& step) {
        each(step_->axes, [&] {
            for (const Store& store : step.stores) write(store);
        });
    }

    Position positions() {
        Position result;
        for (const Axis& axis : step_->axes) result.push_back(numbers_[place_of(axis.name)]);
        return result;
    }

    size_t offset(const Array& array, const std::vector<Expression>& at, const std::string& name) {
        if (at.size() == 1 && array.shape.size() != 1) {
            const int64_t place = whole(at[0]);
            if (place < 0 || place >= element_count(array.shape))
                fail(fmt::format("{}: {} is outside of its memory", name, place));
            return static_cast<size_t>(place);
        }
        if (at.size() != array.shape.size())
            fail(fmt::format("'{}' has {} axes, not {}", name, array.shape.size(), at.size()));
        size_t offset = 0;
        for (size_t axis = 0; axis < at.size(); ++axis) {
            const int64_t place = whole(at[axis]);
            if (place < 0 || place >= array.shape[axis])
                fail(fmt::format("{}: {} is outside of axis {} of {}", name, place, axis, array.shape[axis]));
            offset = offset * static_cast<size_t>(array.shape[axis]) + static_cast<size_t>(place);
        }
        return offset;
    }

    void write(const Store& store) {
        Memory& memory = memory_.at(store.tensor);
        const double written = value(store.term);
        const size_t place = offset(memory.array, store.at, store.tensor);
        const DType dtype = dtype_of(problem_, schedule_, store.tensor);
        memory.array.values[place] = is_floating(dtype) ? written : as_stored(written, dtype);
        memory.written[place] = 1;
    }

    double value(int term) { return evaluate(launch_->terms, term, results_, true); }

    size_t name_of(const std::string& result) { return names_.try_emplace(result, names_.size()).first->second; }

    const LawNames& names_of(const Law& law) {
        auto [found, is_new] = law_names_.try_emplace(&law);
        for (size_t k = 0; is_new && k < law.parts.size(); ++k) {
            found->second.earlier.push_back(name_of("a_" + law.parts[k].name));
            found->second.joining.push_back(name_of("b_" + law.parts[k].name));
        }
        return found->second;
    }

    void merge(const Law& law, State& state, const State& joining) {
        const LawNames& names = names_of(law);
        states_.clear();
        for (size_t k = 0; k < law.parts.size(); ++k) {
            states_.set(names.earlier[k], state[k]);
            states_.set(names.joining[k], joining[k]);
        }
        for (size_t k = 0; k < law.parts.size(); ++k) state[k] = evaluate(law.terms, law.merged[k], states_, false);
    }

    double evaluate(const std::vector<Term>& terms, int id, const Results& results, bool places) {
        const Term& term = terms[static_cast<size_t>(id)];
        const Links& links = links_of(terms, id);
        if (places)
            for (int place : links.places)
                set(terms[static_cast<size_t>(place)].place,
                    static_cast<int64_t>(evaluate(terms, place, results, true)));
        switch (term.kind) {
            case Term::Kind::number: return term.value;
            case Term::Kind::index: return static_cast<double>(whole(term.at[0]));
            case Term::Kind::parameter: return parameter(term.name);
            case Term::Kind::load: return load(term, links.memory);
            case Term::Kind::result:
                if (const double* known = results.find(links.result)) return *known;
                return kept(term.name);
            case Term::Kind::guarded: {
                const bool holds = whole(term.at[0]) != 0;
                return evaluate(terms, term.operands[holds ? 0 : 1], results, places);
            }
            case Term::Kind::pointwise: break;
        }
        std::array<double, most_operands> operands;
        for (size_t k = 0; k < term.operands.size(); ++k)
            operands[k] = evaluate(terms, term.operands[k], results, places);
        if (term.name == "cast") return is_floating(term.dtype) ? operands[0] : as_stored(operands[0], term.dtype);
        const double value = links.operation->in_double(operands.data());
        return is_floating(term.dtype) ? value : as_stored(value, term.dtype);
    }

    const Links& links_of(const std::vector<Term>& terms, int id) {
        const Term& term = terms[static_cast<size_t>(id)];
        auto [found, is_new] = links_.try_emplace(&term);
        Links& links = found->second;
        if (!is_new) return links;
        if (term.kind == Term::Kind::pointwise) links.operation = find_operation(Family::pointwise, term.name);
        if (term.kind == Term::Kind::result) links.result = name_of(term.name);
        if (auto memory = memory_.find(term.name); term.kind == Term::Kind::load && memory != memory_.end())
            links.memory = &memory->second;
        for (const Expression& expression : term.at)
            for (const std::string& symbol : expression.symbols())
                for (int earlier = 0; earlier < id; ++earlier)
                    if (terms[static_cast<size_t>(earlier)].place == symbol) links.places.push_back(earlier);
        return links;
    }

    double parameter(const std::string& name) const {
        for (const Parameter& one : problem_.parameters)
            if (one.name == name) {
                auto given = arguments_.inputs.find(name);
                return given == arguments_.inputs.end() ? one.value : given->second.values.at(0);
            }
        fail(fmt::format("'{}' is not a parameter", name));
    }

    double load(const Term& term, const Memory* memory) {
        if (!memory) fail(fmt::format("'{}' is not a tensor", term.name));
        const size_t place = offset(memory->array, term.at, term.name);
        if (!memory->written[place]) fail(fmt::format("'{}' is read before it is written", term.name));
        return memory->array.values[place];
    }

    double kept(const std::string& name) {
        auto kept = kept_.find(name);
        if (kept == kept_.end()) fail(fmt::format("'{}' is read before it is known", name));
        auto at = kept->second.find(positions());
        if (at == kept->second.end()) fail(fmt::format("'{}' was not kept at this position", name));
        return at->second;
    }

    const Problem& problem_;
    const Schedule& schedule_;
    const Arguments& arguments_;
    Bindings constants_;
    // Numbers by name, and expressions over them that were met.
    std::map<std::string, size_t> places_;
    std::vector<int64_t> numbers_;
    std::vector<char> known_;
    std::unordered_map<const Expression::Node*, std::optional<ExpressionProgram>> programs_;
    std::map<std::string, Memory> memory_;
    const Launch* launch_ = nullptr;
    const Step* step_ = nullptr;
    Results results_, states_;
    std::map<std::string, size_t> names_;  // of results
    std::unordered_map<const Law*, LawNames> law_names_;
    std::map<std::string, std::map<Position, double>> kept_;
    std::unordered_map<const Term*, Links> links_;
};

}  // namespace

std::vector<Array> interpret(const Problem& problem, const Schedule& schedule, const Arguments& arguments,
                             const Configuration& tunables) {
    return Interpreter(problem, schedule, arguments, tunables).run();
}

}  // namespace strop::schedule
