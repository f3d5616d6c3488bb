#include "cli/named_device.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "base/file.h"
#include "base/strings.h"
#include "judge/worker_command.h"

namespace strop::cli {

namespace {

// What kernels in a language run on, and the one language that is searched for there.
struct Device {
    std::string name;
    Language searched;
};

Device device_of(Language language) {
    if (language == Language::cpp) return {"cpu", Language::cpp};
    if (language == Language::opencl) return {"opencl", Language::opencl};
    return {"cuda", Language::cuda};
}

Device device_of(const judge::WorkerCommand& worker) {
    if (worker.languages.empty()) return device_of(Language::cpp);
    const Device device = device_of(worker.languages.front());
    std::vector<std::string> names;
    for (const Language language : worker.languages) {
        names.push_back(name_of(language));
        if (device_of(language).name != device.name)
            throw UsageError(
                fmt::format("--device {}: its languages run on two devices: {}, {}", worker.given, names.front(),
                            names.back()),
                "give each device a name of its own in workers.yaml: the same `at` or `start`, other `languages`");
    }
    if (std::find(worker.languages.begin(), worker.languages.end(), device.searched) == worker.languages.end())
        throw UsageError(fmt::format("--device {}: kernels in {} are not judged", worker.given, join(names, " and ")),
                         fmt::format("add {} to its languages in workers.yaml", name_of(device.searched)));
    return device;
}

bool contains(const std::vector<std::string>& words, const std::string& word) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

// Words that mean a device everywhere mean no worker, and --worker takes others for commands.
bool can_be_a_device(const std::string& name) {
    return !contains({"cpu", "opencl", "cuda", "emulated"}, name) && name.find_first_of(" \t/") == std::string::npos;
}

}  // namespace

void take_named_device(Arguments& arguments) {
    for (const Flag& flag : arguments.spec().flags) {
        if (!flag.names_workers || !arguments.has(flag.name)) continue;
        const std::string given = arguments.text(flag.name);
        if (contains(flag.choices, given)) continue;
        const fs::path file = judge::workers_file();
        std::vector<std::string> names = judge::worker_names(file);
        std::erase_if(names, [](const std::string& name) { return !can_be_a_device(name); });
        if (!contains(names, given))
            throw UsageError(
                fmt::format("--device: '{}' does not fit", given),
                fmt::format("choose from {}{}", join(flag.choices, ", "),
                            names.empty() ? fmt::format(", or a name in {}", file.string())
                                          : fmt::format(", or of {}: {}", file.string(), join(names, ", "))));
        if (arguments.has("--worker"))
            throw UsageError(fmt::format("--device {} and --worker exclude each other", given),
                             "the name is a worker itself: leave one of them out");
        const Device device = device_of(judge::worker_command(given, file));
        arguments.set("--worker", {given});
        if (contains(flag.choices, device.name)) arguments.set(flag.name, {device.name});
        else arguments.drop(flag.name);  // where kernels' files say it
    }
}

}  // namespace strop::cli
