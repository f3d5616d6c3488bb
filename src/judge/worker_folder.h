// The folder of all files of a worker, in the folder for temporary files, removed at the end.
#pragma once

#include <filesystem>

#include "base/file.h"

namespace strop::judge {

class WorkerFolder {
public:
    // Removes what workers left behind there that were killed before they could do it themselves.
    WorkerFolder();
    ~WorkerFolder();
    WorkerFolder(const WorkerFolder&) = delete;
    WorkerFolder& operator=(const WorkerFolder&) = delete;
    const std::filesystem::path& path() const { return folder_.path(); }

private:
    TemporaryFolder folder_;
    int lock_;  // held as long as this process lives, and what it forked
};

}  // namespace strop::judge
