#include "judge/worker_pool.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace strop::judge {

namespace {

constexpr size_t anybody = SIZE_MAX;
constexpr std::chrono::milliseconds look_every{100};

struct Closing {};  // what a thread throws that waits for its worker when the pool ends

}  // namespace

// ---- of who asks ---------------------------------------------------------------------------------------

WorkerPool::WorkerPool(const std::vector<WorkerCommand>& commands, std::function<void()> idle,
                       std::function<void(const std::string&)> say)
    : idle_(std::move(idle)),
      say_(std::move(say)) {
    try {
        start_all(commands);
        check_alike();
    } catch (...) {
        close();
        throw;
    }
    greeting_ = seats_.front().greeting;
    for (const Seat& seat : seats_)
        for (const std::string& protection : seat.greeting.weaker)
            if (std::find(greeting_.weaker.begin(), greeting_.weaker.end(), protection) == greeting_.weaker.end())
                greeting_.weaker.push_back(protection);
}

void WorkerPool::serve_another(std::function<void()> idle, std::function<void(const std::string&)> say) {
    idle_ = std::move(idle);
    say_ = std::move(say);
}

WorkerPool::~WorkerPool() { close(); }

void WorkerPool::start_all(const std::vector<WorkerCommand>& commands) {
    for (const WorkerCommand& command : commands) {
        Seat& seat = seats_.emplace_back();
        seat.command = command;
        seat.use.name = command.label();
    }
    for (size_t i = 0; i < seats_.size(); ++i) seats_[i].thread = std::thread([this, i] { serve(i); });
    Lock lock(mutex_);
    auto failed = [](const Seat& seat) { return seat.failure != nullptr; };
    wait_until(lock, [&] { return count(State::starting) == 0 || std::any_of(seats_.begin(), seats_.end(), failed); });
    const auto first = std::find_if(seats_.begin(), seats_.end(), failed);
    if (first != seats_.end()) std::rethrow_exception(first->failure);
}

void WorkerPool::check_alike() const {
    const Seat& first = seats_.front();
    for (const Seat& seat : seats_) {
        if (seat.greeting.machine.fingerprint != first.greeting.machine.fingerprint)
            throw EnvironmentError(
                fmt::format("{} is on another machine than {}: {}, and there {}", seat.command.name(),
                            first.command.name(), machine_text(seat.greeting.machine),
                            machine_text(first.greeting.machine)),
                "measurements of two machines are not mixed: leave one of them out");
        if (seat.greeting.toolchain != first.greeting.toolchain)
            throw EnvironmentError(fmt::format("{} has another compiler than {}: {}, and there {}", seat.command.name(),
                                               first.command.name(), seat.greeting.toolchain, first.greeting.toolchain),
                                   "install the same compiler on both machines");
    }
}

void WorkerPool::close() {
    {
        Lock lock(mutex_);
        closing_ = true;
    }
    for_seats_.notify_all();
    for (Seat& seat : seats_)
        if (seat.thread.joinable()) seat.thread.join();
}

void WorkerPool::wait_until(Lock& lock, const std::function<bool()>& done) {
    auto say_lines = [&] {
        const std::vector<std::string> lines = std::exchange(lines_, {});
        lock.unlock();
        for (const std::string& line : lines)
            if (say_) say_(line);
    };
    while (!for_us_.wait_for(lock, look_every, done)) {
        say_lines();
        idle_();
        lock.lock();
    }
    say_lines();
    lock.lock();
}

size_t WorkerPool::count(State state) const {
    return static_cast<size_t>(
        std::count_if(seats_.begin(), seats_.end(), [&](const Seat& seat) { return seat.state == state; }));
}

std::vector<size_t> WorkerPool::idle_seats(Lock& lock) {
    wait_until(lock, [&] { return count(State::idle) > 0 || count(State::dropped) == seats_.size(); });
    std::vector<size_t> idle;
    for (size_t i = 0; i < seats_.size(); ++i)
        if (seats_[i].state == State::idle) idle.push_back(i);
    if (!idle.empty()) return idle;
    if (seats_.size() == 1) throw LostWorker(last_loss_, last_hint_);
    throw LostWorker(fmt::format("all {} workers are lost; the last: {}", seats_.size(), last_loss_), last_hint_);
}

void WorkerPool::drop(Seat& seat, const LostWorker& loss) {
    seat.state = State::dropped;
    seat.use.dropped = last_loss_ = loss.what();
    last_hint_ = loss.hint();
    for_seats_.notify_all();
    for_us_.notify_all();
    if (const size_t left = seats_.size() - count(State::dropped); left > 0)
        lines_.push_back(fmt::format("{}; going on with {} of {} workers", last_loss_, left, seats_.size()));
}

// Lost ones are dropped; another failure is thrown.
void WorkerPool::run_on(Lock& lock, const std::vector<size_t>& numbers, const Task& task) {
    for (size_t i : numbers) {
        seats_[i].task = task;
        seats_[i].state = State::busy;
    }
    for_seats_.notify_all();
    wait_until(lock, [&] {
        return std::all_of(numbers.begin(), numbers.end(), [&](size_t i) { return seats_[i].state != State::busy; });
    });
    std::exception_ptr first;
    for (size_t i : numbers) try {
            if (std::exception_ptr failure = std::exchange(seats_[i].failure, nullptr)) std::rethrow_exception(failure);
        } catch (const LostWorker& loss) {
            drop(seats_[i], loss);
        } catch (...) {
            if (!first) first = std::current_exception();
        }
    if (first) std::rethrow_exception(first);
}

template <typename Answer>
Answer WorkerPool::ask_first(const std::function<Answer(WorkerClient&)>& ask) {
    for (Lock lock(mutex_);;) {
        const std::vector<size_t> idle = idle_seats(lock);
        if (std::find(idle.begin(), idle.end(), first_) == idle.end()) first_ = idle.front();
        const auto answer = std::make_shared<Answer>();  // who asks may be gone when it comes
        run_on(lock, {first_}, [this, ask, answer, seed = seed_](WorkerClient& client, size_t number) {
            renew_inputs(seats_[number], client, seed);
            *answer = ask(client);
        });
        if (seats_[first_].state != State::dropped) return *answer;
    }
}

Machine WorkerPool::machine(Seconds lasting) {
    return ask_first<Machine>([=](WorkerClient& client) { return client.machine(lasting); });
}

Problem WorkerPool::open(const Problem& problem, const std::vector<std::string>& points, uint64_t seed,
                         Seconds reference_limit) {
    Lock lock(mutex_);
    const std::vector<size_t> idle = idle_seats(lock);
    seed_ = seed;
    const auto opened = std::make_shared<std::vector<Opened>>(seats_.size());
    run_on(lock, idle, [=, this](WorkerClient& client, size_t number) {
        client.open(problem, points, seed, reference_limit);
        seats_[number].seed = seed;
        (*opened)[number] = {client.toolchain(), client.toolchains(), client.reference_note(), client.least_extents()};
    });
    check_toolchains(*opened);
    opened_ = (*opened)[idle_seats(lock).front()];
    return with_least_extents(problem, opened_.least);
}

void WorkerPool::check_toolchains(const std::vector<Opened>& opened) const {
    const Opened* first = nullptr;
    const Seat* whose = nullptr;
    for (size_t i = 0; i < seats_.size(); ++i) {
        if (seats_[i].state == State::dropped) continue;
        if (first && opened[i].toolchains != first->toolchains)
            throw EnvironmentError(
                fmt::format("{} has other compilers than {}", seats_[i].command.name(), whose->command.name()),
                "install the same compilers on both machines");
        if (first) continue;
        first = &opened[i];
        whose = &seats_[i];
    }
}

std::shared_ptr<WorkerPool::Batch> WorkerPool::share_out(std::vector<EvaluationRequest> requests,
                                                         const std::vector<size_t>& idle) {
    const auto batch = std::make_shared<Batch>();
    batch->evaluations.resize(requests.size());
    const std::vector<Share> shares = split_batch(requests, idle, homes_);
    for (size_t i = 0; i < shares.size(); ++i) {
        if (shares[i].empty()) continue;
        Part part{shares[i], {}, idle[i]};
        part.requests.reserve(part.places.size());
        for (size_t place : part.places) part.requests.push_back(std::move(requests[place]));
        batch->waiting.push_back(std::move(part));
    }
    return batch;
}

std::vector<Evaluation> WorkerPool::evaluate(std::vector<EvaluationRequest> requests) {
    Lock lock(mutex_);
    const std::shared_ptr<Batch> batch = share_out(std::move(requests), idle_seats(lock));
    batch_ = batch;
    for_seats_.notify_all();
    try {
        wait_until(lock, [&] { return batch->is_done() || count(State::dropped) == seats_.size(); });
    } catch (...) {
        if (!lock.owns_lock()) lock.lock();
        batch->waiting.clear();
        batch_.reset();
        throw;
    }
    batch_.reset();
    if (batch->failure) std::rethrow_exception(batch->failure);
    if (!batch->is_done()) idle_seats(lock);  // there is none, which it says
    return batch->evaluations;
}

std::vector<ProbeResult> WorkerPool::probe(const std::vector<EvaluationRequest>& requests) {
    return ask_first<std::vector<ProbeResult>>([=](WorkerClient& client) { return client.probe(requests); });
}

Comparison WorkerPool::compare(const ComparisonRequest& request) {
    return ask_first<Comparison>([=](WorkerClient& client) { return client.compare(request); });
}

Profile WorkerPool::profile(const EvaluationRequest& request) {
    return ask_first<Profile>([=](WorkerClient& client) { return client.profile(request); });
}

std::vector<SanitizerRun> WorkerPool::sanitize(const EvaluationRequest& request, Seconds limit) {
    return ask_first<std::vector<SanitizerRun>>([=](WorkerClient& client) { return client.sanitize(request, limit); });
}

std::vector<std::string> WorkerPool::baselines(std::vector<MissingBaseline>& missing) {
    using Found = std::pair<std::vector<std::string>, std::vector<MissingBaseline>>;
    Found found = ask_first<Found>([](WorkerClient& client) {
        Found all;
        all.first = client.baselines(all.second);
        return all;
    });
    missing = std::move(found.second);
    return found.first;
}

std::vector<TestVector> WorkerPool::test_vectors(const std::vector<ShapePoint>& points) {
    return ask_first<std::vector<TestVector>>([=](WorkerClient& client) { return client.test_vectors(points); });
}

// The others get theirs when they are asked for something.
void WorkerPool::reseed(uint64_t seed) {
    {
        Lock lock(mutex_);
        seed_ = seed;
    }
    ask_first<bool>([](WorkerClient&) { return true; });
}

const std::string& WorkerPool::toolchain(const std::string& compiler) const {
    const auto found = opened_.toolchains.find(compiler);
    return found == opened_.toolchains.end() ? opened_.toolchain : found->second;
}

double WorkerPool::reference_seconds() const {
    Lock lock(mutex_);
    double sum = 0;
    for (const Seat& seat : seats_) sum += seat.reference_seconds;
    return sum;
}

std::vector<WorkerUse> WorkerPool::uses() const {
    Lock lock(mutex_);
    std::vector<WorkerUse> uses;
    for (const Seat& seat : seats_)
        if (!seat.command.is_own()) uses.push_back(seat.use);
    return uses;
}

// ---- of the threads ------------------------------------------------------------------------------------

void WorkerPool::serve(size_t number) {
    Seat& seat = seats_[number];
    std::unique_ptr<WorkerClient> client = start(seat);
    if (!client) return;
    Lock lock(mutex_);
    for (;;) {
        for_seats_.wait(lock, [&] { return closing_ || seat.state == State::dropped || has_work(number); });
        if (closing_ || seat.state == State::dropped) break;
        if (seat.task) do_task(number, *client, lock);
        else do_part(number, *client, lock);
    }
    lock.unlock();
    client.reset();  // may take a moment
}

std::unique_ptr<WorkerClient> WorkerPool::start(Seat& seat) {
    std::unique_ptr<WorkerClient> client;
    std::exception_ptr failure;
    try {
        client = std::make_unique<WorkerClient>(
            seat.command,
            [this] {
                if (closing_) throw Closing();
            },
            [this](const std::string& line) {
                Lock lock(mutex_);
                lines_.push_back(line);
            });
    } catch (...) {
        failure = std::current_exception();
    }
    Lock lock(mutex_);
    if (client) seat.greeting = client->greeting();
    seat.failure = failure;
    seat.state = client ? State::idle : State::dropped;
    for_us_.notify_all();
    return client;
}

std::deque<WorkerPool::Part>::iterator WorkerPool::part_for(size_t number) {
    return std::find_if(batch_->waiting.begin(), batch_->waiting.end(),
                        [&](const Part& part) { return part.seat == number || part.seat == anybody; });
}

bool WorkerPool::has_work(size_t number) {
    return seats_[number].task || (batch_ && part_for(number) != batch_->waiting.end());
}

void WorkerPool::renew_inputs(Seat& seat, WorkerClient& client, uint64_t seed) {
    if (seat.seed == seed) return;
    client.reseed(seed);
    seat.seed = seed;
}

void WorkerPool::do_task(size_t number, WorkerClient& client, Lock& lock) {
    Seat& seat = seats_[number];
    const Task task = std::exchange(seat.task, nullptr);
    std::exception_ptr failure;
    lock.unlock();
    try {
        task(client, number);
    } catch (...) {
        failure = std::current_exception();
    }
    lock.lock();
    seat.failure = failure;
    seat.state = State::idle;
    seat.reference_seconds = client.reference_seconds();
    seat.use.losses = client.losses();
    for_us_.notify_all();
}

void WorkerPool::do_part(size_t number, WorkerClient& client, Lock& lock) {
    Seat& seat = seats_[number];
    const std::shared_ptr<Batch> batch = batch_;
    const auto at = part_for(number);
    Part part = std::move(*at);
    batch->waiting.erase(at);
    ++batch->at_work;
    seat.state = State::busy;
    const uint64_t seed = seed_;
    lock.unlock();
    std::optional<std::vector<Evaluation>> evaluations;
    std::exception_ptr failure;
    std::optional<LostWorker> loss;
    try {
        renew_inputs(seat, client, seed);
        evaluations = client.evaluate_once(part.requests);
    } catch (const LostWorker& lost) {
        loss = lost;
    } catch (...) {
        failure = std::current_exception();
    }
    lock.lock();
    --batch->at_work;
    seat.reference_seconds = client.reference_seconds();
    seat.state = State::idle;
    if (failure) {
        if (!batch->failure) batch->failure = failure;
        batch->waiting.clear();
    } else if (evaluations) {
        ++seat.use.batches;
        seat.use.evaluations += static_cast<int>(evaluations->size());
        for (size_t i = 0; i < part.places.size(); ++i)
            batch->evaluations[part.places[i]] = std::move((*evaluations)[i]);
    } else {
        if (!batch->failure) batch->waiting.push_front({std::move(part.places), std::move(part.requests), anybody});
        for_seats_.notify_all();
        if (loss) drop(seat, *loss);
        else revive(seat, client, lock);
    }
    for_us_.notify_all();
}

// Meanwhile others do what it was at.
void WorkerPool::revive(Seat& seat, WorkerClient& client, Lock& lock) {
    seat.state = State::reviving;
    std::optional<LostWorker> loss;
    lock.unlock();
    try {
        client.revive();
    } catch (const LostWorker& lost) {
        loss = lost;
    } catch (const Closing&) {
    } catch (const Error& error) {
        loss.emplace(error.what(), error.hint());  // whatever it is, the others can do without this one
    }
    lock.lock();
    seat.use.losses = client.losses();
    if (loss) drop(seat, *loss);
    else seat.state = State::idle;
}

}  // namespace strop::judge
