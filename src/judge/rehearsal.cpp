#include "judge/rehearsal.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "base/clock.h"
#include "base/strings.h"
#include "judge/buffers.h"
#include "judge/programs.h"
#include "judge/runner.h"
#include "sandbox/process.h"

namespace strop::judge {

namespace {

constexpr Seconds rehearsal_limit{60};
constexpr int64_t rehearsal_memory_bytes = int64_t{8} << 30;
constexpr size_t message_lines = 12;

// Smallest first: a driver may compile small launches in a way of their own, but not in a process that has met a larger
// one, whose code serves both.
std::vector<ShapePoint> by_size(const Problem& problem, std::vector<ShapePoint> points) {
    std::stable_sort(points.begin(), points.end(), [&](const ShapePoint& a, const ShapePoint& b) {
        return tensor_bytes(problem, a.dims) < tensor_bytes(problem, b.dims);
    });
    return points;
}

// As strop-candidate reads it: counts, parameters, then dimensions and the tensors' bytes of each point.
std::string words_of(const Problem& problem, const std::vector<ShapePoint>& points) {
    auto count = [](size_t n) { return static_cast<int64_t>(n); };
    std::vector<int64_t> words = {count(points.size()), count(problem.inputs.size() + problem.outputs.size()),
                                  count(problem.parameters.size()), count(problem.dimensions.size())};
    for (const Parameter& parameter : problem.parameters) {
        int64_t bits;
        std::memcpy(&bits, &parameter.value, 8);
        words.push_back(bits);
    }
    for (const ShapePoint& point : points) {
        for (const std::string& name : problem.dimensions) words.push_back(point.dims.at(name));
        for (const auto* tensors : {&problem.inputs, &problem.outputs})
            for (const Tensor& tensor : *tensors) words.push_back(bytes_of(problem, tensor, point.dims));
    }
    return {reinterpret_cast<const char*>(words.data()), words.size() * sizeof words[0]};
}

// The driver's log without the folder of ours.
std::string message_of(const std::string& err, const std::filesystem::path& folder) {
    std::vector<std::string> kept;
    for (const std::string& line : split(replace_all(err, folder.string() + "/", ""), '\n'))
        if (!trim(line).empty() && kept.size() < message_lines) kept.push_back(line.substr(0, 300));
    return printable(join(kept, "\n"));
}

}  // namespace

std::map<std::string, std::string> driver_environment(const std::filesystem::path& cache, int threads) {
    return {{"POCL_CACHE_DIR", cache.string()}, {"POCL_MAX_PTHREAD_COUNT", std::to_string(threads)}};
}

void rehearse(Built& built, const Problem& problem, const std::vector<ShapePoint>& points, int threads) {
    const Clock::time_point start = Clock::now();
    sandbox::Command command;
    command.argv = {candidate_program().string(), built.library.string(), "rehearse"};
    command.environment = driver_environment(built.cache, threads);
    command.trust = sandbox::Trust::compiler;
    command.scratch = built.cache.string();
    command.readable = built.needed;
    command.readable.push_back(built.library.string());
    command.readable.push_back(driver_list);
    command.readable.push_back(candidate_program().string());
    command.limits.wall = rehearsal_limit;
    command.limits.resident_bytes = rehearsal_memory_bytes;
    command.limits.file_bytes = cached_file_bytes;
    command.limits.output_bytes = 1 << 16;
    std::filesystem::create_directories(built.cache);
    const sandbox::Finished finished = sandbox::run(command, words_of(problem, by_size(problem, points)));
    built.seconds += seconds_since(start);
    // Whoever crashes for another reason, or takes too long, does so again where it is judged.
    if (finished.ok() || finished.err.find("OpenCL: ") == std::string::npos) return;
    built.ok = false;
    built.message = message_of(finished.err, built.cache);
}

}  // namespace strop::judge
