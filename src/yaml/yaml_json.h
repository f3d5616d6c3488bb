// YAML as JSON, with the types that `kubectl` reads (YAML 1.1): what is not quoted may be a number, a truth value or
// null.
#pragma once

#include "core/json.h"
#include "yaml/yaml_file.h"

namespace strop {

// UsageError where a map has a key twice, or more is nested than anyone writes.
Json json_of(const YamlFile& file);

}  // namespace strop
