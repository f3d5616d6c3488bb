// The names of the core's structs in JSON: one description of each serves both directions. Only json.cpp includes this.
#pragma once

#include <tuple>

#include "core/json.h"

namespace strop {

template <class Struct, class Member>
struct Field {
    const char* name;
    Member Struct::* member;
};
template <class Struct, class Member>
Field(const char*, Member Struct::*) -> Field<Struct, Member>;

inline auto fields_of(const ShapePoint*) {
    return std::tuple{Field{"label", &ShapePoint::label}, Field{"dims", &ShapePoint::dims}};
}

inline auto fields_of(const Strategy*) {
    return std::tuple{Field{"id", &Strategy::id},
                      Field{"family", &Strategy::family},
                      Field{"proposer", &Strategy::proposer},
                      Field{"parent", &Strategy::parent},
                      Field{"hypothesis", &Strategy::hypothesis},
                      Field{"bottleneck", &Strategy::bottleneck},
                      Field{"excludes", &Strategy::excludes},
                      Field{"confidence", &Strategy::confidence},
                      Field{"state", &Strategy::state},
                      Field{"reason", &Strategy::reason}};
}

inline auto fields_of(const Tunable*) {
    return std::tuple{Field{"name", &Tunable::name}, Field{"values", &Tunable::values}, Field{"kind", &Tunable::kind}};
}

inline auto fields_of(const TunableSpace*) {
    return std::tuple{Field{"tunables", &TunableSpace::tunables}, Field{"constraints", &TunableSpace::constraints}};
}

inline auto fields_of(const Kernel*) {
    return std::tuple{
        Field{"id", &Kernel::id},         Field{"strategy", &Kernel::strategy}, Field{"language", &Kernel::language},
        Field{"source", &Kernel::source}, Field{"space", &Kernel::space},       Field{"initial", &Kernel::initial},
        Field{"author", &Kernel::author}, Field{"parent", &Kernel::parent},     Field{"condition", &Kernel::condition}};
}

inline auto fields_of(const Measurement*) {
    return std::tuple{Field{"samples_ns", &Measurement::samples_ns}, Field{"median_ns", &Measurement::median_ns},
                      Field{"low_ns", &Measurement::low_ns},         Field{"high_ns", &Measurement::high_ns},
                      Field{"abandoned", &Measurement::abandoned},   Field{"disturbed", &Measurement::disturbed}};
}

inline auto fields_of(const PointResult*) {
    return std::tuple{Field{"point", &PointResult::point},       Field{"verdict", &PointResult::verdict},
                      Field{"evidence", &PointResult::evidence}, Field{"time", &PointResult::time},
                      Field{"cold", &PointResult::cold},         Field{"error_share", &PointResult::error_share}};
}

inline auto fields_of(const EvaluationRequest*) {
    return std::tuple{Field{"kernel", &EvaluationRequest::kernel},
                      Field{"configuration", &EvaluationRequest::configuration},
                      Field{"points", &EvaluationRequest::points}, Field{"effort", &EvaluationRequest::effort},
                      Field{"best_ns", &EvaluationRequest::best_ns}};
}

inline auto fields_of(const Evaluation*) {
    return std::tuple{Field{"key", &Evaluation::key},
                      Field{"kernel", &Evaluation::kernel},
                      Field{"configuration", &Evaluation::configuration},
                      Field{"verdict", &Evaluation::verdict},
                      Field{"evidence", &Evaluation::evidence},
                      Field{"points", &Evaluation::points},
                      Field{"compile_seconds", &Evaluation::compile_seconds},
                      Field{"check_seconds", &Evaluation::check_seconds},
                      Field{"time_seconds", &Evaluation::time_seconds},
                      Field{"judged_by", &Evaluation::judged_by}};
}

inline auto fields_of(const ProbeResult*) {
    return std::tuple{Field{"verdict", &ProbeResult::verdict}, Field{"evidence", &ProbeResult::evidence},
                      Field{"points", &ProbeResult::points}, Field{"compile_seconds", &ProbeResult::compile_seconds},
                      Field{"time_seconds", &ProbeResult::time_seconds}};
}

inline auto fields_of(const Ratio*) {
    return std::tuple{Field{"ratio", &Ratio::ratio}, Field{"low", &Ratio::low}, Field{"high", &Ratio::high}};
}

inline auto fields_of(const Contender*) {
    return std::tuple{Field{"name", &Contender::name}, Field{"baseline", &Contender::baseline},
                      Field{"kernel", &Contender::kernel}, Field{"configuration", &Contender::configuration}};
}

inline auto fields_of(const ComparisonRequest*) {
    return std::tuple{Field{"contenders", &ComparisonRequest::contenders},
                      Field{"points", &ComparisonRequest::points},
                      Field{"effort", &ComparisonRequest::effort},
                      Field{"seconds_per_point", &ComparisonRequest::seconds_per_point},
                      Field{"patience_seconds", &ComparisonRequest::patience_seconds},
                      Field{"prove", &ComparisonRequest::prove},
                      Field{"cold", &ComparisonRequest::cold}};
}

inline auto fields_of(const ContenderResult*) {
    return std::tuple{Field{"name", &ContenderResult::name},
                      Field{"verdict", &ContenderResult::verdict},
                      Field{"evidence", &ContenderResult::evidence},
                      Field{"time", &ContenderResult::time},
                      Field{"overhead_ns", &ContenderResult::overhead_ns},
                      Field{"cold", &ContenderResult::cold},
                      Field{"error_share", &ContenderResult::error_share},
                      Field{"speedup", &ContenderResult::speedup},
                      Field{"decision", &ContenderResult::decision}};
}

inline auto fields_of(const PointComparison*) {
    return std::tuple{Field{"point", &PointComparison::point}, Field{"results", &PointComparison::results}};
}

inline auto fields_of(const Comparison*) {
    return std::tuple{Field{"points", &Comparison::points}, Field{"compile_seconds", &Comparison::compile_seconds},
                      Field{"check_seconds", &Comparison::check_seconds},
                      Field{"time_seconds", &Comparison::time_seconds},
                      Field{"reference_seconds", &Comparison::reference_seconds}};
}

inline auto fields_of(const SanitizerRun*) {
    return std::tuple{Field{"sanitizer", &SanitizerRun::sanitizer}, Field{"shapes", &SanitizerRun::shapes},
                      Field{"verdict", &SanitizerRun::verdict}, Field{"evidence", &SanitizerRun::evidence},
                      Field{"missing", &SanitizerRun::missing}};
}

inline auto fields_of(const TestVector*) {
    return std::tuple{Field{"point", &TestVector::point}, Field{"inputs", &TestVector::inputs},
                      Field{"expected", &TestVector::expected}, Field{"absolute", &TestVector::absolute},
                      Field{"relative", &TestVector::relative}};
}

inline auto fields_of(const CacheLevel*) {
    return std::tuple{Field{"level", &CacheLevel::level}, Field{"bytes", &CacheLevel::bytes},
                      Field{"shared_by", &CacheLevel::shared_by},
                      Field{"read_bytes_per_second", &CacheLevel::read_bytes_per_second}};
}

inline auto fields_of(const Ceilings*) {
    return std::tuple{Field{"fma_flops_one_core", &Ceilings::fma_flops_one_core},
                      Field{"fma_flops_all_cores", &Ceilings::fma_flops_all_cores},
                      Field{"memory_read", &Ceilings::memory_read}, Field{"memory_copy", &Ceilings::memory_copy},
                      Field{"memory_copy_one_core", &Ceilings::memory_copy_one_core}};
}

inline auto fields_of(const Machine*) {
    return std::tuple{Field{"cpu", &Machine::cpu},
                      Field{"architecture", &Machine::architecture},
                      Field{"isa", &Machine::isa},
                      Field{"target", &Machine::target},
                      Field{"vector_bytes", &Machine::vector_bytes},
                      Field{"vector_registers", &Machine::vector_registers},
                      Field{"cores", &Machine::cores},
                      Field{"memory_bytes", &Machine::memory_bytes},
                      Field{"page_bytes", &Machine::page_bytes},
                      Field{"caches", &Machine::caches},
                      Field{"ceilings", &Machine::ceilings},
                      Field{"fingerprint", &Machine::fingerprint}};
}

inline auto fields_of(const OwnSource*) {
    return std::tuple{Field{"name", &OwnSource::name}, Field{"source", &OwnSource::source},
                      Field{"language", &OwnSource::language}};
}

inline auto fields_of(const RunSettings*) {
    return std::tuple{Field{"budget_seconds", &RunSettings::budget_seconds},
                      Field{"shared_seconds", &RunSettings::shared_seconds},
                      Field{"evaluations", &RunSettings::evaluations},
                      Field{"rounds", &RunSettings::rounds},
                      Field{"beam", &RunSettings::beam},
                      Field{"target_speedup", &RunSettings::target_speedup},
                      Field{"min_improvement", &RunSettings::min_improvement},
                      Field{"seed", &RunSettings::seed},
                      Field{"device", &RunSettings::device},
                      Field{"out", &RunSettings::out},
                      Field{"points", &RunSettings::points},
                      Field{"models", &RunSettings::models},
                      Field{"base_url", &RunSettings::base_url},
                      Field{"key_file", &RunSettings::key_file},
                      Field{"prices", &RunSettings::prices},
                      Field{"max_cost", &RunSettings::max_cost},
                      Field{"max_tokens", &RunSettings::max_tokens},
                      Field{"analysis_advice", &RunSettings::analysis_advice},
                      Field{"dry_run", &RunSettings::dry_run},
                      Field{"winners", &RunSettings::winners},
                      Field{"exhaustive", &RunSettings::exhaustive},
                      Field{"kernels", &RunSettings::kernels},
                      Field{"only_own", &RunSettings::only_own},
                      Field{"worker", &RunSettings::worker},
                      Field{"other_workers", &RunSettings::other_workers},
                      Field{"batch_workers", &RunSettings::batch_workers},
                      Field{"share", &RunSettings::share},
                      Field{"knowledge", &RunSettings::knowledge},
                      Field{"target", &RunSettings::target}};
}

inline auto fields_of(const WorkerUse*) {
    return std::tuple{Field{"name", &WorkerUse::name}, Field{"batches", &WorkerUse::batches},
                      Field{"evaluations", &WorkerUse::evaluations}, Field{"losses", &WorkerUse::losses},
                      Field{"dropped", &WorkerUse::dropped}};
}

inline auto fields_of(const Regime*) {
    return std::tuple{Field{"kernel", &Regime::kernel}, Field{"strategy", &Regime::strategy},
                      Field{"configuration", &Regime::configuration}, Field{"condition", &Regime::condition},
                      Field{"points", &Regime::points}};
}

inline auto fields_of(const DispatchCheck*) {
    return std::tuple{Field{"shapes", &DispatchCheck::shapes}, Field{"correct", &DispatchCheck::correct},
                      Field{"timed", &DispatchCheck::timed},
                      Field{"within_5_percent", &DispatchCheck::within_5_percent},
                      Field{"worst_regret", &DispatchCheck::worst_regret}};
}

inline auto fields_of(const ShapeReport*) {
    return std::tuple{Field{"label", &ShapeReport::label},
                      Field{"dims", &ShapeReport::dims},
                      Field{"nanoseconds", &ShapeReport::nanoseconds},
                      Field{"low_ns", &ShapeReport::low_ns},
                      Field{"high_ns", &ShapeReport::high_ns},
                      Field{"roofline_ns", &ShapeReport::roofline_ns},
                      Field{"roofline_share", &ShapeReport::roofline_share},
                      Field{"bound", &ShapeReport::bound},
                      Field{"bytes", &ShapeReport::bytes},
                      Field{"flops", &ShapeReport::flops},
                      Field{"kernel", &ShapeReport::kernel},
                      Field{"speedup", &ShapeReport::speedup},
                      Field{"best_baseline", &ShapeReport::best_baseline},
                      Field{"baselines", &ShapeReport::baselines},
                      Field{"speedups", &ShapeReport::speedups},
                      Field{"baseline_overhead", &ShapeReport::baseline_overhead},
                      Field{"disturbed", &ShapeReport::disturbed},
                      Field{"cold_ns", &ShapeReport::cold_ns},
                      Field{"error_share", &ShapeReport::error_share},
                      Field{"cold_baselines", &ShapeReport::cold_baselines}};
}

inline auto fields_of(const HistoryEntry*) {
    return std::tuple{Field{"seconds", &HistoryEntry::seconds},
                      Field{"kernel", &HistoryEntry::kernel},
                      Field{"strategy", &HistoryEntry::strategy},
                      Field{"configuration", &HistoryEntry::configuration},
                      Field{"verdict", &HistoryEntry::verdict},
                      Field{"evidence", &HistoryEntry::evidence},
                      Field{"nanoseconds", &HistoryEntry::nanoseconds},
                      Field{"compile_seconds", &HistoryEntry::compile_seconds},
                      Field{"check_seconds", &HistoryEntry::check_seconds},
                      Field{"time_seconds", &HistoryEntry::time_seconds}};
}

inline auto fields_of(const MissingBaseline*) {
    return std::tuple{Field{"name", &MissingBaseline::name}, Field{"how", &MissingBaseline::how}};
}

inline auto fields_of(const Probe*) {
    return std::tuple{Field{"name", &Probe::name}, Field{"tells", &Probe::tells}, Field{"verdict", &Probe::verdict},
                      Field{"evidence", &Probe::evidence}, Field{"nanoseconds", &Probe::nanoseconds}};
}

inline auto fields_of(const Experiment*) {
    return std::tuple{Field{"strategy", &Experiment::strategy}, Field{"hypothesis", &Experiment::hypothesis},
                      Field{"kernel_ns", &Experiment::kernel_ns}, Field{"probes", &Experiment::probes}};
}

inline auto fields_of(const InstructionMix*) {
    return std::tuple{Field{"total", &InstructionMix::total},
                      Field{"scalar", &InstructionMix::scalar},
                      Field{"packed", &InstructionMix::packed},
                      Field{"fused", &InstructionMix::fused},
                      Field{"divisions", &InstructionMix::divisions},
                      Field{"shuffles", &InstructionMix::shuffles},
                      Field{"conversions", &InstructionMix::conversions},
                      Field{"loads", &InstructionMix::loads},
                      Field{"stores", &InstructionMix::stores},
                      Field{"gathers", &InstructionMix::gathers},
                      Field{"stack", &InstructionMix::stack},
                      Field{"calls", &InstructionMix::calls},
                      Field{"branches", &InstructionMix::branches},
                      Field{"flops", &InstructionMix::flops}};
}

inline auto fields_of(const Throughput*) {
    return std::tuple{Field{"cycles", &Throughput::cycles}, Field{"micro_operations", &Throughput::micro_operations},
                      Field{"dependency_share", &Throughput::dependency_share},
                      Field{"resource_share", &Throughput::resource_share}, Field{"busiest", &Throughput::busiest}};
}

inline auto fields_of(const HotLoop*) {
    return std::tuple{Field{"function", &HotLoop::function},
                      Field{"first", &HotLoop::first},
                      Field{"last", &HotLoop::last},
                      Field{"line", &HotLoop::line},
                      Field{"last_line", &HotLoop::last_line},
                      Field{"share", &HotLoop::share},
                      Field{"mix", &HotLoop::mix},
                      Field{"throughput", &HotLoop::throughput},
                      Field{"listing", &HotLoop::listing}};
}

inline auto fields_of(const PointProfile*) {
    return std::tuple{Field{"point", &PointProfile::point},       Field{"time", &PointProfile::time},
                      Field{"one_core", &PointProfile::one_core}, Field{"threads", &PointProfile::threads},
                      Field{"samples", &PointProfile::samples},   Field{"places", &PointProfile::places},
                      Field{"loops", &PointProfile::loops},       Field{"counters", &PointProfile::counters}};
}

inline auto fields_of(const Profile*) {
    return std::tuple{Field{"verdict", &Profile::verdict}, Field{"evidence", &Profile::evidence},
                      Field{"points", &Profile::points}, Field{"missing", &Profile::missing}};
}

inline auto fields_of(const Finding*) {
    return std::tuple{Field{"dimension", &Finding::dimension}, Field{"reached", &Finding::reached},
                      Field{"evidence", &Finding::evidence}};
}

inline auto fields_of(const Diagnosis*) {
    return std::tuple{Field{"label", &Diagnosis::label},
                      Field{"traffic_ns", &Diagnosis::traffic_ns},
                      Field{"compute_ns", &Diagnosis::compute_ns},
                      Field{"findings", &Diagnosis::findings},
                      Field{"limit", &Diagnosis::limit},
                      Field{"at_ceiling", &Diagnosis::at_ceiling},
                      Field{"next", &Diagnosis::next}};
}

inline auto fields_of(const InProcessPoint*) {
    return std::tuple{Field{"label", &InProcessPoint::label},
                      Field{"nanoseconds", &InProcessPoint::nanoseconds},
                      Field{"baselines", &InProcessPoint::baselines},
                      Field{"speedups", &InProcessPoint::speedups},
                      Field{"best_baseline", &InProcessPoint::best_baseline},
                      Field{"neighbour", &InProcessPoint::neighbour}};
}

inline auto fields_of(const InProcess*) {
    return std::tuple{Field{"framework", &InProcess::framework}, Field{"missing", &InProcess::missing},
                      Field{"headline", &InProcess::headline}, Field{"points", &InProcess::points}};
}

inline auto fields_of(const ModelUse*) {
    return std::tuple{Field{"role", &ModelUse::role},
                      Field{"model", &ModelUse::model},
                      Field{"calls", &ModelUse::calls},
                      Field{"failed", &ModelUse::failed},
                      Field{"replayed", &ModelUse::replayed},
                      Field{"input_tokens", &ModelUse::input_tokens},
                      Field{"cached_tokens", &ModelUse::cached_tokens},
                      Field{"output_tokens", &ModelUse::output_tokens},
                      Field{"reasoning_tokens", &ModelUse::reasoning_tokens},
                      Field{"cost", &ModelUse::cost},
                      Field{"priced", &ModelUse::priced},
                      Field{"seconds", &ModelUse::seconds}};
}

inline auto fields_of(const PhaseSeconds*) {
    return std::tuple{Field{"total", &PhaseSeconds::total},     Field{"reference", &PhaseSeconds::reference},
                      Field{"compile", &PhaseSeconds::compile}, Field{"check", &PhaseSeconds::check},
                      Field{"time", &PhaseSeconds::time},       Field{"models", &PhaseSeconds::models}};
}

inline auto fields_of(const LessonConditions*) {
    return std::tuple{Field{"problem", &LessonConditions::problem}, Field{"family", &LessonConditions::family},
                      Field{"bound", &LessonConditions::bound}, Field{"hardware", &LessonConditions::hardware},
                      Field{"words", &LessonConditions::words}};
}

inline auto fields_of(const Lesson*) {
    return std::tuple{Field{"when", &Lesson::when},          Field{"advice", &Lesson::advice},
                      Field{"strategy", &Lesson::strategy},  Field{"values", &Lesson::values},
                      Field{"what", &Lesson::what},          Field{"why", &Lesson::why},
                      Field{"author", &Lesson::author},      Field{"source", &Lesson::source},
                      Field{"measured", &Lesson::measured},  Field{"document", &Lesson::document},
                      Field{"quotation", &Lesson::quotation}};
}

inline auto fields_of(const Testimony*) {
    return std::tuple{Field{"lesson", &Testimony::lesson}, Field{"run", &Testimony::run},
                      Field{"kind", &Testimony::kind}, Field{"note", &Testimony::note}};
}

inline auto fields_of(const Digest::Winner*) {
    return std::tuple{Field{"strategy", &Digest::Winner::strategy},
                      Field{"family", &Digest::Winner::family},
                      Field{"configuration", &Digest::Winner::configuration},
                      Field{"condition", &Digest::Winner::condition},
                      Field{"points", &Digest::Winner::points},
                      Field{"bound", &Digest::Winner::bound},
                      Field{"roofline_share", &Digest::Winner::roofline_share}};
}

inline auto fields_of(const Digest::DeadEnd*) {
    return std::tuple{Field{"strategy", &Digest::DeadEnd::strategy}, Field{"family", &Digest::DeadEnd::family},
                      Field{"reason", &Digest::DeadEnd::reason}};
}

inline auto fields_of(const Digest::Effect*) {
    return std::tuple{Field{"family", &Digest::Effect::family},
                      Field{"strategy", &Digest::Effect::strategy},
                      Field{"bound", &Digest::Effect::bound},
                      Field{"tunable", &Digest::Effect::tunable},
                      Field{"value", &Digest::Effect::value},
                      Field{"ratio", &Digest::Effect::ratio},
                      Field{"evaluations", &Digest::Effect::evaluations}};
}

inline auto fields_of(const Digest*) {
    return std::tuple{Field{"run", &Digest::run},           Field{"started", &Digest::started},
                      Field{"outcome", &Digest::outcome},   Field{"strop_version", &Digest::strop_version},
                      Field{"compiler", &Digest::compiler}, Field{"origin", &Digest::origin},
                      Field{"problem", &Digest::problem},   Field{"problem_hash", &Digest::problem_hash},
                      Field{"tags", &Digest::tags},         Field{"cpu", &Digest::cpu},
                      Field{"isa", &Digest::isa},           Field{"fingerprint", &Digest::fingerprint},
                      Field{"language", &Digest::language}, Field{"hardware", &Digest::hardware},
                      Field{"cores", &Digest::cores},       Field{"speedup", &Digest::speedup},
                      Field{"baseline", &Digest::baseline}, Field{"evaluations", &Digest::evaluations},
                      Field{"winners", &Digest::winners},   Field{"dead_ends", &Digest::dead_ends},
                      Field{"effects", &Digest::effects},   Field{"open", &Digest::open}};
}

inline auto fields_of(const RunRecord*) {
    return std::tuple{Field{"run", &RunRecord::run},
                      Field{"started", &RunRecord::started},
                      Field{"strop_version", &RunRecord::strop_version},
                      Field{"compiler", &RunRecord::compiler},
                      Field{"device", &RunRecord::device},
                      Field{"problem", &RunRecord::problem},
                      Field{"problem_folder", &RunRecord::problem_folder},
                      Field{"problem_hash", &RunRecord::problem_hash},
                      Field{"tags", &RunRecord::tags},
                      Field{"origin", &RunRecord::origin},
                      Field{"settings", &RunRecord::settings},
                      Field{"machine", &RunRecord::machine},
                      Field{"outcome", &RunRecord::outcome},
                      Field{"verified", &RunRecord::verified},
                      Field{"verification", &RunRecord::verification},
                      Field{"note", &RunRecord::note},
                      Field{"stopped_by", &RunRecord::stopped_by},
                      Field{"headline", &RunRecord::headline},
                      Field{"headline_baseline", &RunRecord::headline_baseline},
                      Field{"shapes", &RunRecord::shapes},
                      Field{"regimes", &RunRecord::regimes},
                      Field{"dispatch", &RunRecord::dispatch},
                      Field{"sanitizers", &RunRecord::sanitizers},
                      Field{"in_process", &RunRecord::in_process},
                      Field{"strategies", &RunRecord::strategies},
                      Field{"kernels", &RunRecord::kernels},
                      Field{"history", &RunRecord::history},
                      Field{"evaluations_by_verdict", &RunRecord::evaluations_by_verdict},
                      Field{"evaluations_by_others", &RunRecord::evaluations_by_others},
                      Field{"evaluations", &RunRecord::evaluations},
                      Field{"missing_baselines", &RunRecord::missing_baselines},
                      Field{"models", &RunRecord::models},
                      Field{"model_costs", &RunRecord::model_costs},
                      Field{"model_losses", &RunRecord::model_losses},
                      Field{"experiments", &RunRecord::experiments},
                      Field{"lessons", &RunRecord::lessons},
                      Field{"weaker", &RunRecord::weaker},
                      Field{"workers", &RunRecord::workers},
                      Field{"seconds", &RunRecord::seconds},
                      Field{"result", &RunRecord::result},
                      Field{"function", &RunRecord::function}};
}

}  // namespace strop
