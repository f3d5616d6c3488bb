#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/file.h"
#include "core/json.h"
#include "fakes/sample_record.h"
#include "serve/diff.h"
#include "serve/http_server.h"
#include "serve/progress.h"
#include "serve/site.h"

namespace strop::serve {
namespace {

using testing::HasSubstr;
using testing::Not;
using namespace std::chrono_literals;

constexpr const char* form_token = "0123456789abcdef0123456789abcdef";

// A site over a store in a folder of its own; the program that it starts is a script of the test's.
class ServeSite : public testing::Test {
protected:
    void SetUp() override {
        options_.store = folder_.path() / "runs.db";
        options_.program = folder_.path() / "program";
        options_.access = {"127.0.0.1", "machine", "", form_token};
    }

    void save(const std::string& run, const std::function<void(RunRecord&)>& change = [](RunRecord&) {}) {
        RunRecord record = fakes::sample_record();
        record.run = run;
        change(record);
        Store(options_.store).save_run(record);
    }

    void write_program(const std::string& lines) {
        write_file(options_.program, "#!/bin/sh\n" + lines);
        fs::permissions(options_.program, fs::perms::owner_all);
    }

    Site& site() {
        if (!site_) site_ = std::make_unique<Site>(options_);
        return *site_;
    }

    static Request asked(const std::string& path, const std::map<std::string, std::string>& fields = {}) {
        return {"GET", path, fields, {{"host", "127.0.0.1:8765"}}};
    }
    static Request posted(const std::string& path, std::map<std::string, std::string> fields = {}) {
        fields.emplace("form_token", form_token);
        return {"POST", path, fields, {{"host", "127.0.0.1:8765"}, {"origin", "http://127.0.0.1:8765"}}};
    }
    Response get(const std::string& path, const std::map<std::string, std::string>& fields = {}) {
        return site().answer(asked(path, fields));
    }

    TemporaryFolder folder_{"strop-serve"};
    SiteOptions options_;
    std::unique_ptr<Site> site_;
};

size_t count_of(const std::string& text, const std::string& part) {
    size_t count = 0;
    for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
    return count;
}

TEST_F(ServeSite, ListsNothingWithoutAStoreAndMakesNone) {
    EXPECT_THAT(get("/").body, HasSubstr("There is no run yet"));
    EXPECT_EQ(get("/api/runs").body, "[]\n");
    EXPECT_EQ(get("/runs/softmax-1").status, 404);
    EXPECT_FALSE(fs::exists(options_.store.file()));
}

TEST_F(ServeSite, ListsRunsWithTheirResults) {
    save("softmax-1");
    save("gemm-1", [](RunRecord& record) {
        record.problem = "gemm";
        record.outcome = Outcome::interrupted;
    });
    const Response all = get("/");
    EXPECT_EQ(all.status, 200);
    for (const char* part : {"href=\"/runs/softmax-1\"", "href=\"/runs/gemm-1\"", "improved", "interrupted", "onednn",
                             "1 min 32 s", ">60<"})
        EXPECT_THAT(all.body, HasSubstr(part));
    const Response one = get("/", {{"problem", "gemm"}});
    EXPECT_THAT(one.body, HasSubstr("/runs/gemm-1"));
    EXPECT_THAT(one.body, Not(HasSubstr("/runs/softmax-1")));
}

TEST_F(ServeSite, PagesALongList) {
    Store store(options_.store);
    RunRecord record = fakes::sample_record();
    record.history.clear();
    for (int i = 0; i < 120; ++i) {
        record.run = fmt::format("softmax-{:03}", i);
        record.started = fmt::format("2026-01-01T00:{:02}:{:02}Z", i / 60, i % 60);
        store.save_run(record);
    }
    const std::string first = get("/").body, last = get("/", {{"page", "3"}}).body;
    EXPECT_EQ(count_of(first, "<tr><td><a"), 50u);
    EXPECT_THAT(first, HasSubstr("/runs/softmax-119"));
    EXPECT_THAT(first, HasSubstr("page 1 of 3"));
    EXPECT_THAT(first, Not(HasSubstr("Newer")));
    EXPECT_EQ(count_of(last, "<tr><td><a"), 20u);
    EXPECT_THAT(last, HasSubstr("/runs/softmax-000"));
    EXPECT_THAT(last, Not(HasSubstr("Older")));
    EXPECT_EQ(get("/", {{"page", "99999"}}).body.find("page 3 of 3") == std::string::npos, false);
    EXPECT_EQ(get("/", {{"page", "-1"}}).status, 400);
    EXPECT_EQ(get("/", {{"page", "99999999999999999999"}}).status, 400);
    EXPECT_EQ(Json::parse(get("/api/runs", {{"skip", "110"}}).body).size(), 10u);
}

TEST_F(ServeSite, ShowsAFinishedRunAsItsReportDoes) {
    save("softmax-1");
    const Response page = get("/runs/softmax-1");
    EXPECT_EQ(page.status, 200);
    for (const char* part : {"faster than", "Shape by shape", "Roofline", "Search history", "Strategies and kernels",
                             "behind three_pass_cached at every shape", "Where the time went"})
        EXPECT_THAT(page.body, HasSubstr(part));
    EXPECT_THAT(page.body, Not(HasSubstr("Resume"))) << "it is finished";
    EXPECT_THAT(page.body, Not(HasSubstr("refresh")));
    EXPECT_EQ(get("/runs/softmax").status, 404) << "an address is not a prefix";
}

TEST_F(ServeSite, ShowsHowFarARunOfAnotherProcessHasCome) {
    save("softmax-1", [](RunRecord& record) { record.outcome = Outcome::running; });
    const Response page = get("/runs/softmax-1");
    for (const char* part :
         {"Running", "Best so far", "Latest evaluations", "<noscript><meta http-equiv=\"refresh\"", "Resume"})
        EXPECT_THAT(page.body, HasSubstr(part));
    EXPECT_THAT(page.body, Not(HasSubstr(">Stop<")));
    EXPECT_EQ(get("/runs/softmax-1/progress").headers["X-Strop-Running"], "yes");
    save("softmax-1");
    EXPECT_EQ(get("/runs/softmax-1/progress").headers["X-Strop-Running"], "no");
}

TEST_F(ServeSite, ShowsWhatAnInterruptedRunHasReached) {
    save("softmax-1", [](RunRecord& record) { record.outcome = Outcome::interrupted; });
    const Response page = get("/runs/softmax-1");
    for (const char* part : {"<h1>Interrupted", "Best so far", ">Resume<"}) EXPECT_THAT(page.body, HasSubstr(part));
    EXPECT_THAT(page.body, Not(HasSubstr("<script")));
}

TEST_F(ServeSite, ReadsWhileAnotherConnectionWrites) {
    Store writer(options_.store);
    RunRecord record = fakes::sample_record();
    record.outcome = Outcome::running;
    std::thread writing([&] {
        for (int i = 0; i < 20; ++i) {
            record.evaluations = i;
            writer.save_run(record);
        }
    });
    for (int i = 0; i < 20; ++i) EXPECT_EQ(get("/").status, 200);
    writing.join();
    EXPECT_THAT(get("/").body, HasSubstr(">19<"));
}

TEST_F(ServeSite, ShowsKernelsWithTheChangeToTheirParents) {
    save("softmax-1");
    Store store(options_.store);
    Kernel parent = fakes::sample_kernel("plain"), child = fakes::sample_kernel("plain+prefetch/2");
    child.parent = "plain";
    child.source += "// one more line\n";
    store.add_kernel("softmax-1", parent);
    store.add_kernel("softmax-1", child);
    const Response page = get("/runs/softmax-1/kernels/plain+prefetch/2");
    EXPECT_EQ(page.status, 200);
    EXPECT_THAT(page.body, HasSubstr("<ins>+ // one more line</ins>"));
    EXPECT_THAT(page.body, Not(HasSubstr("<del>")));
    EXPECT_THAT(get("/runs/softmax-1").body, HasSubstr("/runs/softmax-1/kernels/plain%2Bprefetch%2F2"));
    EXPECT_THAT(get("/runs/softmax-1/kernels/plain").body, Not(HasSubstr("Change to its parent")));
    EXPECT_EQ(get("/runs/softmax-1/kernels/three_pass_cached").status, 200) << "a winner of the record";
    EXPECT_EQ(get("/runs/softmax-1/kernels/none").status, 404);
}

TEST_F(ServeSite, MakesAProfileWhenAskedAndKeepsIt) {
    save("softmax-1", [](RunRecord& record) { record.problem_folder = "/some/problem"; });
    const std::string kernel = "/runs/softmax-1/kernels/three_pass_cached";
    EXPECT_EQ(get(kernel + "/profile").status, 404);
    EXPECT_THAT(get(kernel).body, HasSubstr(">Profile<"));
    const std::string said = folder_.path() / "words";
    write_program("echo \"$@\" > " + said + "\ncat \"$2\" >> " + said +
                  "\nwhile [ \"$1\" != --html ]; do shift; done\nprintf '<script>1</script>\\xff' > \"$2\"\n");
    EXPECT_EQ(site().answer(posted(kernel + "/profile")).headers.at("Location"), kernel);
    for (int i = 0; i < 200 && get(kernel + "/profile").status == 404; ++i) std::this_thread::sleep_for(50ms);
    const Response page = get(kernel + "/profile");
    EXPECT_THAT(page.body, HasSubstr("<script>1</script>"));
    EXPECT_THAT(page.headers.at("Content-Security-Policy"), HasSubstr("sandbox; default-src 'none'"))
        << "it may not run";
    EXPECT_THAT(read_file(said), HasSubstr("--problem /some/problem --html"));
    EXPECT_THAT(read_file(said), HasSubstr("--point")) << "where it did best";
    EXPECT_THAT(read_file(said), HasSubstr("void softmax")) << "its source";
    EXPECT_THAT(get(kernel).body, HasSubstr("Profile again"));
    EXPECT_THAT(get("/runs/softmax-1").body, Not(HasSubstr(">Stop<"))) << "the run itself is over";
    site_.reset();
    EXPECT_EQ(get(kernel + "/profile").status, 200) << "another server has it too";
    EXPECT_EQ(get("/runs/softmax-1/kernels/none/profile").status, 404);
    EXPECT_EQ(site().answer(posted("/runs/softmax-1/kernels/none/profile")).status, 404);
}

TEST_F(ServeSite, SaysWhyThereIsNoProfile) {
    save("softmax-1");
    const std::string kernel = "/runs/softmax-1/kernels/three_pass_cached";
    write_program("echo 'strop: no <problem> there'\nexit 3\n");
    (void)site().answer(posted(kernel + "/profile"));
    for (int i = 0; i < 200 && get(kernel).body.find("exit code 3") == std::string::npos; ++i)
        std::this_thread::sleep_for(50ms);
    EXPECT_THAT(get(kernel).body, HasSubstr("no &lt;problem&gt; there"));
    EXPECT_EQ(get(kernel + "/profile").status, 404);
}

TEST_F(ServeSite, ShowsWhatIsKnown) {
    EXPECT_THAT(get("/knowledge").body, HasSubstr("Nothing fits"));
    save("softmax-1", [](RunRecord& record) { record.verified = true; });
    Lesson lesson;
    lesson.what = "one pass over the row";
    lesson.when.hardware = fakes::sample_machine().isa;
    Store(options_.store).add_lesson(lesson);
    const std::string page = get("/knowledge").body;
    for (const char* part : {"/runs/softmax-1", "won", "lost", "one pass over the row"})
        EXPECT_THAT(page, HasSubstr(part));
    EXPECT_THAT(get("/knowledge", {{"hardware", "avx2"}, {"tags", " softmax,"}}).body, HasSubstr("/runs/softmax-1"));
    EXPECT_THAT(get("/knowledge", {{"hardware", "sparc"}}).body, Not(HasSubstr("/runs/softmax-1")));
    EXPECT_THAT(get("/").body, HasSubstr("href=\"/knowledge\""));
}

TEST_F(ServeSite, ComparesTwoRunsOfOneProblem) {
    save("a");
    save("b", [](RunRecord& record) {
        record = fakes::sample_record({.pace = 1.3});
        record.run = "b";
    });
    save("c", [](RunRecord& record) { record.problem = "gemm"; });
    const Response page = get("/compare", {{"a", "a"}, {"b", "b"}});
    EXPECT_EQ(page.status, 200);
    EXPECT_THAT(page.body, HasSubstr("The second is 1.30× as fast as the first"));
    EXPECT_EQ(get("/compare", {{"a", "a"}, {"b", "c"}}).status, 400);
    EXPECT_EQ(get("/compare", {{"a", "a"}}).status, 404);
    EXPECT_THAT(get("/runs/a").body, HasSubstr("<option value=\"b\">"));
    EXPECT_THAT(get("/runs/a").body, Not(HasSubstr("<option value=\"c\">")));
}

TEST_F(ServeSite, TextsOfOthersDoNothing) {
    const std::string evil = "<script>alert(1)</script>\"'><img src=x onerror=y>";
    save("x\"><u>", [&](RunRecord& record) {
        record.problem = record.note = record.headline_baseline = record.verification = evil;
        record.strategies[0].id = record.strategies[0].reason = record.strategies[0].proposer = evil;
        record.history[0].kernel = record.history[5].evidence = evil;
        record.kernels[0].id = record.kernels[0].source = record.kernels[0].author = evil;
        record.shapes[0].label = record.shapes[0].kernel = evil;
        record.shapes[0].baselines[evil] = 1;
        record.model_costs[evil] = 1;
        record.regimes[0].condition = record.compiler = record.machine.cpu = evil;
    });
    for (const Outcome outcome : {Outcome::improved, Outcome::running, Outcome::failed}) {
        Store store(options_.store);
        RunRecord record = *store.load_named("x\"><u>");
        record.outcome = outcome;
        store.save_run(record);
        for (const Response& page :
             {get("/"), get("/", {{"problem", evil}}), get("/runs/x\"><u>"), get("/runs/x\"><u>/progress"),
              get("/runs/x\"><u>/kernels/" + evil), get("/runs/" + evil), get("/" + evil), get("/knowledge"),
              get("/knowledge", {{"hardware", evil}}), get("/compare", {{"a", "x\"><u>"}, {"b", "x\"><u>"}}),
              get("/compare", {{"a", evil}})}) {
            EXPECT_THAT(page.body, Not(HasSubstr("<script>alert")));
            EXPECT_THAT(page.body, Not(HasSubstr("<img")));
            EXPECT_THAT(page.body, Not(HasSubstr("\"><u>")));
        }
    }
}

TEST_F(ServeSite, NamesThatAreNoRunsAreNotFound) {
    save("softmax-1");
    for (const char* path :
         {"", "/runs", "/runs/", "/runs//", "/runs/%", "/runs/../../etc/passwd", "/runs/' OR '1'='1", "/api",
          "/api/runs/", "/api/runs/none", "/runs/softmax-1/none", "/runs/softmax-1/kernels/", "//runs/softmax-1"})
        EXPECT_EQ(get(path).status, 404) << path;
}

TEST_F(ServeSite, DocumentsThatAreNotThereSaySoInJson) {
    const Response none = get("/api/runs/none");
    EXPECT_EQ(none.type, "application/json");
    EXPECT_EQ(Json::parse(none.body)["error"], "there is no run 'none'");
    EXPECT_EQ(Json::parse(get("/api/runs", {{"count", "x"}}).body)["error"], "'x' is not a whole number");
}

TEST_F(ServeSite, EveryPageForbidsWhatItDoesNotNeed) {
    save("softmax-1");
    for (const char* path : {"/", "/runs/softmax-1", "/nothing"}) {
        const Response page = get(path);
        const std::string policy = page.headers.at("Content-Security-Policy");
        EXPECT_THAT(policy, HasSubstr("default-src 'none'"));
        EXPECT_THAT(policy, Not(HasSubstr("unsafe")));
        const std::string nonce = policy.substr(policy.find("nonce-") + 6, 32);
        EXPECT_EQ(count_of(page.body, "<style"), count_of(page.body, "<style nonce=\"" + nonce + "\""));
        EXPECT_THAT(page.body, Not(HasSubstr("style=")));
    }
    EXPECT_NE(get("/").headers.at("Content-Security-Policy"), get("/").headers.at("Content-Security-Policy"));
}

TEST_F(ServeSite, AnswersNothingButTo401WithoutTheToken) {
    options_.access = {"0.0.0.0", "machine", "a-secret-that-is-long", form_token};
    save("softmax-1");
    for (const char* path : {"/", "/runs/softmax-1", "/api/runs", "/nothing"}) {
        const Response page = get(path);
        EXPECT_EQ(page.status, 401);
        EXPECT_THAT(page.body, Not(HasSubstr("softmax")));
    }
    EXPECT_EQ(site().answer(posted("/runs")).status, 401);
    for (const char* wrong :
         {"", "a", "a-secret-that-is-lonG", "a-secret-that-is-long2", "a-secret-that-is-longa-secret-that-is-long"})
        EXPECT_EQ(get("/", {{"token", wrong}}).status, 401) << wrong;

    const Response link = get("/runs/softmax-1", {{"token", "a-secret-that-is-long"}});
    EXPECT_EQ(link.status, 303);
    EXPECT_EQ(link.headers.at("Location"), "/runs/softmax-1") << "the token leaves the address";
    EXPECT_THAT(link.headers.at("Set-Cookie"), HasSubstr("HttpOnly; SameSite=Strict"));
    Request request = asked("/");
    request.headers["cookie"] = "other=1; strop_token=a-secret-that-is-long";
    EXPECT_EQ(site().answer(request).status, 200);
    request.headers = {{"host", "machine:8765"}, {"authorization", "Bearer a-secret-that-is-long"}};
    EXPECT_EQ(site().answer(request).status, 200);
    request.headers["host"] = "elsewhere.example:8765";
    EXPECT_EQ(site().answer(request).status, 403);
}

TEST_F(ServeSite, RefusesOtherHostsAndOrigins) {
    auto status = [&](std::map<std::string, std::string> headers, Request request = asked("/")) {
        for (const auto& [name, value] : headers) request.headers[name] = value;
        return site().answer(request).status;
    };
    for (const char* host : {"localhost:8765", "127.0.0.1", "LOCALHOST:9000", "[::1]:8765"})
        EXPECT_EQ(status({{"host", host}}), 200) << host;
    for (const char* host : {"", "evil.example", "evil.example:8765", "127.0.0.1.evil.example", "127.evil.example",
                             "10.0.0.1:8765", "[", "127.0.0.1:8765, evil.example"})
        EXPECT_EQ(status({{"host", host}}), 403) << host;
    EXPECT_EQ(status({{"origin", "http://127.0.0.1:8765"}}), 200);
    for (const char* origin :
         {"null", "http://evil.example", "http://127.0.0.1:3000", "https://127.0.0.1:8765", "http://localhost:8765"})
        EXPECT_EQ(status({{"origin", origin}}), 403) << origin;
    EXPECT_EQ(status({{"sec-fetch-site", "cross-site"}, {"sec-fetch-mode", "no-cors"}}), 403);
    EXPECT_EQ(status({{"sec-fetch-site", "cross-site"}, {"sec-fetch-mode", "navigate"}}), 200) << "a link";
    EXPECT_EQ(status({{"sec-fetch-site", "same-site"}, {"sec-fetch-mode", "navigate"}}, posted("/runs")), 403);
    EXPECT_EQ(status({{"origin", "http://evil.example"}}, posted("/runs")), 403);
}

TEST_F(ServeSite, ChangesNothingWithoutTheFormToken) {
    write_program("touch " + (folder_.path() / "ran").string() + "\n");
    Request request = posted("/runs", {{"problem", "softmax"}, {"budget", "2m"}});
    request.fields["form_token"] = "ffffffffffffffffffffffffffffffff";
    EXPECT_EQ(site().answer(request).status, 403);
    request.fields.erase("form_token");
    EXPECT_EQ(site().answer(request).status, 403);
    request.method = "PUT";
    EXPECT_EQ(site().answer(request).status, 405);
    EXPECT_EQ(get("/runs", request.fields).status, 404) << "a link starts nothing";
    site_.reset();
    EXPECT_FALSE(fs::exists(folder_.path() / "ran"));
}

TEST_F(ServeSite, StartsOneRunAtATimeAndStopsIt) {
    const fs::path words = folder_.path() / "words";
    write_program("echo \"$@\" > " + words.string() +
                  "\necho run softmax-7\ntrap 'echo saved; exit 130' INT\n"
                  "while true; do sleep 0.05; done\n");
    save("softmax-7", [](RunRecord& record) { record.outcome = Outcome::running; });
    const Response started = site().answer(posted("/runs", {{"problem", "my $(softmax)"}, {"budget", "3s"}}));
    EXPECT_EQ(started.status, 303);
    EXPECT_EQ(started.headers.at("Location"), "/runs/softmax-7");
    EXPECT_EQ(read_file(words), "optimize my $(softmax) --budget 3s --store " + options_.store.shown() + "\n");
    EXPECT_THAT(get("/runs/softmax-7").body, HasSubstr("<button>Stop</button>"));
    EXPECT_EQ(site().answer(posted("/runs", {{"problem", "gemm"}, {"budget", "3s"}})).status, 409);
    EXPECT_EQ(site().answer(posted("/runs/softmax-8/stop")).status, 409) << "it was not started here";
    EXPECT_EQ(site().answer(posted("/runs/softmax-7/stop")).status, 303);
    for (int i = 0; i < 200 && get("/runs/softmax-7/progress").headers.at("X-Strop-Running") == "yes"; ++i)
        std::this_thread::sleep_for(50ms);
    EXPECT_EQ(site().answer(posted("/runs/softmax-7/resume", {{"budget", "1m"}})).status, 303);
    for (int i = 0; i < 200 && !read_file(words).starts_with("resume"); ++i) std::this_thread::sleep_for(50ms);
    EXPECT_EQ(read_file(words), "resume softmax-7 --budget 1m --store " + options_.store.shown() + "\n");
    site_.reset();  // interrupts it and waits
}

TEST_F(ServeSite, SaysWhyARunDidNotStart) {
    write_program("echo \"strop: '$2': no such problem\"; exit 2\n");
    EXPECT_EQ(site().answer(posted("/runs", {{"problem", "nowhere"}, {"budget", "2m"}})).headers.at("Location"), "/");
    EXPECT_THAT(get("/").body, HasSubstr("strop: &#39;nowhere&#39;: no such problem"));
}

TEST_F(ServeSite, RefusesWhatIsNoArgument) {
    write_program("echo run r\n");
    save("done");
    auto status = [&](const std::string& path, const std::map<std::string, std::string>& fields) {
        return site().answer(posted(path, fields)).status;
    };
    EXPECT_EQ(status("/runs", {{"problem", "--help"}, {"budget", "2m"}}), 400);
    EXPECT_EQ(status("/runs", {{"problem", " -x"}, {"budget", "2m"}}), 400);
    EXPECT_EQ(status("/runs", {{"problem", std::string("a\0b", 3)}, {"budget", "2m"}}), 400);
    EXPECT_EQ(status("/runs", {{"problem", "softmax"}, {"budget", "-1s"}}), 400);
    EXPECT_EQ(status("/runs", {{"problem", "softmax"}, {"budget", "soon"}}), 400);
    EXPECT_EQ(status("/runs", {{"problem", ""}, {"budget", "2m"}}), 400);
    EXPECT_EQ(status("/runs/none/resume", {}), 404);
    EXPECT_EQ(status("/runs/done/resume", {}), 409);
    EXPECT_EQ(status("/runs/done", {}), 404);
}

TEST_F(ServeSite, AStoreThatCannotBeReadIsSaid) {
    write_file(options_.store.file(), "this is no database, however long it may be");
    const Response page = get("/");
    EXPECT_EQ(page.status, 503);
    EXPECT_THAT(page.body, HasSubstr("is corrupt"));
}

TEST(ServeDiff, ShowsChangesWithTheirSurroundings) {
    const auto lines = diff("a\nb\nc\nd\ne\nf\ng\nh\ni\n", "a\nb\nC\nd\ne\nf\ng\nh\ni\nj");
    const auto parts = hunks(lines, 1);
    ASSERT_EQ(parts.size(), 2u);
    std::string text;
    for (const DiffLine& line : parts[0])
        text += (line.kind == DiffLine::Kind::removed ? "-"
                 : line.kind == DiffLine::Kind::added ? "+"
                                                      : " ") +
                line.text;
    EXPECT_EQ(text, " b-c+C d");
    EXPECT_EQ(parts[1].back().text, "j");
    EXPECT_EQ(parts[1].back().after, 10u);
    EXPECT_TRUE(hunks(diff("same\n", "same"), 3).empty());
    EXPECT_EQ(hunks(lines, 3).size(), 1u) << "what overlaps is one part";
    EXPECT_EQ(diff("", "a").size(), 2u);
}

TEST(ServeProgress, FindsTheBestSoFar) {
    RunRecord record;
    record.shapes.resize(1);
    record.shapes[0].label = "s";
    record.shapes[0].baselines = {{"numpy", 400}, {"onednn", 200}};
    record.history = {{1, "a", "a", {}, Verdict::ok, "", {{"s", 150}}},
                      {2, "b", "b", {}, Verdict::wrong_output, "", {{"s", 1}}},
                      {3, "b", "b", {}, Verdict::ok, "", {{"s", 100}}}};
    const BestSoFar best = best_so_far(record).at(0);
    EXPECT_EQ(best.kernel, "b");
    EXPECT_EQ(best.nanoseconds, 100);
    EXPECT_EQ(best.baseline, "onednn");
    EXPECT_EQ(seen_of(record, "b").judged, 2);
    EXPECT_EQ(seen_of(record, "b").right, 1);
    EXPECT_DOUBLE_EQ(seen_of(record, "b").speedup, 2);
    EXPECT_EQ(seen_of(record, "c").speedup, 0);
}

// More of them than there are threads that wait for requests: the answer comes before they are given up.
TEST(ServeHttp, ConnectionsThatSayNothingDelayNobody) {
    HttpServer server("127.0.0.1", 0, [](const Request&) { return plain_text(200, "here"); });
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(server.port()));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto connected = [&] {
        const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
        EXPECT_EQ(::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
        return socket;
    };
    std::vector<int> silent;
    for (int i = 0; i < 40; ++i) silent.push_back(connected());
    const int speaking = connected();
    const std::string request = "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n";
    ASSERT_EQ(::send(speaking, request.data(), request.size(), 0), static_cast<ssize_t>(request.size()));
    std::string answer(4096, '\0');
    answer.resize(static_cast<size_t>(std::max<ssize_t>(0, ::recv(speaking, answer.data(), answer.size(), 0))));
    EXPECT_THAT(answer, HasSubstr("200 OK"));
    char byte;
    EXPECT_EQ(std::count_if(silent.begin(), silent.end(),
                            [&](int socket) { return ::recv(socket, &byte, 1, MSG_DONTWAIT) == 0; }),
              0)
        << "the server has closed them";
    for (int socket : silent) ::close(socket);
    ::close(speaking);
}

TEST(ServeHttp, TwoDoNotShareAPort) {
    auto nothing = [](const Request&) { return plain_text(200, ""); };
    HttpServer first("127.0.0.1", 0, nothing);
    EXPECT_GT(first.port(), 0);
    EXPECT_THROW(HttpServer("127.0.0.1", first.port(), nothing), EnvironmentError);
    EXPECT_THROW(HttpServer("no.such.name.invalid", 0, nothing), EnvironmentError);
}

}  // namespace
}  // namespace strop::serve
