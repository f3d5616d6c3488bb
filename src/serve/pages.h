// The pages, as HTML. Pure: what a page shows comes in, and all text of others is escaped on its way.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/record.h"
#include "knowledge/store.h"
#include "serve/launcher.h"

namespace strop::serve {

// What every page of one answer needs.
struct Frame {
    std::string nonce;  // of its style sheets and scripts
    std::string form_token;
};

struct RunList {
    std::vector<RunSummary> runs;                    // one page of them
    std::map<std::string, int64_t> runs_by_problem;  // of the whole store
    std::string problem;                             // the only one that is shown; empty: all
    int64_t page = 0, pages = 1;
    std::vector<std::string> problems;  // that may be optimized by name
    Launched launched;
};

struct RunView {
    RunRecord record;
    std::vector<Kernel> kernels;     // winners, and all others that were kept
    std::vector<RunSummary> others;  // of the same problem, to compare with
    Launched launched;               // of this run or another one

    bool is_ours() const { return launched.run == record.run && !record.run.empty() && launched.kernel.empty(); }
    bool runs_here() const { return is_ours() && launched.running; }
    bool goes_on() const { return runs_here() || (record.outcome == Outcome::running && !is_ours()); }
};

struct KernelView {
    RunRecord record;
    Kernel kernel;
    std::optional<Kernel> parent;  // where it was kept
    bool has_profile = false, may_be_profiled = false;
    Launched launched;

    bool is_launched() const { return launched.run == record.run && launched.kernel == kernel.id; }
    bool is_measured() const { return is_launched() && launched.running; }
};

// What is known of some hardware and under some tags; empty: of all.
struct KnowledgeView {
    std::string hardware, tags;  // as they were given
    std::vector<Digest> runs;
    std::vector<KnownLesson> lessons;
};

std::string list_page(const RunList& list, const Frame& frame);
std::string run_page(const RunView& view, const Frame& frame);
// The part of a run's page that changes while it goes on.
std::string progress_part(const RunView& view);
std::string kernel_page(const KernelView& view, const Frame& frame);
std::string compare_page(const RunRecord& before, const RunRecord& after, const Frame& frame);
std::string knowledge_page(const KnowledgeView& view, const Frame& frame);
std::string error_page(const std::string& phrase, const std::string& hint, const Frame& frame);

}  // namespace strop::serve
