// Replies that come late, and in another order than they were asked for.
#include "agent/agent.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>

#include "base/error.h"
#include "fakes/agent_fixture.h"

namespace strop::agent {
namespace {

using ::testing::ElementsAre;

// A planner with four strategies; each coder answers when the test lets it.
class GatedModel : public llm::Model {
public:
    const std::string& name() const override { return name_; }
    llm::Reply ask(const llm::Request& request, const llm::Cancel& cancel) override {
        if (request.role == "planner") {
            std::string strategies;
            for (const char* id : {"trees", "columns", "lanes", "blocks"})
                strategies += (strategies.empty() ? "" : ",") + strategy_json(id, std::string("an idea of ") + id);
            return said("{\"strategies\": [" + strategies + "]}");
        }
        const std::string id = strategy_of(request);
        std::unique_lock lock(mutex_);
        asked_.insert(id);
        changed_.notify_all();
        while (!free_.count(id)) {
            changed_.wait_for(lock, std::chrono::milliseconds(5));
            if (cancel && cancel()) return failed(llm::Failure::cancelled);
        }
        return said(code_json("// " + id + "\\n" + good_source));
    }
    void release(const std::string& id) {
        std::lock_guard lock(mutex_);
        free_.insert(id);
        changed_.notify_all();
    }
    void wait_until_asked(size_t count) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return asked_.size() >= count; });
    }
    std::set<std::string> asked() {
        std::lock_guard lock(mutex_);
        return asked_;
    }

private:
    static std::string strategy_of(const llm::Request& request) {
        for (const char* id : {"trees", "columns", "lanes", "blocks"})
            if (request.messages[0].content.find(std::string("an idea of ") + id) != std::string::npos) return id;
        return "";
    }

    std::string name_ = "fake/gated";
    std::mutex mutex_;
    std::condition_variable changed_;
    std::set<std::string> asked_, free_;
};

class OpenCallsTest : public ::testing::Test {
protected:
    void make(AgentOptions options = {}) {
        agent_.reset();
        panel_.reset();
        caller_ = std::make_unique<llm::Caller>(prices_, llm::Limits{}, std::vector<llm::CallLog*>{}, false, nullptr);
        auto model = std::make_unique<GatedModel>();
        model_ = model.get();
        std::vector<Seat> seats;
        seats.push_back({llm::Spec{"", "fake", "gated"}, std::move(model)});
        panel_ = std::make_unique<Panel>(std::move(seats), *caller_);
        agent_ = std::make_unique<Agent>(briefing(), *panel_, judge_, options);
    }
    void plan() {
        agent_->plan();
        EXPECT_TRUE(next().empty());  // the planner's reply: the coders begin
    }
    // The ids of the kernels that come next.
    std::vector<std::string> next() {
        std::vector<std::string> ids;
        for (const Answer& answer : agent_->arrived(true))
            for (const Proposal& proposal : answer.proposals) ids.push_back(proposal.kernel.id);
        return ids;
    }

    fakes::FakeEvaluator judge_{[](const Kernel&, const Configuration&, const ShapePoint&) { return 250.0; }};
    llm::Prices prices_;
    std::unique_ptr<llm::Caller> caller_;
    GatedModel* model_ = nullptr;  // the panel's
    std::unique_ptr<Panel> panel_;
    std::unique_ptr<Agent> agent_;
};

TEST_F(OpenCallsTest, each_kernel_comes_when_its_reply_does) {
    make();
    EXPECT_EQ(agent_->expected(), 0u);
    agent_->plan();
    EXPECT_EQ(agent_->expected(), 4u);  // as many as the planner may name
    EXPECT_TRUE(next().empty());
    model_->wait_until_asked(4);
    EXPECT_TRUE(agent_->arrived(false).empty());
    model_->release("columns");
    EXPECT_THAT(next(), ElementsAre("columns"));
    EXPECT_EQ(agent_->expected(), 3u);
    model_->release("trees");
    EXPECT_THAT(next(), ElementsAre("trees"));
    for (const char* id : {"lanes", "blocks"}) model_->release(id);
    while (agent_->expected() > 0) next();
    EXPECT_EQ(caller_->spent().calls, 5);
    EXPECT_EQ(agent_->why_nothing(), "");
}

TEST_F(OpenCallsTest, only_so_many_are_under_way) {
    AgentOptions options;
    options.parallel = 2;
    make(options);
    plan();
    model_->wait_until_asked(2);
    EXPECT_EQ(model_->asked(), (std::set<std::string>{"trees", "columns"}));
    EXPECT_EQ(agent_->expected(), 4u);
    model_->release("columns");
    EXPECT_THAT(next(), ElementsAre("columns"));
    model_->wait_until_asked(3);
    EXPECT_EQ(model_->asked(), (std::set<std::string>{"trees", "columns", "lanes"}));
}

// What waits in the queue is not begun when its time is over.
TEST_F(OpenCallsTest, a_call_in_the_queue_begins_only_in_time) {
    AgentOptions options;
    options.parallel = 1;
    bool time = true;
    options.time_for = [&](double) { return time; };
    make(options);
    plan();
    model_->wait_until_asked(1);
    time = false;
    model_->release("trees");
    EXPECT_THAT(next(), ElementsAre("trees"));
    EXPECT_EQ(agent_->expected(), 0u);
    EXPECT_EQ(model_->asked().size(), 1u);
    EXPECT_THAT(agent_->losses(), ElementsAre("coder about columns: not asked: the time that is left is too short",
                                              "coder about lanes: not asked: the time that is left is too short",
                                              "coder about blocks: not asked: the time that is left is too short"));
}

// As a recording does it: the second agent's replies come in the opposite order.
TEST_F(OpenCallsTest, a_recorded_order_is_repeated) {
    std::vector<std::vector<std::string>> recorded;
    AgentOptions options;
    options.arrivals = [&](const auto& back) { return recorded.emplace_back(back()); };
    const std::vector<std::string> order = {"columns", "blocks", "trees", "lanes"};
    make(options);
    plan();
    for (const std::string& id : order) {
        model_->release(id);
        EXPECT_THAT(next(), ElementsAre(id));
    }

    size_t at = 0;
    options.arrivals = [&](const auto&) { return recorded.at(at++); };
    make(options);
    plan();
    model_->wait_until_asked(4);
    for (size_t i = order.size(); i-- > 0;) model_->release(order[i]);
    for (const std::string& id : order) EXPECT_THAT(next(), ElementsAre(id));
    EXPECT_EQ(at, recorded.size());
}

TEST_F(OpenCallsTest, waiting_ends_with_the_time) {
    AgentOptions options;
    int looks = 0;
    options.may_wait = [&] { return ++looks < 3; };
    make(options);
    plan();
    looks = 0;
    EXPECT_TRUE(next().empty());
    EXPECT_EQ(looks, 3);
    EXPECT_EQ(agent_->expected(), 4u);
}

TEST_F(OpenCallsTest, the_end_cancels_what_is_open_and_says_so) {
    AgentOptions options;
    options.parallel = 2;
    make(options);
    plan();
    model_->wait_until_asked(2);
    agent_->end();
    EXPECT_EQ(agent_->expected(), 0u);
    EXPECT_EQ(caller_->spent().failed, 2);
    EXPECT_TRUE(next().empty());
    std::vector<std::string> lines;
    for (const char* id : {"trees", "columns", "lanes", "blocks"})
        lines.push_back("coder fake/gated about " + std::string(id) + ": the search ended before the answer came");
    EXPECT_EQ(agent_->losses(), lines);
    EXPECT_EQ(agent_->why_nothing(), "no planned strategy got a kernel");
    make();
    plan();
    model_->wait_until_asked(4);
    agent_.reset();  // an error ended the run
    EXPECT_EQ(caller_->spent().failed, 4);
}

TEST_F(OpenCallsTest, what_a_thread_throws_is_thrown_where_its_reply_is_taken) {
    struct FullDisk : llm::CallLog {
        std::optional<llm::Call> find(const std::string&) override { return std::nullopt; }
        void add(const llm::Call&) override { throw EnvironmentError("the disk is full", ""); }
    } log;
    llm::Caller caller(prices_, {}, {&log}, false, {});
    std::vector<Seat> seats;
    seats.push_back({llm::Spec{"", "fake", "gated"}, std::make_unique<GatedModel>()});
    Panel panel(std::move(seats), caller);
    Agent agent(briefing(), panel, judge_, {});
    agent.plan();
    EXPECT_THROW(agent.arrived(true), EnvironmentError);
}

}  // namespace
}  // namespace strop::agent
