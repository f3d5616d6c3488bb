#include "cli/pod_states.h"

#include <charconv>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "base/line.h"
#include "base/strings.h"
#include "core/json.h"

namespace strop::cli {

namespace {

using Pointer = Json::json_pointer;

std::string text_at(const Json& json, const char* path) {
    const Pointer pointer(path);
    return json.contains(pointer) && json[pointer].is_string() ? json[pointer].get<std::string>() : "";
}

Json list_at(const Json& json, const char* path) {
    const Pointer pointer(path);
    return json.contains(pointer) && json[pointer].is_array() ? json[pointer] : Json::array();
}

std::optional<int> number_of(std::string_view text) {
    int number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() || number < 0) return {};
    return number;
}

// "0,2-4,7"
bool has_index(const std::string& ranges, int index) {
    for (const std::string& range : split(ranges, ',')) {
        const std::vector<std::string> ends = split(range, '-');
        const std::optional<int> first = number_of(ends.front()), last = number_of(ends.back());
        if (first && last && *first <= index && index <= *last) return true;
    }
    return false;
}

// By completion index, as PodTemplate::job wrote them.
std::vector<int> tasks_of(const Json& pod_spec) {
    std::vector<int> tasks;
    for (const Json& word : list_at(pod_spec, "/containers/0/args"))
        tasks.push_back(number_of(word.is_string() ? word.get<std::string>() : "").value_or(-1));
    return tasks;
}

std::optional<int> index_of(const Json& pod) {
    return number_of(text_at(pod, "/metadata/annotations/batch.kubernetes.io~1job-completion-index"));
}

bool is_over(const Json& pod) {
    const std::string phase = text_at(pod, "/status/phase");
    return phase == "Succeeded" || phase == "Failed";
}

std::string with_reason(const std::string& reason, const std::string& message) {
    return one_line(message.empty() ? reason : reason + ": " + message);
}

std::string why_it_waits(const Json& pod) {
    for (const char* statuses : {"/status/initContainerStatuses", "/status/containerStatuses"})
        for (const Json& status : list_at(pod, statuses)) {
            const std::string reason = text_at(status, "/state/waiting/reason");
            if (!reason.empty() && reason != "ContainerCreating" && reason != "PodInitializing")
                return with_reason(reason, text_at(status, "/state/waiting/message"));
        }
    for (const Json& condition : list_at(pod, "/status/conditions"))
        if (text_at(condition, "/type") == "PodScheduled" && text_at(condition, "/status") == "False")
            return with_reason(text_at(condition, "/reason"), text_at(condition, "/message"));
    return {};
}

Task failure_of(const Json& pod) {
    if (text_at(pod, "/status/reason") == "DeadlineExceeded")
        return {TaskState::stopped, "the pod's deadline ended it"};
    std::string says = text_at(pod, "/status/message");
    for (const Json& status : list_at(pod, "/status/containerStatuses")) {
        if (text_at(status, "/state/terminated/reason") == "OOMKilled")
            return {TaskState::stopped, "it took more memory than its container has"};
        const std::string message = text_at(status, "/state/terminated/message");
        if (says.empty()) says = one_line(trim(split(trim(message), '\n').back()));
    }
    return {TaskState::failed, says};
}

// Why the job makes no more pods; nothing while it does.
std::optional<std::string> end_of(const Json& job) {
    for (const Json& condition : list_at(job, "/status/conditions"))
        if (const std::string type = text_at(condition, "/type");
            (type == "Failed" || type == "Complete") && text_at(condition, "/status") == "True")
            return with_reason(text_at(condition, "/reason"), text_at(condition, "/message"));
    if (!text_at(job, "/metadata/deletionTimestamp").empty()) return "it was cancelled";
    return {};
}

Task task_in(const Json& job, int index, const Json* pod) {
    if (has_index(text_at(job, "/status/completedIndexes"), index)) return {TaskState::completed, ""};
    if (pod && !is_over(*pod)) {
        if (!text_at(*pod, "/metadata/deletionTimestamp").empty()) return {TaskState::ending, ""};
        if (text_at(*pod, "/status/phase") == "Running") return {TaskState::running, ""};
        return {TaskState::waiting, why_it_waits(*pod)};
    }
    if (has_index(text_at(job, "/status/failedIndexes"), index))
        return pod ? failure_of(*pod) : Task{TaskState::failed, ""};
    if (const std::optional<std::string> end = end_of(job)) return {TaskState::stopped, *end};
    if (pod) return {TaskState::ending, ""};  // the job has yet to count it, or to make another
    const Pointer suspended("/spec/suspend");
    return {TaskState::waiting, job.contains(suspended) && job[suspended] == true ? "Suspended" : ""};
}

// Of the pods of an index the last, which is the only one that may still run.
std::map<int, Json> last_pods(const std::vector<Json>& pods) {
    std::map<int, Json> last;
    for (const Json& pod : pods)
        if (const std::optional<int> index = index_of(pod)) {
            const auto [found, is_first] = last.emplace(*index, pod);
            const auto rank = [](const Json& one) {
                return std::pair(!is_over(one), text_at(one, "/metadata/creationTimestamp"));
            };
            if (!is_first && rank(found->second) < rank(pod)) found->second = pod;
        }
    return last;
}

}  // namespace

std::optional<ScheduledJob> job_in(const std::string& answer, const std::string& name) {
    const Json json = Json::parse(answer, nullptr, false);
    if (json.is_discarded() || !json.contains("items") || !json["items"].is_array()) return {};
    Json job;
    std::vector<Json> pods;
    for (const Json& item : json["items"]) {
        if (text_at(item, "/kind") == "Job") job = item;
        if (text_at(item, "/kind") == "Pod") pods.push_back(item);
    }
    ScheduledJob result;
    if (job.is_null() && pods.empty()) return result;
    result.id = name;
    const std::map<int, Json> last = last_pods(pods);
    const Json unknown = Json::object();
    // Of a job that was deleted pods may still be there.
    std::vector<int> tasks = job.is_null() ? tasks_of(pods.front().value("spec", unknown))
                                           : tasks_of(job.value(Pointer("/spec/template/spec"), unknown));
    for (size_t i = 0; i < tasks.size(); ++i) {
        const int index = static_cast<int>(i);
        const auto pod = last.find(index);
        if (job.is_null() && pod == last.end()) continue;
        const Task task = task_in(job.is_null() ? unknown : job, index, pod == last.end() ? nullptr : &pod->second);
        // Nobody makes another pod of such a job.
        if (job.is_null() && is_over(pod->second)) continue;
        result.tasks[tasks[i]] = task;
    }
    return result;
}

}  // namespace strop::cli
