#include "knowledge/learning.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include <fmt/format.h>

#include "knowledge/digest.h"

namespace strop {

namespace {

constexpr int least_evaluations = 3;  // fewer say little of a strategy
constexpr size_t most_lessons = 12;   // of one run

using Effect = Digest::Effect;

std::string hardware_condition(const Digest& digest) { return digest.language == "cpp" ? digest.isa : digest.language; }

// Of strategies as a whole, by what limits the shapes; the fastest first.
std::map<std::string, std::vector<const Effect*>> strategies_by_bound(const Digest& digest) {
    std::map<std::string, std::vector<const Effect*>> found;
    for (const Effect& effect : digest.effects)
        if (effect.tunable.empty()) found[effect.bound].push_back(&effect);
    for (auto& [bound, effects] : found)
        std::stable_sort(effects.begin(), effects.end(),
                         [](const Effect* a, const Effect* b) { return a->ratio < b->ratio; });
    return found;
}

class Drawer {
public:
    explicit Drawer(const Digest& digest) : digest_(digest) {}

    void add(const Effect& effect, Lesson::Advice advice, Configuration values, std::string what, std::string why,
             std::string note) {
        if (drawn_.size() >= most_lessons) return;
        Lesson lesson;
        lesson.when.family = effect.family;
        lesson.when.bound = effect.bound;
        lesson.when.hardware = hardware_condition(digest_);
        lesson.advice = advice;
        lesson.strategy = effect.strategy;
        lesson.values = std::move(values);
        lesson.what = std::move(what);
        lesson.why = std::move(why);
        const std::string id = id_of(lesson);
        drawn_.push_back({std::move(lesson), {id, digest_.run, Testimony::Kind::drew, std::move(note)}});
    }
    std::vector<Drawn> take() { return std::move(drawn_); }

private:
    const Digest& digest_;
    std::vector<Drawn> drawn_;
};

void draw_fastest(const std::vector<const Effect*>& effects, Drawer& drawer) {
    if (effects.size() < 2) return;
    const Effect& best = *effects[0];
    const double lead = effects[1]->ratio / best.ratio;
    if (lead < far_from_the_best || best.evaluations < least_evaluations) return;
    drawer.add(best, Lesson::Advice::prefer, {}, fmt::format("{} is the fastest of {}", best.strategy, best.family),
               "what it was measured beside was clearly slower", fmt::format("{:.2f} times the next", lead));
}

// One that was far behind at every limit.
void draw_slow(const std::map<std::string, std::vector<const Effect*>>& by_bound, Drawer& drawer) {
    std::map<std::string, std::pair<const Effect*, double>> least;  // strategy -> its least ratio
    std::map<std::string, size_t> bounds;
    for (const auto& [bound, effects] : by_bound)
        for (const Effect* effect : effects) {
            if (effect->evaluations < least_evaluations) continue;
            auto [found, fresh] = least.try_emplace(effect->strategy, effect, effect->ratio);
            if (!fresh) found->second.second = std::min(found->second.second, effect->ratio);
            ++bounds[effect->strategy];
        }
    for (const auto& [strategy, slow] : least) {
        if (slow.second < far_from_the_best || bounds[strategy] < by_bound.size()) continue;
        Effect everywhere = *slow.first;
        everywhere.bound.clear();
        drawer.add(everywhere, Lesson::Advice::avoid, {}, fmt::format("{} is slow", strategy),
                   "another strategy was clearly faster at every limit",
                   fmt::format("{:.2f} times the best where it is nearest", slow.second));
    }
}

// Values without which the fastest strategy is clearly slower, whatever its other tunables.
void draw_values(const Digest& digest, const Effect& best, Drawer& drawer) {
    std::map<std::string, std::pair<const Effect*, const Effect*>> best_and_next;
    for (const Effect& effect : digest.effects) {
        if (effect.tunable.empty() || effect.strategy != best.strategy || effect.bound != best.bound) continue;
        auto& [first, second] = best_and_next[effect.tunable];
        if (!first || effect.ratio < first->ratio) second = first, first = &effect;
        else if (!second || effect.ratio < second->ratio) second = &effect;
    }
    for (const auto& [tunable, pair] : best_and_next) {
        const auto& [first, second] = pair;
        if (!second || second->ratio / first->ratio < far_from_the_best || second->evaluations < least_evaluations)
            continue;
        drawer.add(*first, Lesson::Advice::prefer, {{tunable, first->value}},
                   fmt::format("{} wants {}={}", best.strategy, tunable, to_string(first->value)),
                   "every other value was clearly slower",
                   fmt::format("{:.2f} times the next value", second->ratio / first->ratio));
    }
}

bool applies(const Lesson& lesson, const Digest& digest) {
    const LessonConditions& when = lesson.when;
    return (when.problem.empty() || when.problem == digest.problem) &&
           (when.hardware.empty() || when.hardware == hardware_condition(digest));
}

// The least ratio of what the lesson is about, over the limits that it names; nothing where it was hardly measured.
std::optional<double> ratio_of(const Lesson& lesson, const Digest& digest) {
    std::optional<double> least;
    auto take = [&](double ratio) { least = least ? std::min(*least, ratio) : ratio; };
    for (const Effect& effect : digest.effects) {
        if (effect.strategy != lesson.strategy || effect.evaluations < least_evaluations) continue;
        if (!lesson.when.family.empty() && lesson.when.family != effect.family) continue;
        if (!lesson.when.bound.empty() && lesson.when.bound != effect.bound) continue;
        if (lesson.values.empty() && effect.tunable.empty()) take(effect.ratio);
        auto value = lesson.values.find(effect.tunable);
        if (value != lesson.values.end() && value->second == effect.value) take(effect.ratio);
    }
    return least;
}

// One strategy alone is always the best of its run, and one value the best of its tunable.
bool was_compared(const Lesson& lesson, const Digest& digest) {
    return std::any_of(digest.effects.begin(), digest.effects.end(), [&](const Effect& effect) {
        if (!lesson.when.bound.empty() && lesson.when.bound != effect.bound) return false;
        if (lesson.values.empty()) return effect.tunable.empty() && effect.strategy != lesson.strategy;
        auto value = lesson.values.find(effect.tunable);
        return effect.strategy == lesson.strategy && value != lesson.values.end() && value->second != effect.value;
    });
}

}  // namespace

std::vector<Drawn> lessons_of(const Digest& digest) {
    Drawer drawer(digest);
    const auto by_bound = strategies_by_bound(digest);
    for (const auto& [bound, effects] : by_bound) draw_fastest(effects, drawer);
    draw_slow(by_bound, drawer);
    for (const auto& [bound, effects] : by_bound) draw_values(digest, *effects.front(), drawer);
    return drawer.take();
}

std::vector<Testimony> testimonies(const Digest& digest, const std::vector<Lesson>& lessons) {
    std::vector<Testimony> said;
    for (const Lesson& lesson : lessons) {
        if (lesson.advice == Lesson::Advice::remark || !applies(lesson, digest)) continue;
        const std::optional<double> ratio = ratio_of(lesson, digest);
        if (!ratio || !was_compared(lesson, digest)) continue;
        const bool near = *ratio <= near_the_best, far = *ratio >= far_from_the_best;
        if (!near && !far) continue;
        const bool holds = lesson.advice == Lesson::Advice::prefer ? near : far;
        said.push_back({id_of(lesson), digest.run, holds ? Testimony::Kind::confirms : Testimony::Kind::contradicts,
                        fmt::format("{:.2f} times the best", *ratio)});
    }
    return said;
}

bool contradict(const Lesson& a, const Lesson& b) {
    auto about = [](const Lesson& lesson) {
        const LessonConditions& when = lesson.when;
        return std::tie(when.problem, when.family, when.bound, when.hardware, when.words, lesson.strategy);
    };
    auto same_tunables = [](const Configuration& one, const Configuration& other) {
        return std::equal(one.begin(), one.end(), other.begin(), other.end(),
                          [](const auto& x, const auto& y) { return x.first == y.first; });
    };
    if (a.advice == Lesson::Advice::remark || b.advice == Lesson::Advice::remark || about(a) != about(b)) return false;
    if (a.values == b.values) return a.advice != b.advice;
    return a.advice == Lesson::Advice::prefer && b.advice == Lesson::Advice::prefer && !a.values.empty() &&
           same_tunables(a.values, b.values);
}

bool concerns(const Lesson& lesson, const Digest& digest) {
    const LessonConditions& when = lesson.when;
    if (!when.problem.empty() && when.problem != digest.problem) return false;
    if (!when.hardware.empty() && when.hardware != digest.isa && when.hardware != digest.language) return false;
    auto is_of_it = [&](const auto& found) { return found.family == when.family; };
    return when.family.empty() || std::any_of(digest.winners.begin(), digest.winners.end(), is_of_it) ||
           std::any_of(digest.dead_ends.begin(), digest.dead_ends.end(), is_of_it);
}

}  // namespace strop
