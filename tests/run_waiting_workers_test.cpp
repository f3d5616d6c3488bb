// Workers that stay while their run waits.
#include "run/waiting_workers.h"

#include <stdexcept>

#include <gtest/gtest.h>

#include "base/file.h"
#include "core/json.h"
#include "device/machine.h"
#include "judge/worker_greeting.h"
#include "problem/loader.h"

namespace strop {
namespace {

TEST(WaitingWorkers, ServeWhoGoesOnAndNobodyElse) {
    const TemporaryFolder folder("strop-test");
    const fs::path greeting = folder.path() / "greeting.json", log = folder.path() / "log";
    write_file(greeting, dump(judge::to_json(judge::greeting_of_this_machine(detect_machine()))));
    const judge::WorkerCommand command{
        "fake",
        {"python3", STROP_SOURCE_DIR "/tests/fakes/fake_worker.py", "--greeting", greeting.string(), "--log",
         log.string(), "--state", (folder.path() / "state.json").string(), "--evaluate", "works"}};
    auto pool = std::make_unique<judge::WorkerPool>(std::vector{command}, [] {});
    pool->open(load_problem(STROP_SOURCE_DIR "/problems/softmax"), {}, 7);
    const judge::WorkerPool* const place = pool.get();

    WaitingWorkers waiting;
    EXPECT_EQ(waiting.take("one"), nullptr);
    waiting.keep("one", std::move(pool));
    EXPECT_TRUE(waiting.has("one"));
    EXPECT_EQ(waiting.take("another"), nullptr);
    const std::unique_ptr<judge::WorkerPool> again = waiting.take("one");
    EXPECT_EQ(again.get(), place);
    EXPECT_FALSE(waiting.has("one"));

    again->serve_another([] { throw std::runtime_error("asked by another"); }, {});
    EXPECT_THROW(again->evaluate({EvaluationRequest{}}), std::runtime_error);
}

}  // namespace
}  // namespace strop
