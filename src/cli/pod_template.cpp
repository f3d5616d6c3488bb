#include "cli/pod_template.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "base/file.h"
#include "yaml/yaml_json.h"

namespace strop::cli {

namespace {

constexpr int interrupted_code = 130;  // of the script: a signal ended it, the run is saved
constexpr int to_save_a_run = 60;      // seconds between SIGTERM and SIGKILL
constexpr int kept = 24 * 60 * 60;     // seconds after its end, so that a command that comes later learns what failed

constexpr const char* form =
    "a pod as kubectl takes it: apiVersion: v1, kind: Pod, spec: {containers: [{name: strop, image: IMAGE}]}";

// RFC 1123's label, which a namespace's name is.
bool is_label(std::string_view text) {
    const auto alphanumeric = [](char c) { return ('a' <= c && c <= 'z') || ('0' <= c && c <= '9'); };
    return !text.empty() && text.size() <= 63 && alphanumeric(text.front()) && alphanumeric(text.back()) &&
           std::all_of(text.begin(), text.end(), [&](char c) { return alphanumeric(c) || c == '-'; });
}

void check_container(const YamlFile& file, const YamlEntry& containers) {
    const std::vector<YAML::Node> list = file.list(containers.value, "containers");
    if (list.empty()) file.fail(containers.at, "'containers' is empty", form);
    const std::vector<YamlEntry> first = file.map(list.front(), "containers");
    for (const char* ours : {"command", "args"})
        if (const YamlEntry* said = find(first, ours))
            file.fail(said->at, fmt::format("'{}' is for Strop to say", ours),
                      "leave it out; the container runs `strop` from its PATH");
    if (const YamlEntry* image = find(first, "image")) (void)file.text(image->value, "image");
    else file.fail(list.front(), "the first container has no image", "name one that has Strop in it");
}

std::string checked_namespace(const YamlFile& file, const YamlEntry* metadata) {
    if (!metadata) return {};
    const std::vector<YamlEntry> entries = file.map(metadata->value, "metadata");
    for (const char* name : {"labels", "annotations"})
        if (const YamlEntry* some = find(entries, name); some && !some->value.IsNull())
            (void)file.map(some->value, name);
    const YamlEntry* name_space = find(entries, "namespace");
    if (!name_space) return {};
    const std::string name = file.text(name_space->value, "namespace");
    if (!is_label(name))
        file.fail(name_space->at, fmt::format("Kubernetes has no namespace of the name '{}'", name),
                  "small letters, digits and dashes, 63 at most");
    return name;
}

// Timing wants the node for itself, unless the user says how much of it.
bool is_sized(const Json& spec) {
    const Json& container = spec["containers"][0];
    return spec.contains("affinity") || spec.contains("nodeName") ||
           (container.contains("resources") && !container["resources"].empty());
}

Json alone_on_its_node() {
    const Json of_a_batch = {{"key", batch_label}, {"operator", "Exists"}};
    const Json rule = {{"labelSelector", {{"matchExpressions", Json::array({of_a_batch})}}},
                       {"topologyKey", "kubernetes.io/hostname"}};
    return {{"podAntiAffinity", {{"requiredDuringSchedulingIgnoredDuringExecution", Json::array({rule})}}}};
}

// Who is evicted, preempted or told to end starts again and goes on with its run; who fails does not.
Json failure_policy(const std::string& container) {
    const Json disrupted = {{"type", "DisruptionTarget"}, {"status", "True"}};
    const Json interrupted = {
        {"containerName", container}, {"operator", "In"}, {"values", Json::array({interrupted_code})}};
    return {{"rules", Json::array({{{"action", "Ignore"}, {"onPodConditions", Json::array({disrupted})}},
                                   {{"action", "Ignore"}, {"onExitCodes", interrupted}}})}};
}

}  // namespace

PodTemplate::PodTemplate(const fs::path& path) {
    const YamlFile file(read_file(path), path, form);
    const YamlEntry* kind = find(file.entries(), "kind");
    if (!kind) file.fail("it does not say 'kind: Pod'", form);
    if (const std::string name = file.text(kind->value, "kind"); name != "Pod")
        file.fail(kind->at, fmt::format("it is a {}, not a Pod", name), form);
    name_space_ = checked_namespace(file, find(file.entries(), "metadata"));
    const YamlEntry* spec = find(file.entries(), "spec");
    if (!spec) file.fail("the pod has no 'spec'", form);
    const std::vector<YamlEntry> entries = file.map(spec->value, "spec");
    if (const YamlEntry* policy = find(entries, "restartPolicy");
        policy && file.text(policy->value, "restartPolicy") != "Never")
        file.fail(policy->at, fmt::format("'restartPolicy: {}' does not fit", policy->value.Scalar()),
                  "leave it out; the job starts a pod that was evicted again");
    const YamlEntry* containers = find(entries, "containers");
    if (!containers) file.fail(spec->at, "the pod has no 'containers'", form);
    check_container(file, *containers);
    pod_ = json_of(file);
}

// The pod's labels and annotations are the job's too: queues such as Kueue look there.
Json PodTemplate::metadata(const std::string& job) const {
    const Json given = pod_.value("metadata", Json::object());
    Json result = {{"labels", Json::object()}};
    for (const char* name : {"labels", "annotations"})
        if (const auto some = given.find(name); some != given.end() && some->is_object()) result[name] = *some;
    result["labels"][batch_label] = job;
    return result;
}

Json PodTemplate::job(const Submission& submission) const {
    Json spec = pod_["spec"];
    Json& container = spec["containers"][0];
    if (!container.contains("name")) container["name"] = "strop";
    Json tasks = Json::array();
    for (const int task : submission.tasks) tasks.push_back(std::to_string(task));
    container["command"] = {"/bin/bash", (submission.folder / script_name).string()};
    container["args"] = tasks;
    container.emplace("terminationMessagePolicy", "FallbackToLogsOnError");  // what is wrong before there is a log
    spec["restartPolicy"] = "Never";
    spec.emplace("terminationGracePeriodSeconds", to_save_a_run);
    if (!is_sized(spec)) spec["affinity"] = alone_on_its_node();

    Json about = metadata(submission.name);
    const Json pod = {{"metadata", about}, {"spec", spec}};
    about["name"] = submission.name;
    if (!name_space_.empty()) about["namespace"] = name_space_;
    return {{"apiVersion", "batch/v1"},
            {"kind", "Job"},
            {"metadata", about},
            {"spec",
             {{"completionMode", "Indexed"},
              {"completions", tasks.size()},
              {"parallelism", tasks.size()},
              {"backoffLimitPerIndex", 0},
              {"podFailurePolicy", failure_policy(container["name"].is_string() ? container["name"] : "strop")},
              {"ttlSecondsAfterFinished", kept},
              {"template", pod}}}};
}

}  // namespace strop::cli
