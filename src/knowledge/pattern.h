// What is known of a family of strategies on one kind of hardware, as a page for people: Markdown with a YAML head.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/digest.h"

namespace strop {

// Name of the file -> its text: "row_reduction@amd-epyc-7b13-avx2.md". Each line that depends on a run names it, and no
// line sums up several, so that git's union merge of two pages is a page again. Texts of others are escaped.
std::map<std::string, std::string> patterns_of(const std::vector<Digest>& digests);

}  // namespace strop
