#include "playbook/program_text.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/strings.h"
#include "language/contract.h"
#include "playbook/loop_text.h"
#include "playbook/source_parts.h"

namespace strop::playbook {

namespace {

constexpr double most_bits = 56;  // of the number of a program's configurations

class ProgramWriter {
public:
    ProgramWriter(const Problem& problem, const std::vector<StageKernel>& stages, const std::vector<Buffer>& buffers)
        : problem_(problem),
          stages_(stages),
          buffers_(buffers) {}

    ProgramText write(const std::string& comment) {
        for (size_t k = 0; k < stages_.size(); ++k) {
            parts_.push_back(taken_apart(stages_[k].source));
            fallback_.push_back(taken_apart(stages_[k].otherwise));
            spaces_.push_back(parse_tunables(stages_[k].source, place_of(k)));
        }
        fix_surplus();
        find_vector_lengths();
        find_shared();
        std::string bodies;
        for (size_t k = 0; k < stages_.size(); ++k)
            if (!stages_[k].same_as) bodies += stage(k);
        std::string text = "// " + comment + "\n" + overview() + settings_;
        for (const std::string& include : includes_) text += include + "\n";
        text += "\n" + shared_text_ + bodies +
                (buffers_.empty() ? "" : kept_memory("buffer", "values between the stages")) + entry();
        return {text, initial_};
    }

private:
    static std::string place_of(size_t k) { return fmt::format("stage_{}", k + 1); }

    // A tunable of a stage is called after it: TILE becomes STAGE2_TILE. The vectors' length is one for all
    // stages.
    std::map<std::string, std::string> renamed(size_t k) const {
        std::map<std::string, std::string> names;
        for (const Tunable& tunable : spaces_[k].tunables)
            if (tunable.name != "VL" || vector_lengths_.empty())
                names[tunable.name] = fmt::format("STAGE{}_{}", k + 1, tunable.name);
        return names;
    }

    // A kernel has only so many late tunables, and a space so many configurations: tunables of the stages that should
    // take least become constants. Those that a condition ties to others do last, with all of their stage.
    void fix_surplus() {
        std::vector<size_t> order;
        for (size_t k = 0; k < stages_.size(); ++k) {
            order.push_back(k);
            for (const Tunable& tunable : spaces_[k].tunables) {
                late_ += tunable.kind == Tunable::Kind::late;
                bits_ += bits_of(tunable);
            }
        }
        std::stable_sort(order.begin(), order.end(),
                         [&](size_t a, size_t b) { return stages_[a].seconds < stages_[b].seconds; });
        for (size_t k : order)
            for (const Tunable& tunable : spaces_[k].tunables) {
                const bool is_late = tunable.kind == Tunable::Kind::late;
                const bool surplus = (is_late && late_ > most_late_tunables) || bits_ > most_bits;
                if (surplus && tunable.name != "VL" && !is_tied(k, tunable.name)) fix(k, tunable);
            }
        for (size_t k : order)
            if (late_ > most_late_tunables || bits_ > most_bits) fix_all(k);
    }

    // The guess fulfils the stage's conditions; those on the length of vectors stay.
    void fix_all(size_t k) {
        std::map<std::string, std::string> values;
        for (const Tunable& tunable : spaces_[k].tunables) {
            if (tunable.name == "VL") continue;
            values[tunable.name] = to_string(guess_of(k, tunable));
            if (!fixed_.contains({k, tunable.name})) fix(k, tunable);
        }
        std::erase_if(parts_[k].settings, [](const std::string& line) {
            return line.starts_with("strop:require") && !mentions_any(line, {"VL"});
        });
        for (std::string& line : parts_[k].settings)
            if (line.starts_with("strop:require")) line = with_names(line, values);
    }

    const Value& guess_of(size_t k, const Tunable& tunable) const {
        auto chosen = stages_[k].initial.find(tunable.name);
        return chosen == stages_[k].initial.end() ? tunable.values.front() : chosen->second;
    }

    // All stages have one length of vectors.
    static double bits_of(const Tunable& tunable) {
        return tunable.name == "VL" ? 0 : std::log2(static_cast<double>(tunable.values.size()));
    }

    bool is_tied(size_t k, const std::string& name) const {
        for (const std::string& setting : parts_[k].settings)
            if (setting.starts_with("strop:require") && mentions_any(setting, {name})) return true;
        return false;
    }

    void fix(size_t k, const Tunable& tunable) {
        const bool late = tunable.kind == Tunable::Kind::late;
        const std::string setting = fmt::format("strop:{} {} ", late ? "late" : "tune", tunable.name);
        std::erase_if(parts_[k].settings, [&](const std::string& line) { return line.starts_with(setting); });
        parts_[k].pieces.insert(parts_[k].pieces.begin(), fmt::format("constexpr {} {} = {};", late ? "int64_t" : "int",
                                                                      tunable.name, to_string(guess_of(k, tunable))));
        fixed_.insert({k, tunable.name});
        late_ -= late;
        bits_ -= bits_of(tunable);
    }

    // The lengths that every stage with vectors may have.
    void find_vector_lengths() {
        bool first = true;
        for (const TunableSpace& space : spaces_)
            for (const Tunable& tunable : space.tunables) {
                if (tunable.name != "VL") continue;
                if (first) vector_lengths_ = tunable.values;
                first = false;
                std::erase_if(vector_lengths_, [&](const Value& value) {
                    return std::find(tunable.values.begin(), tunable.values.end(), value) == tunable.values.end();
                });
            }
        if (vector_lengths_.empty()) return;
        std::vector<std::string> texts;
        for (const Value& value : vector_lengths_) texts.push_back(to_string(value));
        settings_ += "// strop:tune VL = " + join(texts, " | ") + "\n";
    }

    // Pieces that several stages have word for word stand before them, unless they name what a stage has in
    // its own way.
    void find_shared() {
        std::map<std::string, int> count;
        for (size_t k = 0; k < stages_.size(); ++k)
            for (const std::string& piece : stage_pieces(k)) ++count[piece];
        std::set<std::string> own;  // names
        for (const auto& [piece, times] : count) {
            bool whole =
                times > 1 && piece.find("extern \"C\"") == std::string::npos && !mentions_any(piece, {"STAGE"});
            if (whole) shared_.insert(piece);
            else own.merge(defined_names(piece));
        }
        std::map<std::string, int> definitions;  // two stages may define a name differently
        for (const std::string& piece : shared_)
            for (const std::string& name : defined_names(piece))
                if (++definitions[name] > 1) own.insert(name);
        for (bool changed = true; changed;) {
            changed = false;
            for (auto piece = shared_.begin(); piece != shared_.end();) {
                if (!mentions_any(*piece, own)) {
                    ++piece;
                    continue;
                }
                own.merge(defined_names(*piece));
                piece = shared_.erase(piece);
                changed = true;
            }
        }
        std::set<std::string> written;
        for (size_t k = 0; k < stages_.size(); ++k)
            for (const std::string& piece : stage_pieces(k))
                if (shared_.contains(piece) && written.insert(piece).second) shared_text_ += piece + "\n\n";
    }

    std::vector<std::string> stage_pieces(size_t k) const {
        std::vector<std::string> pieces;
        const std::map<std::string, std::string> names = renamed(k);
        for (const std::string& piece : parts_[k].pieces) pieces.push_back(with_names(piece, names));
        return pieces;
    }

    std::string stage(size_t k) {
        const SourceParts& parts = parts_[k];
        if (stages_[k].is_table) {
            std::string text;
            for (const std::string& comment : parts.comments) text += "// " + comment + "\n";
            for (const std::string& piece : parts.pieces) text += piece + "\n\n";
            return text;
        }
        const std::map<std::string, std::string> names = renamed(k);
        for (const std::string& setting : parts.settings)
            if (names.contains("VL") || !setting.starts_with("strop:tune VL ")) add_setting(with_names(setting, names));
        for (const std::string& setting : fallback_[k].settings) add_setting(setting);
        for (const auto& [name, value] : stages_[k].initial)
            if (!fixed_.contains({k, name})) initial_[names.contains(name) ? names.at(name) : name] = value;
        for (const SourceParts* one : std::initializer_list<const SourceParts*>{&parts, &fallback_[k]})
            for (const std::string& include : one->includes)
                if (std::find(includes_.begin(), includes_.end(), include) == includes_.end())
                    includes_.push_back(include);
        std::string text;
        for (const std::string& comment : parts.comments) text += "// " + comment + "\n";
        text += fmt::format("namespace {} {{\n\n", place_of(k));
        for (const std::string& piece : stage_pieces(k))
            if (!shared_.contains(piece)) text += as_own_function(piece) + "\n\n";
        text += fmt::format("}}  // namespace {}\n\n", place_of(k));
        if (!stages_[k].condition) return text;
        text += fmt::format("namespace {}_otherwise {{\n\n", place_of(k));
        for (const std::string& piece : fallback_[k].pieces)
            if (!shared_.contains(piece)) text += as_own_function(piece) + "\n\n";
        return text + fmt::format("}}  // namespace {}_otherwise\n\n", place_of(k));
    }

    void add_setting(const std::string& setting) {
        std::string line = "// " + setting + "\n";
        if (settings_.find(line) == std::string::npos) settings_ += line;
    }

    std::string overview() const {
        std::string text;
        for (size_t k = 0; k < stages_.size(); ++k)
            text += fmt::format("//   {}. {}{}\n", k + 1, stages_[k].problem.name,
                                stages_[k].is_table  ? " as a table"
                                : stages_[k].same_as ? fmt::format(" as in {}", *stages_[k].same_as + 1)
                                                     : "");
        return text;
    }

    std::string entry() const {
        Lines lines(0);
        lines.add(signature(problem_) + " {");
        const std::vector<size_t> slots = plan_slots(buffers_);
        const std::vector<std::string> bytes = bytes_of_each_slot(slots, lines);
        for (size_t b = 0; b < buffers_.size(); ++b)
            lines.add(fmt::format("{0}* const {1} = ({0}*)buffer<{2}>({3});", c_type(buffers_[b].dtype),
                                  buffers_[b].name, slots[b], bytes[slots[b]]));
        for (size_t k = 0; k < stages_.size(); ++k) call(k, lines);
        lines.add("}");
        return lines.text();
    }

    // Buffers of one slot ask for the largest of them, so that no later one moves it. A slot with buffers of several
    // sizes has a variable.
    std::vector<std::string> bytes_of_each_slot(const std::vector<size_t>& slots, Lines& lines) const {
        std::vector<std::vector<std::string>> sizes;
        for (size_t b = 0; b < buffers_.size(); ++b) {
            Expression bytes(static_cast<int64_t>(size_of(buffers_[b].dtype)));
            for (const Expression& extent : buffers_[b].shape) bytes = bytes * extent;
            sizes.resize(std::max(sizes.size(), slots[b] + 1));
            std::vector<std::string>& of_slot = sizes[slots[b]];
            if (std::find(of_slot.begin(), of_slot.end(), bytes.cpp()) == of_slot.end()) of_slot.push_back(bytes.cpp());
        }
        std::vector<std::string> texts;
        for (size_t slot = 0; slot < sizes.size(); ++slot) {
            std::string text = sizes[slot][0];
            if (sizes[slot].size() > 1) {
                text = fmt::format("bytes_{}", slot);
                while (mentions_any(signature(problem_), {text})) text += "_";  // an argument's name
                lines.add(fmt::format("const int64_t {} = std::max<int64_t>({{{}}});", text, join(sizes[slot], ", ")));
            }
            texts.push_back(text);
        }
        return texts;
    }

    void call(size_t k, Lines& lines) const {
        if (stages_[k].is_table) return;
        const size_t of = stages_[k].same_as.value_or(k);
        const StageKernel& stage = stages_[of];
        auto call_in = [&](const std::string& place) {
            return fmt::format("{}::{}({});", place, stage.problem.name, argument_list(stages_[k].problem));
        };
        if (!stage.condition) return lines.add(call_in(place_of(of)));
        lines.add(fmt::format("if ({})", stage.condition->cpp()));
        lines.add("    " + call_in(place_of(of)));
        lines.add("else");
        lines.add("    " + call_in(place_of(of) + "_otherwise"));
    }

    const Problem& problem_;
    const std::vector<StageKernel>& stages_;
    const std::vector<Buffer>& buffers_;
    std::vector<SourceParts> parts_, fallback_;
    std::vector<TunableSpace> spaces_;
    std::set<std::pair<size_t, std::string>> fixed_;  // tunables of stages that are constants here
    size_t late_ = 0;                                 // tunables that are not
    double bits_ = 0;                                 // of the number of configurations
    std::vector<Value> vector_lengths_;
    std::set<std::string> shared_;
    std::string shared_text_, settings_;
    std::vector<std::string> includes_ = {"#include <stdint.h>", "#include <algorithm>"};
    Configuration initial_;
};

}  // namespace

std::vector<size_t> plan_slots(const std::vector<Buffer>& buffers) {
    std::vector<size_t> slots;
    std::vector<size_t> free_after;  // by slot: the last stage that needs what is in it
    for (const Buffer& buffer : buffers) {
        size_t slot = 0;
        while (slot < free_after.size() && free_after[slot] >= buffer.first) ++slot;
        if (slot == free_after.size()) free_after.push_back(0);
        free_after[slot] = buffer.last;
        slots.push_back(slot);
    }
    return slots;
}

double bytes_of_slots(const std::vector<Buffer>& buffers, const Bindings& dimensions) {
    const std::vector<size_t> slots = plan_slots(buffers);
    std::map<size_t, double> largest;
    for (size_t b = 0; b < buffers.size(); ++b) {
        double bytes = static_cast<double>(size_of(buffers[b].dtype));
        for (const Expression& extent : buffers[b].shape)
            bytes *= static_cast<double>(extent.evaluate_integer(dimensions));
        largest[slots[b]] = std::max(largest[slots[b]], bytes);
    }
    double total = 0;
    for (const auto& [slot, bytes] : largest) total += bytes;
    return total;
}

ProgramText write_program(const Problem& problem, const std::string& comment, const std::vector<StageKernel>& stages,
                          const std::vector<Buffer>& buffers) {
    return ProgramWriter(problem, stages, buffers).write(comment);
}

}  // namespace strop::playbook
