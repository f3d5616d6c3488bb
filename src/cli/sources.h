// The sources of the playbook's strategies in any of its languages. Nothing is compiled or measured.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/expression.h"
#include "core/kernel.h"
#include "core/problem.h"

namespace strop::cli {

struct Written {
    std::string id, parent, hypothesis, source;
    std::optional<Expression> condition;
    Configuration initial;  // the playbook's guess for this machine; of schedules empty
};

struct Sources {
    std::vector<Written> written;
    std::map<std::string, std::string> lacking;  // strategies that the language cannot say: what it lacks
    std::string lacks;                           // why there is nothing at all
};

// `graph`: the tracer's document.
Sources sources_in(Language language, const Problem& problem, const std::string& graph);

// With a `strop:when` behind what the first lines say of it, in their kind of comment; in the place of a line that says
// the same.
std::string with_condition(const std::string& source, const std::string& condition);

Language written_language(const std::string& name);  // of those that have writers; a UsageError else
std::string file_ending(Language language);          // ".cu"

}  // namespace strop::cli
