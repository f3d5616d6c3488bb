// Why a kernel takes as long as it does: its profile from the judge, set against the machine's ceilings.
#pragma once

#include "judge/worker.h"
#include "report/profile_report.h"

namespace strop {

// Only a kernel that is right gets a profile; else the verdict says why there is none.
report::ProfileReport profile_kernel(judge::WorkerClient& worker, const Problem& problem, const Kernel& kernel,
                                     const Configuration& configuration);

}  // namespace strop
