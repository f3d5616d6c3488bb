// Live progress of a run on standard error: what is being tried, the best so far per shape, time left.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cli/terminal.h"
#include "run/run.h"

namespace strop::cli {

class Progress : public View {
public:
    explicit Progress(bool quiet) : painter_(2, quiet) {}

    void phase(const std::string& what) override;
    void baselines(const RunRecord& record) override;
    void strategies(const std::vector<Strategy>& strategies) override;
    void evaluation(const HistoryEntry& entry, const RunRecord& record, double seconds_left) override;
    void note(const std::string& text) override;

private:
    struct Best {
        double nanoseconds = 0, baseline = 0;
        std::string kernel;
    };

    void paint();
    std::string shape_line(const std::string& label, const Best& best) const;

    LivePainter painter_;
    std::string phase_, trying_;
    std::vector<std::string> order_;
    std::map<std::string, Best> best_;
    std::map<std::string, Strategy::State> known_;
    int evaluations_ = 0;
    double seconds_left_ = -1;
};

}  // namespace strop::cli
