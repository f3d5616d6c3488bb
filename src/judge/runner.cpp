#include "judge/runner.h"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstring>
#include <ctime>
#include <fstream>
#include <thread>

#include <fmt/format.h>

#include "base/error.h"
#include "base/strings.h"
#include "core/json.h"
#include "device/machine.h"
#include "judge/device_mirror.h"
#include "judge/programs.h"
#include "judge/python_kernel.h"
#include "judge/python_spec.h"
#include "judge/rehearsal.h"
#include "judge/tensor_pages.h"
#include "judge/thread_state.h"
#include "language/cuda_emulator.h"
#include "stats/sample.h"

namespace strop::judge {

namespace {

constexpr std::chrono::microseconds longest_spin{200};
constexpr const char* no_kernel = "-";       // in the place of a library
constexpr double least_to_compare_ns = 1e6;  // shorter batches are mostly hand-shake

constexpr int64_t least_of_a_thread_ns = 5'000;  // to start one and to end it takes longer

constexpr int64_t candidate_heap_bytes = int64_t{6} << 30;
// More than the cores' number is suspicious (the referee says so), this many is an attack on the machine.
constexpr int threads_of_a_core = 4, threads_anyway = 64;
constexpr double longest_answer_ns = 1e5;          // of a device that nobody else uses; usual are some microseconds
constexpr int64_t guard_bytes = int64_t{8} << 20;  // address space that a mapped region takes beyond its size

std::vector<int64_t> layout_words(const Problem& problem, const std::vector<Buffers*>& points,
                                  const std::vector<int64_t>& late_values, int progress_fd, int device) {
    auto count = [](size_t n) { return static_cast<int64_t>(n); };
    std::vector<int64_t> words = {layout_magic,
                                  count(points.size()),
                                  count(problem.inputs.size()),
                                  count(problem.outputs.size()),
                                  count(problem.parameters.size()),
                                  count(problem.dimensions.size()),
                                  count(late_values.size()),
                                  progress_fd,
                                  device};
    for (const Parameter& parameter : problem.parameters) {
        int64_t bits;
        std::memcpy(&bits, &parameter.value, 8);
        words.push_back(bits);
    }
    words.insert(words.end(), late_values.begin(), late_values.end());
    for (Buffers* buffers : points) {
        DeviceMirror* mirror = device >= 0 ? &buffers->mirror(problem, device) : nullptr;
        words.push_back(mirror ? mirror->fd() : buffers->inputs().read_only_fd());
        words.push_back(mirror ? mirror->fd() : buffers->outputs().fd());
        for (int64_t word : {count(buffers->sets().size()), buffers->windows(), window_stride, buffers->slots()})
            words.push_back(word);
        for (const std::string& name : problem.dimensions) words.push_back(buffers->point().dims.at(name));
        auto add = [&](const Place& place) {
            for (int64_t word : {place.begin, place.bytes, place.data}) words.push_back(word);
        };
        auto add_input = [&](size_t set, size_t tensor) {
            if (mirror) add({0, mirror->bytes(), mirror->input_offset(set, tensor)});
            else add(buffers->sets()[set].inputs[tensor]);
        };
        auto add_outputs = [&](const std::vector<Place>& places) {
            for (const Place& place : places)
                add(mirror ? Place{0, mirror->bytes(), mirror->output_offset(place)} : place);
        };
        for (size_t set = 0; set < buffers->sets().size(); ++set)
            for (size_t t = 0; t < problem.inputs.size(); ++t) add_input(set, t);
        for (const InputSet& set : buffers->sets()) add_outputs(set.outputs);
        for (int64_t slot = 0; slot < buffers->slots(); ++slot) add_outputs(buffers->slot(slot));
    }
    return words;
}

// The same for kernels and baselines. Threads keep to their cores: after a pause the system may otherwise wake two of
// them on one core, where they spin against each other for milliseconds.
std::map<std::string, std::string> thread_environment(int threads) {
    return {{"OMP_NUM_THREADS", std::to_string(threads)}, {"OMP_PROC_BIND", "close"}, {"OMP_PLACES", "cores"}};
}

Json tensor_places(const Problem& problem, const std::vector<Tensor>& tensors, const std::vector<Place>& places,
                   const Dimensions& dims) {
    Json list = Json::array();
    for (size_t t = 0; t < tensors.size(); ++t)
        list.push_back({{"shape", extents(problem, tensors[t], dims)}, {"offset", places[t].data}});
    return list;
}

Json host_spec(const std::string& framework, const std::filesystem::path& file, const Problem& problem,
               const std::vector<Buffers*>& points, int threads, bool on_device) {
    Json spec = {{"role", "baseline"},
                 {"framework", framework},
                 {"reference", file.string()},
                 {"device", on_device ? "cuda" : "cpu"},
                 {"threads", threads},
                 {"inputs", names_and_dtypes(problem.inputs)},
                 {"outputs", names_and_dtypes(problem.outputs)},
                 {"points", Json::array()},
                 {"parameters", parameters_with_values(problem)},
                 {"function", problem.name}};
    if (file == problem.reference) spec["function"] = problem.function;
    for (Buffers* buffers : points) {
        Json sets = Json::array();
        for (const InputSet& set : buffers->sets())
            sets.push_back({{"inputs", tensor_places(problem, problem.inputs, set.inputs, buffers->point().dims)},
                            {"outputs", tensor_places(problem, problem.outputs, set.outputs, buffers->point().dims)}});
        spec["points"].push_back(
            {{"input_fd", buffers->inputs().read_only_fd()}, {"output_fd", buffers->outputs().fd()}, {"sets", sets}});
    }
    return spec;
}

std::vector<int> descriptors(const std::vector<Buffers*>& points, int device = -1) {
    std::vector<int> fds;
    for (Buffers* buffers : points) {
        if (device >= 0) {
            fds.push_back(buffers->mirror()->fd());
            continue;
        }
        fds.push_back(buffers->inputs().read_only_fd());
        fds.push_back(buffers->outputs().fd());
    }
    return fds;
}

std::atomic<int64_t>& progress_value(const SharedMemory& memory) {
    return *reinterpret_cast<std::atomic<int64_t>*>(memory.data());
}

std::string first_lines(const std::string& text, size_t count) {
    std::vector<std::string> kept;
    for (const std::string& line : split(text, '\n'))
        if (!trim(line).empty() && kept.size() < count) kept.push_back(line.substr(0, 300));
    return printable(join(kept, "; "));
}

// For a process that reserves far more address space than it uses.
void look_at_resident_memory(sandbox::Command& command) {
    command.limits.memory_bytes = 0;
    command.limits.resident_bytes = candidate_heap_bytes;
}

// Its shadow memory takes address space without end.
void load_sanitizer(const Sanitizer& sanitizer, sandbox::Command& command) {
    command.environment["LD_PRELOAD"] = join(sanitizer.preloaded, ":");
    for (const auto& [name, value] : sanitizer.environment) command.environment[name] = value;
    command.readable.insert(command.readable.end(), sanitizer.preloaded.begin(), sanitizer.preloaded.end());
    look_at_resident_memory(command);
    command.same_addresses = true;
}

// NVIDIA's driver opens devices, makes code and maps far more than it uses.
void load_driver(sandbox::Command& command) {
    command.reads_system = command.generates_code = command.drives_gpu = true;
    command.environment["CUDA_MODULE_LOADING"] = "EAGER";  // what a first call loads is no part of its time
    look_at_resident_memory(command);
}

// As the system counts them: proc_pid_schedstat(5). 0 where it does not.
struct ThreadTimes {
    int64_t ran_ns = 0, waited_ns = 0;
};

ThreadTimes times_of(pid_t process, pid_t thread) {
    std::ifstream file(fmt::format("/proc/{}/task/{}/schedstat", process, thread));
    ThreadTimes times;
    return file >> times.ran_ns >> times.waited_ns ? times : ThreadTimes{};
}

// Awake at the end: sleeping lasts some ten microseconds longer than asked for.
void wait_until(Clock::time_point moment) {
    std::this_thread::sleep_until(moment - longest_spin);
    while (Clock::now() < moment) {
    }
}

}  // namespace

std::unique_ptr<Runner> Runner::kernel(const Built& built, const Problem& problem, const std::vector<Buffers*>& points,
                                       int threads, const Sanitizer* sanitizer) {
    std::unique_ptr<Runner> runner(new Runner);
    runner->points_ = points;
    if (built.library != no_kernel)
        for (Buffers* buffers : points) buffers->wipe_outputs();  // of what the process before it may have left there
    runner->progress_ = SharedMemory(4096);
    std::vector<int64_t> words = layout_words(problem, points, built.late_values, runner->progress_.fd(), built.device);
    SharedMemory layout(static_cast<int64_t>(words.size() * 8));
    std::memcpy(layout.data(), words.data(), words.size() * 8);
    sandbox::Command command;
    command.argv = {candidate_program().string(), built.library.string(), std::to_string(layout.read_only_fd())};
    command.environment = thread_environment(threads);
    for (const auto& [name, value] : built.environment) command.environment[name] = value;
    command.keep_fds = descriptors(points, built.device);
    command.keep_fds.push_back(layout.read_only_fd());
    command.keep_fds.push_back(runner->progress_.fd());
    command.readable = built.needed;
    command.readable.push_back(built.library.string());
    command.trust = sandbox::Trust::candidate;
    // A sanitizer's run-time brings libraries of its own, and rearranges all memory; nobody is timed then.
    command.generates_code = command.reads_system = built.trusted || sanitizer;
    if (!built.cache.empty()) {  // the driver's own code, and what it has compiled ahead (rehearsal.h)
        command.reads_system = command.generates_code = command.writes_scratch = true;
        command.scratch = built.cache.string();
        command.readable.push_back(driver_list);
        command.limits.file_bytes = cached_file_bytes;
        command.environment.merge(driver_environment(built.cache, threads));
    }
    runner->device_ = built.device;
    runner->library_ = built.library.string();
    runner->function_ = problem.name;
    command.limits.output_bytes = 1 << 16;
    command.limits.memory_bytes = candidate_heap_bytes;
    command.limits.threads = threads_of_a_core * threads + threads_anyway;
    for (Buffers* buffers : points)
        command.limits.memory_bytes += buffers->inputs().bytes() + buffers->outputs().bytes() +
                                       guard_bytes * (static_cast<int64_t>(buffers->sets().size()) + buffers->slots()) *
                                           static_cast<int64_t>(problem.inputs.size() + problem.outputs.size());
    if (runner->on_device()) load_driver(command);
    if (!built.interpreter.empty()) {
        runner->interpreted_ = true;
        runner->scratch_ = std::make_unique<TemporaryFolder>("strop-kernel");
        run_python_kernel(built, problem, points, threads, layout.read_only_fd(), runner->scratch_->path(), command);
    }
    if (sanitizer) {
        load_sanitizer(*sanitizer, command);
        runner->finding_ = sanitizer->verdict;
    }
    runner->child_ = std::make_unique<sandbox::Child>(command);
    runner->layouts_.push_back(std::move(layout));
    return runner;
}

std::unique_ptr<Runner> Runner::idle(const Problem& problem, const std::vector<Buffers*>& points) {
    Built nothing;
    nothing.library = no_kernel;
    nothing.trusted = true;
    return kernel(nothing, problem, points, 1);
}

std::unique_ptr<Runner> Runner::python(const std::string& framework, const std::filesystem::path& file,
                                       const Problem& problem, const std::vector<Buffers*>& points, int threads,
                                       bool on_device) {
    std::unique_ptr<Runner> runner(new Runner);
    runner->points_ = points;
    runner->python_ = true;
    runner->copies_inputs_ = framework == "jax" || on_device;
    runner->scratch_ = std::make_unique<TemporaryFolder>("strop-baseline");
    // Compiled graphs are kept between runs; everything else in the scratch folder goes with the process.
    fs::path compiled = cache_folder() / "frameworks";
    std::error_code ignored;
    fs::create_directories(compiled, ignored);
    write_file(runner->scratch_->path() / "spec.json",
               host_spec(framework, file, problem, points, threads, on_device).dump());
    sandbox::Command command;
    command.argv = {reference_python(), (home_folder() / "python/strop/host.py").string(),
                    (runner->scratch_->path() / "spec.json").string()};
    command.environment = thread_environment(threads);
    command.environment.merge(framework_environment(threads));
    command.environment.merge(std::map<std::string, std::string>{
        {"TORCHINDUCTOR_COMPILE_THREADS", "1"},
        {"TORCHINDUCTOR_CACHE_DIR", (compiled / "inductor").string()},
        {"JAX_PLATFORMS", on_device ? "cuda" : "cpu"},
        {"XLA_PYTHON_CLIENT_PREALLOCATE", "false"},
        {"TRITON_CACHE_DIR", (compiled / "triton").string()},
        // Freed outputs stay mapped, so that a baseline does not pay for page faults that a user could avoid.
        {"GLIBC_TUNABLES",
         kept_memory +
             std::string(tensor_pages(problem) == SharedMemory::Pages::huge ? ":glibc.malloc.hugetlb=1" : "")},
    });
    command.scratch = compiled.string();
    command.keep_fds = descriptors(points);
    command.trust = sandbox::Trust::baseline;
    command.drives_gpu = on_device;
    command.limits.output_bytes = 1 << 16;
    runner->child_ = std::make_unique<sandbox::Child>(command);
    return runner;
}

Runner::Outcome Runner::ended(sandbox::Child::Wait wait, Seconds limit) {
    sandbox::Finished finished = child_->kill();
    child_.reset();
    Outcome outcome;
    if (finished.exit_code == sanitizer_exit_code)
        if (const auto found = emulator_finding(finished.err, library_)) return {found->verdict, found->evidence, 0};
    if (finding_ && finished.exit_code == sanitizer_exit_code)
        return {*finding_, finding_in(finished.err, library_), 0};
    std::string said = first_lines(finished.err, 4);
    if (wait == sandbox::Child::Wait::timed_out) {
        outcome.verdict = Verdict::timed_out;
        outcome.evidence = fmt::format("no answer within {:.3g} s", limit.count());
    } else if (wait == sandbox::Child::Wait::over_memory) {
        outcome.verdict = Verdict::over_limit;
        outcome.evidence = fmt::format("more than the {} of memory that a kernel may have",
                                       human_bytes(static_cast<double>(candidate_heap_bytes)));
    } else if (!python_ && finished.exit_code == no_kernel_loaded && !answered_) {  // later it is the kernel's own
        outcome.verdict = Verdict::compile_failed;
        outcome.evidence =
            said.substr(said.starts_with(library_) ? library_.size() + 2 : 0);  // "FILE: undefined symbol"
        if (outcome.evidence == "undefined symbol: " + function_)
            outcome.evidence += fmt::format(" (the source has to define extern \"C\" {})", function_);
        if (said.find("cannot open shared object file") != std::string::npos)
            outcome.evidence += " (a kernel may be linked with no library but those of its language and of OpenMP)";
        said.clear();
    } else if (on_device() && finished.exit_code == gpu_failed) {
        outcome.verdict = said.find("out of memory") != std::string::npos ? Verdict::over_limit : Verdict::crashed;
        outcome.evidence = said;
        said.clear();
    } else if (interpreted_ && (finished.exit_code == python_raised || finished.exit_code == python_misfit)) {
        outcome.verdict = finished.exit_code == python_misfit ? Verdict::wrong_output : Verdict::crashed;
        outcome.evidence = said;
        said.clear();
    } else if (said.find("bad_alloc") != std::string::npos) {
        outcome.verdict = Verdict::over_limit;
        outcome.evidence = "out of the memory that a kernel may have";
    } else {
        outcome.verdict = Verdict::crashed;
        outcome.evidence = finished.signal ? finished.describe() : "left during a call: " + finished.describe();
        if (said.find("terminate called") != std::string::npos)  // by a signal that abort() may not send
            outcome.evidence = "an exception left the function";
        else if (finished.signal == SIGSEGV)
            outcome.evidence += " (an access outside the tensors, or a write to an input)";
    }
    if (!said.empty()) outcome.evidence += ": " + said;
    return outcome;
}

Runner::Outcome Runner::exchange(const Request& request, Seconds limit, const Glance* meanwhile) {
    Outcome outcome;
    if (did_not_stop_) return {Verdict::cheated, "went on working for seconds after it was stopped", 0};
    if (!child_) return {Verdict::crashed, "had ended before", 0};
    if (child_->has_replied()) return unasked();
    Clock::time_point start = Clock::now();
    child_->send(&request, sizeof request);
    if (meanwhile) {
        wait_until(start + meanwhile->after);
        meanwhile->look();
    }
    Answer answer;
    sandbox::Child::Wait wait = read_answer(
        [&](void* data, size_t size) { return child_->receive(data, size, limit - Seconds(seconds_since(start))); },
        answer);
    // Nobody is done before the last byte has come.
    const double outside = static_cast<double>(Nanoseconds(Clock::now() - start).count());
    outcome.outside_ns = outside;
    std::this_thread::yield();  // with one core for both, until it waits for its next request, or that would be a wait
    if (wait != sandbox::Child::Wait::ready) return ended(wait, limit);
    if (child_->has_replied()) return unasked();
    answered_ = true;
    outcome.verdict = verdict_of(answer.reply, python_);
    outcome.evidence =
        answer.reply.status == 0 && !answer.text.empty()
            ? fmt::format("its process adds {} bytes to a reply that has none", answer.reply.payload_bytes)
            : std::move(answer.text);
    outcome.inside_ns = answer.reply.inside_nanoseconds;
    const double batch_ns = outside - std::max(0.0, handshake_ns_);
    if (batch_ns > least_to_compare_ns && clocks_agree(outcome.inside_ns, batch_ns)) clocks_agreed_ = true;
    return outcome;
}

void Runner::pause() {
    if (!child_ || child_->pause()) return;
    did_not_stop_ = true;
    child_->kill();
    child_.reset();
}

// A reply is 16 bytes to one request: what else is there was written by the kernel.
Runner::Outcome Runner::unasked() { return {Verdict::cheated, "its process writes replies that nobody asked for", 0}; }

Runner::Outcome Runner::prepare(size_t point, Seconds limit) {
    Request request{Op::prepare};
    request.point = static_cast<uint32_t>(point);
    return exchange(request, limit);
}

void Runner::send_changes(size_t point) {
    if (!on_device()) return;
    if (const std::string failed = points_[point]->mirror()->send(); !failed.empty())
        throw EnvironmentError("the inputs cannot be sent to the device: " + failed, "look at nvidia-smi");
}

Runner::Outcome Runner::call(size_t point, uint32_t calls, uint32_t set, uint32_t window, Seconds limit,
                             const Glance* meanwhile) {
    Request request{Op::call};
    request.point = static_cast<uint32_t>(point);
    request.calls = calls;
    request.set = set;
    request.window = window;
    send_changes(point);
    if (progress_.data()) progress_value(progress_).store(0, std::memory_order_relaxed);
    Outcome outcome = exchange(request, limit, meanwhile);
    if (outcome.ok() && progress_.data() && progress() != calls)
        return {
            Verdict::cheated,
            fmt::format("its process says that {} of {} calls have returned, and that it is done", progress(), calls),
            0};
    return outcome;
}

Runner::Outcome Runner::watched_call(size_t point, uint32_t calls, uint32_t set, uint32_t window, Seconds limit) {
    const int64_t waited = waited_ns(), ran = times_of(pid(), pid()).ran_ns;
    Outcome outcome = call(point, calls, set, window, limit);
    outcome.waited_ns = static_cast<double>(waited_ns() - waited);
    outcome.ran_ns = static_cast<double>(times_of(pid(), pid()).ran_ns - ran);
    return outcome;
}

namespace {

Runner::Outcome fetched(const std::string& wrong) {
    return wrong.empty() ? Runner::Outcome{} : Runner::Outcome{Verdict::wrong_output, wrong, 0};
}

}  // namespace

Runner::Outcome Runner::fetch(size_t point, const std::vector<Place>& outputs) {
    return on_device() ? fetched(points_[point]->mirror()->fetch(outputs)) : Outcome{};
}

Runner::Outcome Runner::fetch_again(size_t point, const std::vector<Place>& outputs) {
    return on_device() ? fetched(points_[point]->mirror()->fetch_again(outputs)) : Outcome{};
}

Runner::Outcome Runner::check_inputs(size_t point, size_t set) {
    if (!on_device()) return {};
    const std::string changed = points_[point]->mirror()->changed_input(set);
    return changed.empty() ? Outcome{} : Outcome{Verdict::wrong_output, "writes to its input " + changed, 0};
}

// Contexts take turns at a device, for a millisecond or more each, so that somebody who computes there lets others
// wait.
bool Runner::device_is_busy(size_t point) {
    if (!on_device()) return false;
    const std::vector<double> answers_ns = points_[point]->mirror()->answers_ns();
    return !answers_ns.empty() && stats::median(answers_ns) > longest_answer_ns;
}

bool Runner::end_and_see_others(size_t point) {
    if (child_) child_->kill();
    child_.reset();
    return device_is_busy(point);
}

bool Runner::make_cold(size_t point) { return points_[point]->mirror()->make_cold(); }

int64_t Runner::progress() const {
    return progress_.data() ? progress_value(progress_).load(std::memory_order_acquire) : 0;
}

Runner::Outcome Runner::publish(Seconds limit) { return exchange(Request{Op::evaluate}, limit); }

int64_t Runner::waited_ns() const {
    int64_t sum = 0;
    for (pid_t thread : threads()) sum += times_of(pid(), thread).waited_ns;
    return sum;
}

int64_t Runner::calling_thread_waited_ns() const { return times_of(pid(), pid()).waited_ns; }

int64_t Runner::ran_ns() const {
    clockid_t clock;
    timespec ran;
    if (::clock_getcpuclockid(pid(), &clock) != 0 || ::clock_gettime(clock, &ran) != 0) return 0;
    return int64_t{1'000'000'000} * ran.tv_sec + ran.tv_nsec;
}

std::vector<pid_t> Runner::threads() const {
    std::error_code failed;
    fs::directory_iterator tasks(fmt::format("/proc/{}/task", pid()), failed);
    std::vector<pid_t> threads;
    if (!failed)
        for (const fs::path& task : tasks) threads.push_back(std::stoi(task.filename()));
    return threads;
}

// Threads that have ended are counted by the process, in nanoseconds by the same clock.
bool Runner::works_alone() const {
    return threads().size() == 1 && ran_ns() - times_of(pid(), pid()).ran_ns < least_of_a_thread_ns;
}

std::string Runner::cores() const {
    std::ifstream status(fmt::format("/proc/{}/status", pid()));
    const std::string_view key = "Cpus_allowed_list:";
    for (std::string line; std::getline(status, line);)
        if (line.starts_with(key)) return std::string(trim(std::string_view(line).substr(key.size())));
    return {};
}

std::string Runner::changed_thread_state() const {
    for (pid_t thread : threads())
        if (std::string changed = judge::changed_thread_state(thread); !changed.empty()) return changed;
    return {};
}

std::optional<size_t> Runner::unmet_turn(size_t point) {
    size_t& met = met_turns_[point];
    return met < points_[point]->usual_turns() ? std::optional(met++) : std::nullopt;
}

double Runner::handshake_ns() {
    if (handshake_ns_ >= 0) return handshake_ns_;
    double least_ns = 0;
    for (int i = 0; i < 7; ++i) {
        Outcome outcome = call(0, 0, 0, 0, Seconds(10));
        if (!outcome.ok()) return 0;
        least_ns = i == 0 ? outcome.outside_ns : std::min(least_ns, outcome.outside_ns);
    }
    return handshake_ns_ = std::min(least_ns, most_handshake_ns_);
}

}  // namespace strop::judge
