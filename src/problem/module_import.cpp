#include "problem/module_import.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file.h"
#include "problem/python_script.h"
#include "yaml/yaml_file.h"

namespace strop {

namespace {

using Json = nlohmann::json;

constexpr Seconds import_limit{120};
constexpr const char* task_form =
    "task.yml has tests or benchmarks, lists of cases such as {size: 1024, seed: 1}, and reference.py lies beside it";

Json value_of(const YamlFile& file, const YAML::Node& node, const std::string& name) {
    const std::string text = file.text(node, "the case's '" + name + "'");
    const Json value = Json::parse(text, nullptr, false);
    return value.is_number() || value.is_boolean() ? value : Json(text);
}

// All that the evaluator would run, each once.
Json cases_of(const fs::path& path) {
    const YamlFile file(read_file(path), path, task_form);
    for (const YamlEntry& entry : file.entries()) {
        if (entry.key == "multi_gpu" && file.text(entry.value, "'multi_gpu'") == "true")
            file.fail(entry.at, "a task for several GPUs", "only tasks for one device can be imported");
        if (entry.key != "files") continue;
        for (const YAML::Node& one : file.list(entry.value, "'files'")) {
            const std::vector<YamlEntry> keys = file.map(one, "a file");
            const YamlEntry *name = find(keys, "name"), *source = find(keys, "source");
            if (!name || !source || file.text(name->value, "'name'") != "reference.py") continue;
            const std::string from = file.text(source->value, "'source'");
            if (from != "reference.py")
                file.fail(source->at, fmt::format("reference.py is '{}'", from), "only the folder's own is read");
        }
    }
    Json cases = Json::array();
    for (const char* key : {"tests", "benchmarks"})
        if (const YamlEntry* list = find(file.entries(), key))
            for (const YAML::Node& one : file.list(list->value, fmt::format("'{}'", key))) {
                Json single = Json::object();
                for (const YamlEntry& entry : file.map(one, "a case"))
                    single[entry.key] = value_of(file, entry.value, entry.key);
                if (std::find(cases.begin(), cases.end(), single) == cases.end()) cases.push_back(single);
            }
    if (cases.empty()) file.fail("no tests and no benchmarks", task_form);
    return cases;
}

bool is_task(const fs::path& given) {
    std::error_code failed;
    return fs::exists(given / "task.yml", failed) && !fs::exists(given / "problem.yaml", failed);
}

sandbox::Finished run_import(const fs::path& given, const std::string& dtype, const std::string& reference) {
    const fs::path path = fs::canonical(given);
    if (is_task(given)) {
        read_file(given / "reference.py");  // says so where it is missing
        return run_script("import_task.py", {path.string()}, cases_of(given / "task.yml").dump(), path, import_limit);
    }
    read_file(given);
    const char* script = given.extension() == ".json" ? "import_definition.py" : "import_file.py";
    // the child works in the file's folder
    const std::string named = reference.empty() ? "" : fs::absolute(reference).string();
    return run_script(script, {path.string(), dtype, named}, {}, path.parent_path(), import_limit);
}

}  // namespace

bool is_importable(const fs::path& given) {
    std::error_code failed;
    if (fs::is_directory(given, failed)) return is_task(given);
    return given.extension() == ".py" || given.extension() == ".json";
}

ModuleImport import_module(const fs::path& file, const std::string& dtype, const std::string& reference) {
    ModuleImport import;
    std::error_code failed;
    if (!dtype.empty() && file.extension() != ".py")
        throw UsageError(fmt::format("--dtype {}: {} says its types itself", dtype, file.string()),
                         "--dtype is for Python files with a PyTorch module; leave it out");
    if (!reference.empty() && file.extension() != ".py")
        throw UsageError(fmt::format("--reference {}: {} has its own", reference, file.string()),
                         "--reference is for operators of TritonBench; leave it out");
    if (!fs::exists(file, failed)) read_file(file);  // says so
    if (fs::is_directory(file, failed) && !is_task(file))
        throw UsageError(fmt::format("{}: has no task.yml, or a problem.yaml beside it", file.string()),
                         "a folder with problem.yaml is a problem already");
    sandbox::Finished finished = run_import(file, dtype, reference);
    if (finished.timed_out)
        throw UsageError(
            fmt::format("{}: was not imported within {:.0f} s", file.string(), import_limit.count()),
            "make its constructor and get_inputs() quick; a loop that is not followed (docs/problems.md) is "
            "unrolled: give it fewer steps there, or write the reference in NumPy");
    const Json document = answer_of(finished, file, "the import", "write a problem.yaml by hand (docs/problems.md)");
    import.name = document.at("name").get<std::string>();
    import.files.merge(document.at("files").get<std::map<std::string, std::string>>());
    if (file.extension() == ".py") import.files.emplace("original.py", read_file(file));
    import.notes = document.at("notes").get<std::vector<std::string>>();
    return import;
}

void write_import(const ModuleImport& import, const fs::path& folder) {
    std::error_code failed;
    fs::create_directories(folder, failed);
    for (const auto& [name, text] : import.files) write_file(folder / name, text);
}

}  // namespace strop
