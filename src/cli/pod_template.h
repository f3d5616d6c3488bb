// The user's pod, and the job of Kubernetes that runs it once for each task of a batch.
#pragma once

#include <filesystem>
#include <string>

#include "cli/scheduler.h"
#include "core/json.h"

namespace strop::cli {

// On the job and its pods; its value is the job's name.
inline constexpr const char* batch_label = "strop-batch";

class PodTemplate {
public:
    // UsageErrors name file and line.
    explicit PodTemplate(const std::filesystem::path& file);

    const std::string& name_space() const { return name_space_; }  // empty: the usual one

    // An Indexed Job (batch/v1). Its arguments are the tasks, by completion index.
    Json job(const Submission& submission) const;

private:
    Json metadata(const std::string& job) const;

    Json pod_;
    std::string name_space_;
};

}  // namespace strop::cli
