// Where a run's experience comes from: its own store, or what --knowledge names. It is only read.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/file.h"
#include "knowledge/folder.h"
#include "knowledge/store.h"

namespace strop {

class ExperienceSource {
public:
    // `given`: empty, a store's address, or a folder that `strop knowledge export` wrote. Errors as of both.
    ExperienceSource(Store& own, const std::string& given);

    Store& store() { return other_ ? *other_ : own_; }
    const std::vector<Complaint>& complaints() const { return complaints_; }  // of a folder

private:
    Store& own_;
    std::unique_ptr<TemporaryFolder> folder_;  // of a store that holds what a folder's files say
    std::unique_ptr<Store> other_;
    std::vector<Complaint> complaints_;
};

}  // namespace strop
