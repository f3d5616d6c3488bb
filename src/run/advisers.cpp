#include "run/advisers.h"

#include "base/file.h"
#include "base/strings.h"
#include "core/json.h"
#include "problem/cpp_reference.h"
#include "run/store_log.h"

namespace strop {

Advisers::Advisers(const RunSettings& settings, Store& store, const std::string& run, bool replay, llm::Cancel cancel)
    : settings_(settings),
      cancel_(std::move(cancel)),
      prices_(llm::load_prices(settings.prices)),
      log_(std::make_unique<StoreLog>(store, run)) {
    caller_ = std::make_unique<llm::Caller>(prices_, llm::Limits{settings.max_cost, settings.max_tokens},
                                            std::vector<llm::CallLog*>{log_.get()}, replay, cancel_);
    panel_ = std::make_unique<agent::Panel>(agent::seats_of(settings.models, settings.base_url, settings.key_file),
                                            *caller_);
}

Advisers::~Advisers() = default;

void Advisers::brief(agent::Briefing briefing, Help help) {
    agent::AgentOptions options;
    options.time_for = std::move(help.time_for);
    options.profile = std::move(help.profile);
    options.may_wait = std::move(help.may_wait);
    // What an interrupt cuts off has not arrived.
    options.arrivals = [this, &journal = help.journal](const auto& back) {
        return split(journal.next("arrived",
                                  [&] {
                                      const std::vector<std::string> keys = back();
                                      return cancel_() ? "" : join(keys, " ");
                                  }),
                     ' ');
    };
    if (settings_.dry_run) options.strategies = 1;
    agent_ = std::make_unique<agent::Agent>(std::move(briefing), *panel_, help.judge, options);
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

agent::Briefing briefing_of(const Problem& problem, const RunRecord& record, playbook::Playbook& playbook) {
    agent::Briefing briefing;
    briefing.problem = problem;
    briefing.machine = record.machine;
    briefing.compiler = record.compiler;
    briefing.reference = reference_text(problem.reference);
    if (is_cpp(problem.reference)) briefing.reference_language = "cpp";
    briefing.graph = describe(playbook.graph());
    briefing.shapes = record.shapes;
    for (const Proposal& proposal : playbook.plan()) briefing.known.push_back(proposal.strategy);
    briefing.advice = record.settings.analysis_advice;
    return briefing;
}

}  // namespace strop
