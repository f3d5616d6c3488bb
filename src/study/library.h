// The documents that a command names.
#pragma once

#include <string>
#include <vector>

#include "study/document.h"

namespace strop::study {

struct LeftOut {
    std::string phrase, hint;
};

struct Library {
    std::vector<Document> documents;
    std::vector<LeftOut> left_out;
};

// Files, and those in folders and below, by name; what is hidden there is passed over, links are not followed. What
// cannot be read is left out and named; the same bytes are read once. UsageError for what does not exist, before
// anything is read.
Library read_library(const std::vector<std::string>& given);

}  // namespace strop::study
