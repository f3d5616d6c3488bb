#include "cli/kubernetes.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/file.h"
#include "base/line.h"
#include "base/strings.h"
#include "cli/pod_states.h"

namespace strop::cli {

namespace {

constexpr const char* patience = "--request-timeout=60s";

fs::path named_file(const Arguments& arguments) {
    if (!arguments.has("--k8s"))
        throw UsageError("--on k8s needs the pod that runs a problem",
                         "--k8s pod.yaml: its image has Strop, its volumes this folder (docs/workers.md)");
    return arguments.text("--k8s");
}

fs::path manifest_of(const Submission& submission) { return submission.folder / "strop-batch-job.json"; }

}  // namespace

Kubernetes::Kubernetes(const Arguments& arguments) : pod_(named_file(arguments)) {}

ScriptFrame Kubernetes::frame() const {
    return {"k8s", "shift \"$JOB_COMPLETION_INDEX\" || exit 3    # the arguments are the tasks that were missing\n\n",
            "$1", "task $1", "strop"};
}

std::vector<std::string> Kubernetes::kubectl(std::vector<std::string> words) const {
    words.insert(words.begin(), "kubectl");
    if (!pod_.name_space().empty()) words.push_back("--namespace=" + pod_.name_space());
    return words;
}

std::vector<std::string> Kubernetes::create_words(const Submission& submission) const {
    return kubectl({"create", "--filename=" + manifest_of(submission).string()});
}

sandbox::Finished Kubernetes::run(const std::vector<std::string>& words) {
    return Scheduler::run(words, "run it where kubectl reaches the cluster; --dry-run needs none");
}

std::string Kubernetes::cancel_line(const std::string& job) const {
    return shell_line(kubectl({"delete", "job", job}));
}

std::string Kubernetes::place() {
    const sandbox::Finished finished =
        run({"kubectl", "config", "view", "--minify",
             "--output=jsonpath={.current-context}{\"\\n\"}{.contexts[0].context.namespace}"});
    const std::vector<std::string> said = split(finished.ok() ? trim(finished.out) : "", '\n');  // inside: no contexts
    const std::string usual = said.size() > 1 ? said[1] : "";
    const std::string name_space = pod_.name_space().empty() ? usual : pod_.name_space();
    return one_line(fmt::format("k8s{}{}", said[0].empty() ? "" : ", context " + said[0],
                                name_space.empty() ? "" : ", namespace " + name_space));
}

std::string Kubernetes::shown(const Submission& submission) const {
    return fmt::format("# {}\n{}\n\n# {}\n", manifest_of(submission).string(), dump(pod_.job(submission), 2),
                       shell_line(create_words(submission)));
}

std::string Kubernetes::submit(const Submission& submission) {
    write_file(manifest_of(submission), dump(pod_.job(submission), 2) + "\n");
    std::vector<std::string> words = create_words(submission);
    words.push_back(patience);
    const sandbox::Finished finished = run(words);
    if (!finished.ok())
        throw EnvironmentError(fmt::format("kubectl does not create the job: {}", last_line(finished)),
                               "`kubectl auth can-i create jobs` says whether you may; --dry-run shows the job");
    return submission.name;
}

std::optional<ScheduledJob> Kubernetes::job_named(const std::string& name) {
    const sandbox::Finished finished = run(
        kubectl({"get", "jobs,pods", fmt::format("--selector={}={}", batch_label, name), "--output=json", patience}));
    if (!finished.ok()) return {};
    std::optional<ScheduledJob> job = job_in(finished.out, name);
    if (!job) why_ = "kubectl: its answer is no list of jobs and pods";
    return job;
}

bool Kubernetes::cancel(const std::string& job) {
    // Foreground: the job is there until its pods have ended, and makes no others.
    return run(kubectl({"delete", "job", job, "--cascade=foreground", "--wait=false", "--ignore-not-found", patience}))
        .ok();
}

}  // namespace strop::cli
