// What the threads of a block do together, and how laws merge, as text of a C-like language.
#pragma once

#include <string>
#include <vector>

#include "backend/c_terms.h"

namespace strop::backend {

// Statements over the states of a law.
class LawText {
public:
    LawText(const Dialect& dialect, Helpers& helpers, std::string& lacks)
        : dialect_(dialect),
          helpers_(helpers),
          lacks_(lacks) {}

    // Declares one variable per part, with the law's start.
    void start(const schedule::Law& law, const std::vector<std::string>& variables, Lines& lines) const;
    // `into` = the merge of `into` and `from`, part by part.
    void merge(const schedule::Law& law, const std::vector<std::string>& into, const std::vector<std::string>& from,
               Names& names, Lines& lines) const;

private:
    const Dialect& dialect_;
    Helpers& helpers_;
    std::string& lacks_;
};

// Calls of functions in which all threads of a block take part; the functions are added to the helpers.
class BlockFunctions {
public:
    // `shared`: declarations of the block's memory in the kernel.
    BlockFunctions(const Dialect& dialect, Helpers& helpers, std::string& lacks, std::vector<std::string>& shared)
        : dialect_(dialect),
          helpers_(helpers),
          shared_(shared),
          laws_(dialect, helpers, lacks) {}

    // Each thread has a state in `variables`; then each has the merge of all.
    void combine(const schedule::Law& law, const std::vector<std::string>& variables, Lines& lines);
    // `running` becomes the prefix over the threads, behind `carried`; `carried` that of the last thread.
    void add_prefix(const schedule::Law& law, const std::string& running, const std::string& carried, Lines& lines);

private:
    std::string room(DType dtype, size_t part);
    std::string name_of(const schedule::Law& law, const char* what) const;
    void write_combine(const schedule::Law& law, const std::string& name);
    void write_prefix(const schedule::Law& law, const std::string& name);

    const Dialect& dialect_;
    Helpers& helpers_;
    std::vector<std::string>& shared_;
    LawText laws_;
};

}  // namespace strop::backend
