// What Kubernetes says of a job and its pods. The only file that knows how kubectl answers.
#pragma once

#include <optional>
#include <string>

#include "cli/scheduler.h"

namespace strop::cli {

// `answer`: of `kubectl get jobs,pods -o json`, those of the job of that name. Nothing where it is no such answer.
std::optional<ScheduledJob> job_in(const std::string& answer, const std::string& name);

}  // namespace strop::cli
