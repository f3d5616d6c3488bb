// A made-up run for tests of the JSON form, the store and the reports. Every number is synthetic.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "core/record.h"

namespace strop::fakes {

struct SampleOptions {
    int shapes = 4;
    int baselines = 3;  // 1..6
    double pace = 1.0;  // speedups are multiplied by this
    bool long_texts = false;
    double in_process = 0;  // speedup from Python beside PyTorch; 0: not measured
};

inline Machine sample_machine() {
    Machine machine;
    machine.cpu = "Example CPU 9000 (synthetic)";
    machine.architecture = "x86_64";
    machine.isa = "avx2";
    machine.vector_bytes = 32;
    machine.cores = 2;
    machine.memory_bytes = int64_t{16} << 30;
    machine.caches = {{1, 32 << 10, 1, 400e9}, {2, 512 << 10, 1, 220e9}, {3, 32 << 20, 2, 120e9}};
    machine.ceilings = {100e9, 196e9, 30e9, 34e9, 21e9};
    machine.fingerprint = "f00dfeedf00dfeedf00dfeedf00dfeed";
    return machine;
}

inline InProcess sample_in_process(const std::vector<ShapeReport>& shapes, double speedup) {
    InProcess inside{"pytorch", "", {speedup, 0.95 * speedup, 1.05 * speedup}, {}};
    for (const ShapeReport& shape : shapes)
        inside.points.push_back({shape.label,
                                 1.1 * shape.nanoseconds,
                                 {{"pytorch", 1.1 * speedup * shape.nanoseconds}},
                                 {{"pytorch", inside.headline}},
                                 "pytorch",
                                 1.2});
    return inside;
}

inline std::vector<Strategy> sample_strategies(bool long_texts) {
    auto make = [](std::string id, std::string parent, Strategy::State state, double confidence, std::string bottleneck,
                   std::string hypothesis, std::string reason) {
        Strategy strategy;
        strategy.id = std::move(id);
        strategy.family = "row_reduction";
        strategy.proposer = "playbook";
        strategy.parent = std::move(parent);
        strategy.state = state;
        strategy.confidence = confidence;
        strategy.bottleneck = std::move(bottleneck);
        strategy.hypothesis = std::move(hypothesis);
        strategy.reason = std::move(reason);
        return strategy;
    };
    using State = Strategy::State;
    std::vector<Strategy> strategies = {
        make("online_single_read", "", State::winner, 0.91, "memory",
             "One pass keeps a running maximum and sum, so that a row is read from memory once.",
             "wins where a row does not fit in L2"),
        make("three_pass_cached", "", State::winner, 0.84, "compute",
             "A row that fits in L2 may be read three times at the cache's speed.", "wins where a row fits in L2"),
        make("row_blocked", "", State::pruned, 0.12, "latency",
             "Several rows at a time hide the latency of the reduction.",
             "behind three_pass_cached at every shape, by 1.18× at best"),
        make("column_vectorized", "", State::pruned, 0.05, "parallelism",
             "One lane a row needs no horizontal reduction.",
             "strided loads: behind the leader by 3.7× at every shape"),
        make("online_single_read+prefetch", "online_single_read", State::winner, 0.93, "memory",
             "Software prefetch covers the start of each row.", "gains 4% at large"),
        make("online_single_read+streaming_stores", "online_single_read", State::pruned, 0.3, "memory",
             "Non-temporal stores save the read for ownership.",
             "gains nothing: the output is read again while it is still in the last cache"),
    };
    if (long_texts)
        for (Strategy& strategy : strategies) {
            strategy.id += "_with_a_very_long_name_that_goes_on_and_on_for_the_layout";
            if (!strategy.parent.empty())
                strategy.parent += "_with_a_very_long_name_that_goes_on_and_on_for_the_layout";
            strategy.reason +=
                "; and a long explanation follows, which names <tags> & \"quotes\", so that "
                "wrapping, truncation and escaping all have something to do on every medium";
        }
    return strategies;
}

// Shape i of the sweep: from tiny to far beyond the caches.
inline ShapeReport sample_shape(int i, const SampleOptions& options) {
    static const char* labels[] = {"small", "medium", "large", "ragged"};
    static const int64_t sizes[][2] = {{64, 128}, {1024, 1024}, {4096, 8192}, {77, 1003}};
    static const char* names[] = {"onednn", "pytorch", "jax", "numpy", "naive_cpp", "torch_compile_max_autotune"};
    static const double factors[] = {1.24, 1.46, 1.93, 8.4, 2.7, 1.31};
    ShapeReport shape;
    shape.label = i < 4 ? labels[i] : "shape_" + std::to_string(i);
    if (options.long_texts) shape.label += "_batch_of_long_sequences";
    int64_t rows = i < 4 ? sizes[i][0] : 32 * (i + 1), columns = i < 4 ? sizes[i][1] : int64_t{100} << i;
    shape.dims = {{"M", rows}, {"N", columns}};
    double elements = static_cast<double>(rows * columns);
    shape.bytes = 8 * elements;
    shape.flops = 12 * elements;
    shape.bound = elements > 4e6 ? "memory" : "compute";
    shape.roofline_ns = elements > 4e6 ? shape.bytes / 34.0 : shape.flops / 196.0;
    shape.roofline_share = 0.45 + 0.4 * std::abs(std::sin(i + 1.0));
    shape.nanoseconds = shape.roofline_ns / shape.roofline_share;
    shape.low_ns = shape.nanoseconds * 0.985;
    shape.cold_ns = shape.nanoseconds * 1.6;
    shape.high_ns = shape.nanoseconds * 1.02;
    shape.kernel = elements > 4e6 ? "online_single_read+prefetch" : "three_pass_cached";
    for (int b = 0; b < options.baselines; ++b) {
        double ratio = options.pace * factors[b] * (1 + 0.25 * std::sin(3.0 * i + b));
        double spread = 0.02 + 0.02 * b;
        shape.speedups[names[b]] = {ratio, ratio * (1 - spread), ratio * (1 + spread)};
        shape.baselines[names[b]] = shape.nanoseconds * ratio;
        shape.baseline_overhead[names[b]] = b == 0 ? 0 : 2500.0 * b;
        shape.cold_baselines[names[b]] = shape.nanoseconds * ratio * 2;
        if (shape.best_baseline.empty() || ratio < shape.speedup.ratio) {
            shape.best_baseline = names[b];
            shape.speedup = shape.speedups[names[b]];
        }
    }
    return shape;
}

inline std::vector<HistoryEntry> sample_history(const std::vector<ShapeReport>& shapes) {
    static const char* kernels[] = {"online_single_read", "three_pass_cached", "row_blocked", "column_vectorized"};
    std::vector<HistoryEntry> history;
    for (int i = 0; i < 60; ++i) {
        HistoryEntry entry;
        entry.seconds = 4 + 1.4 * i;
        entry.kernel = entry.strategy = i > 45 ? "online_single_read+prefetch" : kernels[i % 4];
        entry.configuration = {{"UNROLL", int64_t{1} << (i % 4)}, {"OPT", std::string("-O3")}};
        if (i % 17 == 5) entry.verdict = Verdict::compile_failed;
        if (i % 23 == 7) entry.verdict = Verdict::wrong_output;
        if (entry.verdict == Verdict::wrong_output)
            entry.evidence = "medium: y[0, 1023] is 0.5, expected 0.25 <1.2e-06";
        if (entry.verdict == Verdict::ok)
            for (const ShapeReport& shape : shapes)
                entry.nanoseconds[shape.label] =
                    shape.nanoseconds *
                    (1.02 + 2.5 * std::exp(-0.06 * i) * (1 + 0.5 * std::sin(5.0 * i)) + (i % 4 == 3 ? 1.5 : 0.0));
        history.push_back(entry);
    }
    return history;
}

inline Kernel sample_kernel(const std::string& id) {
    Kernel kernel;
    kernel.id = id;
    kernel.strategy = id;
    kernel.author = "playbook";
    kernel.source =
        "// strop:tune UNROLL = 1 | 2 | 4 | 8\n#include <cstdint>\n\nextern \"C\" void softmax(const float* "
        "x, "
        "float* y, int64_t M, int64_t N) {\n    for (int64_t m = 0; m < M && x; ++m)\n        "
        "y[m * N] = x[m * N];\n}\n";
    kernel.space.tunables = {{"UNROLL", {int64_t{1}, int64_t{2}, int64_t{4}, int64_t{8}}, Tunable::Kind::constant},
                             {"OPT", {std::string("-O2"), std::string("-O3")}, Tunable::Kind::flags}};
    kernel.space.constraints = {Expression::parse("UNROLL <= 8")};
    kernel.initial = {{"UNROLL", int64_t{4}}, {"OPT", std::string("-O3")}};
    return kernel;
}

inline RunRecord sample_record(const SampleOptions& options = {}) {
    RunRecord record;
    record.run = "softmax-20260131-123456-ab12";
    record.started = "2026-01-31T12:34:56Z";
    record.strop_version = "0.1.0";
    record.compiler = "clang 19.1.7";
    record.problem = "softmax";
    record.problem_folder = "/home/user/strop/problems/softmax";
    record.problem_hash = "0123456789abcdef0123456789abcdef";
    record.settings.budget_seconds = 90;
    record.settings.out = record.result = "/home/user/strop-out/softmax";
    record.machine = sample_machine();
    record.outcome = options.pace >= 0.9 ? Outcome::improved : Outcome::no_improvement;
    record.verified = true;
    record.verification = "12 fresh seeds over 5 distributions, 40 paired batches a shape, 24 held-out shapes";
    record.stopped_by = "plateau";
    double logs = 0;
    for (int i = 0; i < options.shapes; ++i) {
        record.shapes.push_back(sample_shape(i, options));
        logs += std::log(record.shapes.back().speedup.ratio);
    }
    double mean = options.shapes ? std::exp(logs / options.shapes) : 1;
    record.headline = {mean, mean * 0.97, mean * 1.03};
    record.headline_baseline = "onednn";
    record.regimes = {{"three_pass_cached",
                       "three_pass_cached",
                       {{"UNROLL", int64_t{4}}, {"OPT", std::string("-O3")}},
                       "M*N <= 4194304",
                       {}},
                      {"online_single_read+prefetch",
                       "online_single_read+prefetch",
                       {{"UNROLL", int64_t{8}}, {"OPT", std::string("-O3 -funroll-loops")}},
                       "otherwise",
                       {}}};
    for (const ShapeReport& shape : record.shapes)
        record.regimes[shape.bound == "memory" ? 1 : 0].points.push_back(shape.label);
    record.dispatch = {24, 24, 24, 22, 0.083};
    record.sanitizers = {{"AddressSanitizer", 7, Verdict::ok, "", ""},
                         {"ThreadSanitizer", 5, Verdict::ok, "", "no time was left for 2 of 7 shapes"}};
    if (options.in_process > 0) record.in_process = sample_in_process(record.shapes, options.in_process);
    record.strategies = sample_strategies(options.long_texts);
    record.experiments = {{"online_single_read",
                           "The stores, not the loads, limit it.",
                           {{"large", 5.24e6}},
                           {{"no_stores", "near 1: stores are free", Verdict::ok, "", {{"large", 3.21e6}}},
                            {"one_pass", "near 1: reading is free", Verdict::compile_failed, "error: no such", {}}}}};
    record.kernels = {sample_kernel("three_pass_cached"), sample_kernel("online_single_read+prefetch")};
    record.history = sample_history(record.shapes);
    record.evaluations = static_cast<int>(record.history.size());
    for (const HistoryEntry& entry : record.history) ++record.evaluations_by_verdict[name_of(entry.verdict)];
    record.missing_baselines = {{"jax", "./strop setup jax"}};
    record.weaker = {"no user namespaces: the candidate sees the host's network interfaces"};
    record.workers = {{"node1", 12, 48, 1, ""}, {"node2 #2", 3, 12, 0, "it was lost and does not come back"}};
    record.seconds = {92.4, 3.1, 21.7, 14.2, 45.9};
    return record;
}

}  // namespace strop::fakes
