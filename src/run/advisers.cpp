#include "run/advisers.h"

#include "core/json.h"
#include "run/recording.h"

namespace strop {

namespace {

constexpr size_t most_lessons = 12;

}  // namespace

class Advisers::StoreLog : public llm::CallLog {
public:
    StoreLog(Store& store, std::string run) : store_(store), run_(std::move(run)) {}
    std::optional<llm::Call> find(const std::string& hash) override {
        std::optional<std::string> text = store_.find_document(run_, call_prefix + hash);
        return text ? std::optional(llm::call_from_json_text(*text)) : std::nullopt;
    }
    void add(const llm::Call& call) override {
        store_.add_document(run_, call_prefix + call.hash, llm::to_json_text(call));
    }

private:
    Store& store_;
    std::string run_;
};

Advisers::Advisers(const RunSettings& settings, Store& store, const std::string& run, bool replay, llm::Cancel cancel)
    : settings_(settings), prices_(llm::load_prices(settings.prices)), log_(std::make_unique<StoreLog>(store, run)) {
    caller_ = std::make_unique<llm::Caller>(prices_, llm::Limits{settings.max_cost, settings.max_tokens},
                                            std::vector<llm::CallLog*>{log_.get()}, replay, std::move(cancel));
    panel_ = std::make_unique<agent::Panel>(
        agent::seats_of(settings.models, settings.base_url, settings.key_file), *caller_);
}

Advisers::~Advisers() = default;

void Advisers::brief(agent::Briefing briefing, Evaluator& judge, agent::Profiler profile, agent::TimeFor time_for) {
    agent::AgentOptions options;
    options.time_for = std::move(time_for);
    options.profile = std::move(profile);
    if (settings_.dry_run) options.strategies = 1;
    agent_ = std::make_unique<agent::Agent>(std::move(briefing), *panel_, judge, options);
}

void Advisers::note(RunRecord& record) const {
    record.models.clear();
    for (const llm::RoleSpent& use : caller_->by_role()) {
        const llm::Spent& spent = use.spent;
        record.models.push_back({use.role, use.model, spent.calls, spent.failed, spent.replayed, spent.input_tokens,
                                 spent.cached_tokens, spent.output_tokens, spent.reasoning_tokens, spent.cost,
                                 spent.all_priced, spent.seconds});
    }
    record.model_costs.clear();
    for (const auto& [subject, spent] : caller_->by_subject()) record.model_costs[subject] = spent.cost;
    record.model_losses = caller_->losses();
    if (!agent_) return;
    record.experiments = agent_->experiments();
    record.model_losses.insert(record.model_losses.end(), agent_->losses().begin(), agent_->losses().end());
}

std::vector<std::string> earlier_lessons(Store& store, const RunRecord& current) {
    if (std::optional<std::string> known = store.find_document(current.run, lessons_key))
        return Json::parse(*known).get<std::vector<std::string>>();
    std::vector<std::string> lessons;
    for (const RunSummary& summary : store.runs(current.problem)) {
        if (summary.run == current.run || lessons.size() >= most_lessons) continue;
        std::optional<RunRecord> record = store.load_run(summary.run);
        if (record) lessons.insert(lessons.end(), record->lessons.begin(), record->lessons.end());
    }
    store.add_document(current.run, lessons_key, dump(Json(lessons)));
    return lessons;
}

}  // namespace strop
