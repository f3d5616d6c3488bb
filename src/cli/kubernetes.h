// Kubernetes through the user's kubectl, with its context and its rights.
#pragma once

#include <string>
#include <vector>

#include "cli/pod_template.h"
#include "cli/scheduler.h"

namespace strop::cli {

class Kubernetes : public Scheduler {
public:
    // UsageErrors for what --k8s names.
    explicit Kubernetes(const Arguments& arguments);

    std::string name() const override { return "Kubernetes"; }
    std::string asked() const override { return "kubectl"; }
    ScriptFrame frame() const override;
    std::string cancel_line(const std::string& job) const override;
    std::string place() override;
    std::string shown(const Submission& submission) const override;
    std::string submit(const Submission& submission) override;
    std::optional<ScheduledJob> job_named(const std::string& name) override;
    Task past_task(const std::string&, int) override { return {}; }  // it forgets at once
    bool cancel(const std::string& job) override;

private:
    sandbox::Finished run(const std::vector<std::string>& words);
    std::vector<std::string> kubectl(std::vector<std::string> words) const;
    std::vector<std::string> create_words(const Submission& submission) const;

    PodTemplate pod_;
};

}  // namespace strop::cli
