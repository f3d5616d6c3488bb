#include "judge/worker.h"

#include <iostream>
#include <mutex>

#include <fmt/format.h>

#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "base/strings.h"
#include "device/cuda.h"
#include "device/machine.h"
#include "device/opencl.h"
#include "judge/heartbeat.h"
#include "judge/referee.h"
#include "judge/worker_greeting.h"
#include "judge/worker_message.h"
#include "problem/loader.h"

namespace strop::judge {

namespace {

class Worker {
public:
    Json answer(const WorkerMessage& message) {
        if (const auto* greeted = std::get_if<HelloMessage>(&message)) return greet(*greeted);
        if (std::holds_alternative<PingMessage>(message)) return Json::object();
        if (std::holds_alternative<LanguagesMessage>(message)) return {{"languages", languages()}};
        if (const auto* asked = std::get_if<MachineMessage>(&message)) return {{"machine", machine(asked->lasting)}};
        if (const auto* sent = std::get_if<FilesMessage>(&message)) return take(*sent);
        if (const auto* opening = std::get_if<OpenMessage>(&message)) return open(*opening);
        if (!referee_) throw UsageError("worker: no problem is open", "send {\"op\": \"open\", ...} first");
        check_message(message, problem_);
        Json reply = std::visit([&](const auto& asked) { return answer_to(asked); }, message);
        reply["reference_seconds"] = referee_->reference_seconds();
        return reply;
    }

    // What is said of files that were sent is said of where they came from.
    std::string in_words_of_asker(std::string answer) const {
        auto inside = [](const std::string& folder) {
            return dump(Json(folder)).substr(1, dump(Json(folder)).size() - 2);
        };
        return sent_ && !asked_folder_.empty()
                   ? replace_all(answer, inside(sent_->path().string()), inside(asked_folder_))
                   : answer;
    }

private:
    Json greet(const HelloMessage& message) {
        target_ = message.target;
        if (message.device.empty()) return to_json(greeting_of_this_machine(detect_machine(target_)));
        if (message.device != "cuda") throw UsageError(fmt::format("worker: unknown device '{}'", message.device));
        device_ = cuda_device();
        if (!cuda_compiler())
            throw EnvironmentError("no compiler for CUDA kernels was found", "install nvcc, or set CUDA_HOME");
        Greeting greeting = greeting_of_this_machine(measured());
        greeting.device = description_of(*device_);
        return to_json(greeting);
    }

    Machine measured() {
        if (!device_) return measured_machine(target_);
        if (!device_machine_) device_machine_ = as_cuda_machine(detect_machine(target_), *device_);
        return *device_machine_;
    }

    Machine machine(Seconds lasting) {
        Machine machine = measured();
        if (device_) return machine;
        if (age_of_ceilings(machine) > lasting) raise_ceilings(machine);
        return machine;
    }

    static std::vector<std::string> languages() {
        std::vector<std::string> names;
        if (!kernel_compilers().empty()) names.push_back(name_of(Language::cpp));
        std::string none;
        if (!opencl_devices(none).empty()) names.push_back(name_of(Language::opencl));
        if (!cuda_devices(none).empty() && cuda_compiler()) names.push_back(name_of(Language::cuda));
        return names;
    }

    Json take(const FilesMessage& message) {
        auto folder = std::make_unique<TemporaryFolder>("strop-problem");
        write_files(folder->path(), message.files);
        referee_.reset();  // may still read what was sent before
        sent_ = std::move(folder);
        return Json::object();
    }

    Json open(const OpenMessage& message) {
        fs::path folder = message.folder;
        if (sent_ && holds(sent_->path(), message.files)) folder = sent_->path();
        else if (!folder.is_absolute() || !holds(folder, message.files)) return {{"wanted", true}};
        asked_folder_ = message.folder;
        Problem problem = load_problem(folder.string());
        keep_points(problem, message.points);
        check_memory(problem);
        Machine machine = measured();
        RefereeOptions options;
        options.device = device_;
        options.seed = message.seed;
        options.reference_limit = message.reference_limit;
        referee_ = std::make_unique<Referee>(problem, machine, options);
        problem_ = std::move(problem);
        problem_.range = referee_->range();
        Json least = Json::object();
        for (const auto& [name, range] : problem_.range) least[name] = range.low;
        return {{"toolchain", referee_->compiled_by()},
                {"toolchains", referee_->toolchain().descriptions()},
                {"note", referee_->reference_note()},
                {"least", least}};
    }

    template <typename Asked>
    Json answer_to(const Asked&) {
        return Json::object();
    }  // answered before
    Json answer_to(const BaselinesMessage&) {
        Json reply = {{"baselines", referee_->baselines()}, {"missing", Json::array()}};
        for (const MissingBaseline& baseline : referee_->missing_baselines())
            reply["missing"].push_back({{"name", baseline.name}, {"how", baseline.how}});
        return reply;
    }
    Json answer_to(const EvaluateMessage& asked) { return {{"evaluations", referee_->evaluate(asked.requests)}}; }
    Json answer_to(const ProbeMessage& asked) { return {{"probes", referee_->probe(asked.requests)}}; }
    Json answer_to(const ProfileMessage& asked) { return {{"profile", referee_->profile(asked.request)}}; }
    Json answer_to(const SanitizeMessage& asked) {
        return {{"sanitizers", referee_->sanitize(asked.request, asked.limit)}};
    }
    Json answer_to(const EmulateMessage& asked) {
        return {{"evaluation", referee_->emulate(asked.request, asked.limit)}};
    }
    Json answer_to(const CompareMessage& asked) { return {{"comparison", referee_->compare(asked.request)}}; }
    Json answer_to(const VectorsMessage& asked) {
        Json vectors = Json::array();
        for (const ShapePoint& point : asked.points) vectors.push_back(referee_->test_vector(point));
        return {{"vectors", vectors}};
    }
    Json answer_to(const ReseedMessage& asked) {
        referee_->reseed(asked.seed);
        return Json::object();
    }

    std::unique_ptr<TemporaryFolder> sent_;  // the files of a problem that were sent
    std::string asked_folder_, target_;
    std::optional<CudaDevice> device_;
    std::optional<Machine> device_machine_;
    Problem problem_;
    std::unique_ptr<Referee> referee_;
};

Json failure(Exit code, const std::string& phrase, const std::string& hint) {
    return {{"error", {{"phrase", phrase}, {"hint", hint}, {"exit", static_cast<int>(code)}}}};
}

}  // namespace

void serve_worker(std::istream& in, std::ostream& out, Seconds heartbeat) {
    Worker worker;
    std::string line;
    while (std::getline(in, line)) {
        Json reply;
        std::optional<Heartbeat> working(std::in_place, heartbeat, [&] { out << working_line << std::endl; });
        try {
            reply = worker.answer(parse_message(line));
        } catch (const Error& error) {
            reply = failure(error.code(), error.what(), error.hint());
        } catch (const std::exception& error) {
            reply = failure(Exit::bug, error.what(), "");
        }
        working.reset();  // an answer is one line
        out << worker.in_words_of_asker(dump(reply)) << std::endl;
    }
}

}  // namespace strop::judge
