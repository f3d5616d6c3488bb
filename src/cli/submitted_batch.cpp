#include "cli/submitted_batch.h"

#include <cerrno>
#include <fstream>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/error.h"
#include "base/file.h"
#include "base/line.h"
#include "base/strings.h"
#include "core/json.h"

namespace strop::cli {

namespace {

constexpr std::streamoff looked_at = 64 << 10;  // of a log's end
constexpr int format = 1;

fs::path file_in(const fs::path& folder) { return folder / "strop-batch.json"; }

}  // namespace

SubmittedBatch read_batch(const fs::path& folder) {
    std::error_code failed;
    if (!fs::exists(file_in(folder), failed)) return {};
    const Json json = Json::parse(read_file(file_in(folder)), nullptr, false);
    try {
        if (json.at("format").get<int>() != format) throw UsageError("another format");
        return {json.at("name").get<std::string>(), json.value("place", "slurm"), json.at("job").get<std::string>(),
                json.at("script").get<std::string>(), json.at("tasks").get<std::map<std::string, int>>()};
    } catch (const std::exception&) {
        throw UsageError(fmt::format("{}: this is not what a batch writes", file_in(folder).string()),
                         "remove it once no job of the batch is left (`squeue --me`, `kubectl get jobs`)");
    }
}

void write_batch(const fs::path& folder, const SubmittedBatch& batch) {
    const Json json = {{"format", format}, {"name", batch.name},     {"place", batch.place},
                       {"job", batch.job}, {"script", batch.script}, {"tasks", batch.tasks}};
    write_file(file_in(folder), dump(json, 2) + "\n");
}

BatchLock::BatchLock(const fs::path& folder) {
    file_ = ::open((folder / "strop-batch.lock").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0644);
    if (file_ < 0 || ::flock(file_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;  // some systems have none
    ::close(file_);
    throw UsageError(fmt::format("{}: another command follows this batch", folder.string()),
                     "end it first, or name another folder with --out");
}

BatchLock::~BatchLock() {
    if (file_ >= 0) ::close(file_);
}

std::string last_words(const fs::path& log) {
    std::ifstream in(log, std::ios::binary | std::ios::ate);
    if (!in) return {};
    const std::streamoff size = in.tellg();
    in.seekg(std::max<std::streamoff>(0, size - looked_at));
    const std::string text(std::istreambuf_iterator<char>(in), {});
    std::string last, error;
    for (const std::string& raw : split(text, '\n')) {
        const std::string line = one_line(trim(raw));
        if (line.empty()) continue;
        if (line.starts_with("== ")) error.clear();  // of the attempt before
        if (line.starts_with("strop: ")) error = line.substr(7);
        last = line;
    }
    return error.empty() ? last : error;
}

}  // namespace strop::cli
