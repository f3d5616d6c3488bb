#include "problem/module_import.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file.h"
#include "problem/python_script.h"

namespace strop {

namespace {

using Json = nlohmann::json;

constexpr Seconds import_limit{120};

}  // namespace

ModuleImport import_module(const fs::path& file) {
    ModuleImport import;
    import.files["original.py"] = read_file(file);
    fs::path path = fs::canonical(file);
    sandbox::Finished finished = run_script("import_file.py", {path.string()}, {}, path.parent_path(), import_limit);
    if (finished.timed_out)
        throw UsageError(fmt::format("{}: was not imported within {:.0f} s", file.string(), import_limit.count()),
                         "make its constructor and get_inputs() quick");
    Json document = Json::parse(last_document(finished.out), nullptr, false);
    if (!finished.ok() || !document.is_object())
        throw UsageError(fmt::format("{}: the import ended: {}: {}", file.string(), finished.describe(),
                                     last_line(finished.err)),
                         "write a problem.yaml by hand (docs/problems.md)");
    if (document.contains("error"))
        throw UsageError(document["error"].get<std::string>(), document["hint"].get<std::string>());
    import.name = document.at("name").get<std::string>();
    import.files.merge(document.at("files").get<std::map<std::string, std::string>>());
    import.notes = document.at("notes").get<std::vector<std::string>>();
    return import;
}

void write_import(const ModuleImport& import, const fs::path& folder) {
    std::error_code failed;
    fs::create_directories(folder, failed);
    for (const auto& [name, text] : import.files) write_file(folder / name, text);
}

}  // namespace strop
