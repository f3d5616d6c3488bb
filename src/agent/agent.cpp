#include "agent/agent.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/error.h"
#include "base/strings.h"
#include "language/contract.h"

namespace strop::agent {

namespace {

constexpr double near_duplicate = 0.6;  // share of words in common
constexpr size_t longest_evidence = 2000;
constexpr double far_slower = 10;  // than the kernel: one sample of a probe is enough

// A probe shares its kernel's tunables and their values; others that it declares all the same keep their first value.
void make_probe(const ProbeDraft& probe, EvaluationRequest& request) {
    request.kernel.id = probe.name;
    request.kernel.source = probe.source;
    TunableSpace own;
    try {
        own = parse_tunables(probe.source, probe.name);
    } catch (const UsageError&) {
        return;  // comments to the compiler, which says what is missing
    }
    for (Tunable& tunable : own.tunables)
        if (request.configuration.emplace(tunable.name, tunable.values.at(0)).second)
            request.kernel.space.tunables.push_back(std::move(tunable));
}

// Probes given as edits become sources; one whose edits do not apply is left out.
void apply_to(const std::string& source, ExperimentDraft& draft, std::string& why) {
    std::erase_if(draft.probes, [&](ProbeDraft& probe) {
        if (!probe.source.empty()) return false;
        std::optional<std::string> changed = apply_edits(source, probe.edits, why);
        if (changed) probe.source = *changed;
        return !changed;
    });
}

std::set<std::string> words_of(const Strategy& strategy) {
    std::set<std::string> words;
    std::string word;
    for (char c : lower(strategy.id + " " + strategy.hypothesis) + " ") {
        if (std::isalnum(static_cast<unsigned char>(c))) {
            word += c;
            continue;
        }
        if (word.size() > 3) words.insert(word);
        word.clear();
    }
    return words;
}

// Jaccard's index of the words that say something.
double likeness(const Strategy& a, const Strategy& b) {
    std::set<std::string> first = words_of(a), second = words_of(b);
    size_t common = 0;
    for (const std::string& word : first) common += second.count(word);
    size_t all = first.size() + second.size() - common;
    return all == 0 ? 1 : static_cast<double>(common) / static_cast<double>(all);
}

std::string text_of(const Strategy& strategy) {
    return fmt::format("{} ({}): {}\nExpected to be limited by: {}\n", strategy.id, strategy.family,
                       strategy.hypothesis, strategy.bottleneck);
}

// The text of a tunable's first valid value everywhere; an unreadable space is the author's failure.
void read_settings(Kernel& kernel, const Problem& problem) {
    read_directives(kernel, problem, kernel.id);
    kernel.initial = default_configuration(kernel.space);
}

}  // namespace

Agent::Agent(Briefing briefing, Panel& panel, Evaluator& judge, const AgentOptions& options)
    : briefing_(std::move(briefing)),
      panel_(panel),
      judge_(judge),
      options_(options),
      calls_(panel, options.parallel, [this](const Question& question) { return may_begin(question); }) {}

llm::Request Agent::request(const std::string& role, const std::string& prompt, Facts facts, bool change) const {
    facts["briefing"] = describe(briefing_, role);
    facts["tolerance"] = describe_tolerance(briefing_.problem);
    if (!facts.count("best")) facts["best"] = best_ ? describe_best(briefing_, *best_, false) : "";
    facts["signature"] = signature(briefing_.problem);
    facts["compiler"] = briefing_.compiler;
    facts["experiments"] = describe_experiments(experiments_);
    facts["advice"] = briefing_.advice.empty() ? "" : "## The user adds\n\n" + briefing_.advice + "\n";
    Prompt filled = load_prompt(prompt, facts);
    llm::Request request;
    request.role = role;
    request.system = "role: " + role + "\n\n" + filled.system;
    request.messages.push_back({llm::Message::Author::user, filled.task});
    request.schema_name = change ? "change" : role;
    request.schema = load_schema(request.schema_name);
    return request;
}

bool Agent::time_for(const std::vector<std::string>& roles) const {
    double seconds = 0;
    for (const std::string& role : roles) seconds += panel_.expected_seconds(role);
    return !options_.time_for || options_.time_for(seconds);
}

// ---- tasks ---------------------------------------------------------------------------------------------

void Agent::begin(Task<Answer> task, size_t kernels) {
    under_way_.push_back({std::move(task), kernels});
    under_way_.back().task.start();
}

void Agent::gather() {
    for (auto work = under_way_.begin(); work != under_way_.end();) {
        if (!work->task.done()) {
            ++work;
            continue;
        }
        answers_.push_back(work->task.result());
        proposed_ += static_cast<int>(answers_.back().proposals.size());
        work = under_way_.erase(work);
    }
}

std::vector<Answer> Agent::arrived(bool wait) {
    gather();
    if (answers_.empty() && calls_.count() > 0) {
        auto back = [&] {
            PhaseTimer timer(seconds_);
            const std::function<bool()> go_on = options_.may_wait ? options_.may_wait : [] { return true; };
            return wait ? calls_.back(go_on) : calls_.back();
        };
        for (const std::string& key : options_.arrivals ? options_.arrivals(back) : back()) calls_.take(key);
        gather();
    }
    return std::exchange(answers_, {});
}

// An answer that is there brings what it holds.
size_t Agent::expected() const {
    size_t kernels = 0;
    for (const Work& work : under_way_) kernels += work.task.done() ? 1 : work.kernels;
    return kernels;
}

void Agent::end() {
    for (const std::string& call : calls_.end()) losses_.push_back(call + ": the search ended before the answer came");
    under_way_.clear();
}

Question Agent::question(Seat& seat, const llm::Request& request, const std::string& subject) {
    return {calls_, seat, request, subject};
}

// With what has to follow before a kernel comes of it.
bool Agent::may_begin(const Question& question) {
    const std::string& role = question.request.role;
    const bool leads_on = role == "planner" || role == "analyst";
    const bool yes = time_for(leads_on ? std::vector<std::string>{role, "coder"} : std::vector<std::string>{role});
    if (!yes && role == "coder") lose(role, question.subject, "not asked: the time that is left is too short");
    return yes;
}

// ---- plan ----------------------------------------------------------------------------------------------

namespace {

std::string why_rejected(const Strategy& strategy, const std::vector<Strategy>& others) {
    for (const Strategy& other : others)
        if (other.id == strategy.id || likeness(other, strategy) > near_duplicate)
            return fmt::format("{} is the same as {}", strategy.id, other.id);
    return {};
}

}  // namespace

void Agent::accept(std::vector<Strategy> planned, const std::vector<Strategy>& tried, std::vector<Strategy>& accepted,
                   std::string& rejected) const {
    for (Strategy& strategy : planned) {
        if (accepted.size() >= static_cast<size_t>(options_.strategies)) break;
        std::string why = why_rejected(strategy, briefing_.known);
        if (why.empty()) why = why_rejected(strategy, tried);
        if (why.empty()) why = why_rejected(strategy, accepted);
        if (why.empty()) accepted.push_back(std::move(strategy));
        else rejected += "- " + why + "\n";
    }
}

Task<std::vector<Strategy>> Agent::plan_strategies(llm::Request ask, const std::vector<Strategy>& tried) {
    Seat& planner = panel_.take_turn("planner");
    llm::Reply reply = co_await question(planner, ask, "plan");
    std::string why, rejected, ignored;
    std::vector<Strategy> accepted;
    plan_ = ask;
    if (reply.text.empty()) {
        why_nothing_ = "the planner gave nothing: " + (reply.why.empty() ? llm::name_of(reply.failure) : reply.why);
        co_return accepted;
    }
    plan_.messages.push_back({llm::Message::Author::assistant, reply.text});
    accept(read_plan(reply.text, why), tried, accepted, rejected);
    why_nothing_.clear();
    if (rejected.empty() && why.empty()) co_return accepted;
    // Once more, with the reasons.
    if (rejected.empty()) rejected = "- " + why + "\n";
    ask = plan_;
    ask.messages.push_back({llm::Message::Author::user, load_prompt("planner_again", {{"rejected", rejected}}).task});
    llm::Reply again = co_await question(planner, ask, "plan");
    accept(read_plan(again.text, why), tried, accepted, ignored);
    if (accepted.empty()) why_nothing_ = "the planner gave nothing usable: " + (why.empty() ? rejected : why);
    co_return accepted;
}

std::vector<Proposal> Agent::plan() {
    if (!panel_.has("planner")) {
        why_nothing_ = "the planner gave nothing: no model was named for the role planner";
        return {};
    }
    begin(planning(request("planner", "planner", {{"count", std::to_string(options_.strategies)}}), {}),
          static_cast<size_t>(options_.strategies));
    return {};
}

bool Agent::widen(const std::vector<Strategy>& tried) {
    bool answered = plan_.messages.size() > 1;
    if (!answered || widenings_ >= options_.most_widenings || !time_for({"planner", "coder"})) return false;
    ++widenings_;
    llm::Request ask = plan_;
    ask.messages.push_back(
        {llm::Message::Author::user, load_prompt("planner_wider", {{"standings", describe_standings(tried)},
                                                                   {"experiments", describe_experiments(experiments_)},
                                                                   {"count", std::to_string(options_.strategies)}})
                                         .task});
    begin(planning(std::move(ask), tried), static_cast<size_t>(options_.strategies));
    return true;
}

std::string Agent::why_nothing() const {
    if (proposed_ > 0) return {};
    return why_nothing_.empty() ? "no planned strategy got a kernel" : why_nothing_;
}

// A task for each strategy: its kernel need not wait for the others.
Task<Answer> Agent::planning(llm::Request ask, std::vector<Strategy> tried) {
    std::vector<Strategy> planned = co_await plan_strategies(std::move(ask), tried);
    if (!planned.empty() && !panel_.has("coder")) why_nothing_ = "no model was named for the role coder";
    if (!panel_.has("coder")) planned.clear();
    for (Strategy& strategy : planned) begin(writing(std::move(strategy)), 1);
    co_return Answer{};
}

Task<Answer> Agent::writing(Strategy strategy) {
    Answer answer;
    const std::string best = best_ ? describe_best(briefing_, *best_, true) : "";
    llm::Request ask = request("coder", "coder", {{"strategy", text_of(strategy)}, {"best", best}});
    const std::string nothing;
    std::optional<Proposal> kernel = co_await write(panel_.take_turn("coder"), std::move(ask), strategy, nothing);
    if (kernel) answer.proposals.push_back(std::move(*kernel));
    co_return answer;
}

// ---- kernels -------------------------------------------------------------------------------------------

namespace {

std::string loss(const std::string& role, const std::string& model, const std::string& subject,
                 const std::string& why) {
    return fmt::format("{}{} about {}: {}", role, model.empty() ? "" : " " + model, subject, why);
}

}  // namespace

Agent::Draft Agent::draft_of(Strategy strategy, const Code& code, const std::string& model) const {
    Draft draft;
    Proposal proposal;
    Kernel& kernel = proposal.kernel;
    kernel.id = kernel.strategy = strategy.id;
    kernel.source = code.source;
    kernel.author = model;
    draft.mendable = true;
    try {
        for (const std::string& unused : drop_unused_tunables(kernel.source))
            draft.losses.push_back(fmt::format("the tunable {} is left out: no code names it", unused));
        read_settings(kernel, briefing_.problem);
        if (!code.condition.empty() && lower(code.condition) != "true")
            kernel.condition = Expression::parse(code.condition);
        if (kernel.condition) check_condition(*kernel.condition, briefing_.problem);
    } catch (const UsageError& error) {
        draft.losses.push_back(error.what());
        return draft;
    }
    strategy.proposer = model;
    proposal.strategy = std::move(strategy);
    draft.proposal = std::move(proposal);
    return draft;
}

Agent::Draft Agent::draft_of(const llm::Reply& reply, const Strategy& strategy, const std::string& model,
                             const std::string& shown) const {
    auto lost = [](const std::string& what, bool mendable = false) { return Draft{std::nullopt, {what}, mendable}; };
    std::string why;
    std::optional<Code> code = read_code(reply.text, why);
    if (!code) return lost(why);
    if (code->nothing()) return lost("nothing to write: " + code->note);
    if (code->source.empty()) {
        std::optional<std::string> changed = apply_edits(shown, code->edits, why);
        if (!changed) return lost(why, true);
        code->source = *changed;
    }
    const std::string& function = briefing_.problem.function;
    if (code->source.size() > longest_source) return lost("the source is too long");
    if (!defines(code->source, function)) return lost(fmt::format("no source: it defines no function {}", function));
    if (reply.failure == llm::Failure::cut_off && !is_whole(code->source)) return lost("the source was cut off");
    return draft_of(strategy, *code, model);
}

Task<std::optional<Proposal>> Agent::write(Seat& seat, llm::Request ask, const Strategy& strategy,
                                           const std::string& shown) {
    const std::string role = ask.role, &model = seat.model->name();
    for (int attempt = 0; attempt < 2; ++attempt) {
        llm::Reply reply = co_await question(seat, ask, strategy.id);
        if (reply.text.empty()) break;  // the account of calls has a line of it
        Draft draft = draft_of(reply, strategy, model, shown);
        for (const std::string& what : draft.losses) losses_.push_back(loss(role, model, strategy.id, what));
        if (draft.proposal) co_return std::move(draft.proposal);
        if (!draft.mendable) break;
        ask.messages.push_back({llm::Message::Author::assistant, reply.text});
        ask.messages.push_back({llm::Message::Author::user, load_prompt("again", {{"why", draft.losses.back()}}).task});
    }
    co_return std::nullopt;
}

void Agent::lose(const std::string& role, const std::string& subject, const std::string& why) {
    losses_.push_back(loss(role, "", subject, why));
}

// A roofline that was beaten is no bound for anybody.
void Agent::hear(const BestKnown& best) {
    best_ = best;
    for (const auto& [author, standing] : best.standings) panel_.credit(author, standing);
    for (ShapeReport& shape : briefing_.shapes)
        if (auto least = best.least_ns.find(shape.label);
            least != best.least_ns.end() && shape.roofline_ns > roofline_exceeded * least->second)
            shape.roofline_ns = 0;
}

void Agent::refuse(const Proposal& proposal, const std::string& known) {
    losses_.push_back(loss("kernel of", proposal.kernel.author, proposal.strategy.id, "the same source as " + known));
}

// "online+fix2" began as "online".
std::string Agent::root_of(const std::string& kernel) {
    size_t at = kernel.rfind("+fix");
    return at == std::string::npos ? kernel : kernel.substr(0, at);
}

// A kernel that cheats is not repaired: it is no mistake.
bool Agent::repair(const Strategy& strategy, const Kernel& kernel, const Evaluation& failed) {
    const bool mistake = failed.verdict != Verdict::cheated && failed.verdict != Verdict::unsupported && !failed.ok();
    const std::string root = root_of(kernel.id);
    if (!mistake || !panel_.has("fixer") || repairs_[root] >= options_.most_repairs || !time_for({"fixer"}))
        return false;
    ++repairs_[root];
    begin(repairing(strategy, kernel, failed), 1);
    return true;
}

Task<Answer> Agent::repairing(Strategy strategy, Kernel kernel, Evaluation failed) {
    Answer answer{Answer::Kind::repair, strategy.id, {}, {}};
    const std::string root = root_of(kernel.id);
    Strategy repaired = strategy;
    repaired.id = fmt::format("{}+fix{}", root, repairs_[root]);
    repaired.parent = strategy.id;
    repaired.reason.clear();
    llm::Request ask = request(
        "fixer", "fixer",
        {{"id", kernel.id},
         {"hypothesis", strategy.hypothesis},
         {"source", numbered(kernel.source)},
         {"verdict", name_of(failed.verdict)},
         {"evidence", describe_failure(failed)},
         {"configuration", failed.configuration.empty() ? "its defaults" : strop::describe(failed.configuration)}},
        true);
    std::optional<Proposal> mended = co_await write(panel_.take_turn("fixer"), std::move(ask), repaired, kernel.source);
    if (mended) {
        mended->kernel.parent = kernel.id;
        answer.proposals.push_back(std::move(*mended));
    }
    co_return answer;
}

std::vector<Proposal> Agent::deepen(const Strategy& strategy, const Kernel& kernel, const Evaluation& evaluation,
                                    const std::vector<std::string>& tried) {
    std::string family = tried.empty() ? kernel.id : tried.front();
    if (!deepens_others() || deepenings_[family] >= options_.most_deepenings || !time_for({"analyst", "coder"}))
        return {};
    int step = ++deepenings_[family];
    Facts facts = {{"id", strategy.id},
                   {"hypothesis", strategy.hypothesis},
                   {"source", numbered(kernel.source)},
                   {"configuration", strop::describe(evaluation.configuration)},
                   {"tried", join(tried, ", ")},
                   {"measured", describe_times(briefing_, evaluation)},
                   {"profile", profile_of(kernel, evaluation)}};
    begin(deepening(strategy, kernel, evaluation, std::move(facts), step), 1);
    return {};
}

Task<Answer> Agent::deepening(Strategy strategy, Kernel kernel, Evaluation evaluation, Facts facts, int step) {
    Answer answer{Answer::Kind::deepening, strategy.id, {}, {}};
    std::optional<Diagnosis> diagnosis = co_await diagnose(strategy, kernel, evaluation, facts);
    if (!diagnosis) co_return answer;
    if (diagnosis->nothing()) {
        lose("analyst", strategy.id, "nothing to change: " + diagnosis->evidence);
        co_return answer;
    }
    facts["diagnosis"] = diagnosis->text();
    Strategy deeper = strategy;
    deeper.parent = strategy.id;
    deeper.reason.clear();
    std::string change = safe_name(diagnosis->method.empty() ? fmt::format("step{}", step) : diagnosis->method);
    deeper.id = fmt::format("{}+{}", strategy.id, change.substr(0, 24));
    deeper.hypothesis = diagnosis->plan;
    llm::Request ask = request("coder", "coder", {{"strategy", ""}}, true);
    facts["best"] = best_ ? describe_best(briefing_, *best_, false) : "";
    ask.messages.back().content = load_prompt("coder_again", facts).task;
    std::optional<Proposal> changed = co_await write(panel_.take_turn("coder"), std::move(ask), deeper, kernel.source);
    if (changed) {
        changed->kernel.parent = kernel.id;
        answer.proposals.push_back(std::move(*changed));
    }
    co_return answer;
}

std::string Agent::profile_of(const Kernel& kernel, const Evaluation& evaluation) {
    const std::string text = options_.profile ? options_.profile(kernel, evaluation) : "";
    return text.empty() ? "" : "\nIts profile where it is furthest from the roofline:\n" + text;
}

// The second question goes to whom the first went: that conversation is in the provider's cache.
Task<std::optional<Diagnosis>> Agent::diagnose(const Strategy& strategy, const Kernel& kernel,
                                               const Evaluation& evaluation, Facts facts) {
    Seat& analyst = panel_.take_turn("analyst");
    llm::Request ask = request("analyst", "analyst", facts);
    llm::Reply reply = co_await question(analyst, ask, strategy.id);
    std::string why;
    std::optional<Diagnosis> first = read_diagnosis(reply.text, why);
    if (!first && !reply.text.empty()) lose("analyst " + analyst.model->name(), strategy.id, why);
    if (!first || first->nothing() || first->alternative.empty()) co_return first;
    facts["diagnosis"] = first->text();
    facts["alternative"] = first->alternative;
    std::optional<Experiment> made = co_await experiment(strategy, kernel, evaluation, facts);
    if (!made) co_return first;
    ask.messages.push_back({llm::Message::Author::assistant, reply.text});
    ask.messages.push_back({llm::Message::Author::user,
                            load_prompt("analyst_again", {{"conclusion", describe_experiments({*made})}}).task});
    llm::Reply decided = co_await question(analyst, ask, strategy.id);
    std::optional<Diagnosis> second = read_diagnosis(decided.text, why);
    co_return second ? second : first;
}

Task<std::optional<Experiment>> Agent::experiment(const Strategy& strategy, const Kernel& kernel,
                                                  const Evaluation& evaluation, const Facts& facts) {
    if (experiments_asked_ >= options_.most_experiments || !panel_.has("experimenter")) co_return std::nullopt;
    ++experiments_asked_;
    std::string why;
    llm::Request ask = request("experimenter", "experimenter", facts);
    llm::Reply reply = co_await question(panel_.take_turn("experimenter"), ask, strategy.id);
    std::optional<ExperimentDraft> draft = read_experiment(reply.text, why);
    if (draft) apply_to(kernel.source, *draft, why);
    if (!draft || draft->probes.empty()) {
        if (!reply.text.empty()) lose("experimenter", strategy.id, why);
        co_return std::nullopt;
    }
    experiments_.push_back(measure(*draft, strategy, kernel, evaluation));
    co_return experiments_.back();
}

// The kernel is measured once more beside its probes: all meet the same state of the machine. They share its tunables
// and their values.
Experiment Agent::measure(const ExperimentDraft& draft, const Strategy& strategy, const Kernel& kernel,
                          const Evaluation& evaluation) {
    EvaluationRequest request{kernel, evaluation.configuration, {}, Effort::screen, {}};
    for (const PointResult& result : evaluation.points) {
        if (result.verdict != Verdict::ok) continue;
        request.points.push_back(result.point);
        request.best_ns[result.point.label] = far_slower * result.time.median_ns;
    }
    std::vector<EvaluationRequest> requests = {request};
    for (const ProbeDraft& probe : draft.probes) {
        requests.push_back(request);
        make_probe(probe, requests.back());
    }
    const std::vector<ProbeResult> results = judge_.probe(requests);
    auto times_of = [](const ProbeResult& result) {
        std::map<std::string, double> times;
        for (const PointResult& at : result.points)
            if (at.verdict == Verdict::ok) times[at.point.label] = at.time.median_ns;
        return times;
    };
    Experiment made{strategy.id, draft.hypothesis, times_of(results[0]), {}};
    for (size_t i = 0; i < draft.probes.size(); ++i) {
        const ProbeResult& result = results[i + 1];
        made.probes.push_back({draft.probes[i].name, draft.probes[i].tells, result.verdict,
                               result.evidence.substr(0, longest_evidence), times_of(result)});
    }
    return made;
}

// ---- opinions ------------------------------------------------------------------------------------------

bool Agent::score(const std::vector<Strategy>& strategies) {
    if (!panel_.has("scorer") || scoring_) return false;
    scoring_ = true;
    begin(scoring(request("scorer", "scorer", {{"standings", describe_standings(strategies)}})), 0);
    return true;
}

Task<Answer> Agent::scoring(llm::Request ask) {
    Answer answer{Answer::Kind::opinions, "", {}, {}};
    llm::Reply reply = co_await question(panel_.take_turn("scorer"), ask, "scores");
    for (const Score& score : read_scores(reply.text)) answer.opinions[score.id] = score.confidence;
    scoring_ = false;
    co_return answer;
}

std::vector<DrawnLesson> Agent::reflect(const RunRecord& record) {
    PhaseTimer timer(seconds_);
    if (!panel_.has("reflector")) return {};
    std::string result =
        fmt::format("{}, {:.3g} times the best baseline ({}), {} evaluations\n", name_of(record.outcome),
                    record.headline.ratio, record.headline_baseline, record.evaluations);
    for (const Regime& regime : record.regimes)
        result += fmt::format("- {}: {} at {}\n", regime.condition, regime.strategy, join(regime.points, ", "));
    llm::Request ask =
        request("reflector", "reflector", {{"standings", describe_standings(record.strategies)}, {"result", result}});
    return read_lessons(panel_.ask(ask, "lessons").text);
}

}  // namespace strop::agent
