// What comes through the worker's pipe and through its children's.
#include <cstdlib>
#include <cstring>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/file.h"
#include "base/strings.h"
#include "device/machine.h"
#include "judge/answer.h"
#include "judge/program_copy.h"
#include "judge/worker.h"
#include "judge/worker_command.h"
#include "judge/worker_greeting.h"
#include "judge/worker_message.h"
#include "problem/loader.h"

namespace strop::judge {
namespace {

using testing::AnyOf;
using testing::Contains;
using testing::ContainsRegex;
using testing::Each;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::Not;
using testing::StartsWith;

std::string complaint(const std::string& line) {
    static const Problem problem = load_problem(STROP_SOURCE_DIR "/problems/softmax");
    try {
        check_message(parse_message(replace_all(line, "'", "\"")), problem);
    } catch (const UsageError& error) {
        return error.what();
    }
    return "none";
}

std::string evaluate(const std::string& space, const std::string& configuration) {
    return "{'op': 'evaluate', 'requests': [{'kernel': {'id': 'k', 'space': {'tunables': [" + space +
           "]}}, 'configuration': {" + configuration + "}, 'points': [{'dims': {'M': 8, 'N': 8}}]}]}";
}

TEST(WorkerMessage, names_what_the_problem_does_not_have) {
    EXPECT_EQ(complaint("{'op': 'vectors', 'points': [{'label': 'a', 'dims': {'M': 8, 'N': 8}}]}"), "none");
    EXPECT_EQ(complaint("{'op': 'vectors', 'points': [{'label': 'a', 'dims': {'M': 8}}]}"),
              "worker: the shape 'a' (M=8) is none of the problem's");
    EXPECT_EQ(complaint("{'op': 'vectors', 'points': [{'label': 'a', 'dims': {'M': -8, 'N': 8}}]}"),
              "softmax: extent 'M' of 'x' is -8 at M=-8,N=8");
    EXPECT_EQ(complaint("{'op': 'open', 'folder': '/p', 'files': {}, 'seed': 1, 'reference_limit': -2}"),
              "worker: reference_limit -2 is no time to wait");
    EXPECT_EQ(complaint("{'op': 'machine', 'lasting': -2}"), "worker: lasting -2 is no time to wait");
    EXPECT_EQ(complaint("{'op': 'files', 'files': {'a.py': 'nonsense!'}}"),
              "worker: the content of 'a.py' is not in base64");
    EXPECT_EQ(complaint("{'op': 'compare', 'request': {'seconds_per_point': 'inf'}}"),
              "worker: seconds_per_point is inf");
    EXPECT_EQ(complaint("{'op': 'compare', 'request': {'seconds_per_point': -1}}"), "worker: seconds_per_point is -1");
    EXPECT_EQ(complaint("{'op': 'compare', 'request': {'patience_seconds': -1}}"), "worker: patience_seconds is -1");
    EXPECT_EQ(complaint("{'op': 'sanitize', 'request': {'points': [{'label': 'a', 'dims': {'M': 8}}]}, 'seconds': 3}"),
              "worker: the shape 'a' (M=8) is none of the problem's");
    EXPECT_EQ(complaint("{'op': 'sanitize', 'request': {}, 'seconds': 0}"), "worker: seconds 0 is no time to wait");
    EXPECT_EQ(complaint("{'op': 'shave'}"), "worker: unknown op 'shave'");
}

TEST(WorkerMessage, kernels_have_the_values_of_their_spaces) {
    const std::string late = "{'name': 'KC', 'values': [1, 2], 'kind': 'late'}";
    EXPECT_EQ(complaint(evaluate(late, "'KC': 2")), "none");
    EXPECT_EQ(complaint(evaluate(late, "")), "none");
    EXPECT_EQ(complaint(evaluate(late, "'KC': 'two'")), "worker: 'two' is not a value of 'KC' in kernel 'k'");
    EXPECT_EQ(complaint(evaluate(late, "'MR': 2")), "worker: kernel 'k' has no tunable 'MR'");
    EXPECT_EQ(complaint(evaluate("{'name': 'KC', 'values': [1.5], 'kind': 'late'}", "")),
              "worker: 'KC' is no tunable of kernel 'k'");
    EXPECT_EQ(complaint(evaluate("{'name': 'KC', 'values': []}", "")), "worker: 'KC' is no tunable of kernel 'k'");
    EXPECT_EQ(complaint(evaluate("{'name': 'K C', 'values': [1]}", "")), "worker: 'K C' is no tunable of kernel 'k'");
}

// What a worker answers to these lines.
std::vector<Json> answers(const std::string& lines) {
    std::istringstream in(replace_all(lines, "'", "\""));
    std::ostringstream out;
    serve_worker(in, out);
    std::vector<Json> all;
    for (const std::string& line : split(trim(out.str()), '\n')) all.push_back(Json::parse(line));
    return all;
}

TEST(Worker, greets_with_its_version_and_its_machine) {
    const Greeting greeting = greeting_from_json(answers("{'op': 'hello'}").front());
    EXPECT_EQ(greeting.strop, this_version());
    EXPECT_EQ(greeting.protocol, worker_protocol);
    EXPECT_EQ(greeting.machine.fingerprint, detect_machine().fingerprint);
    EXPECT_NE(greeting.toolchain, "");
}

TEST(Worker, says_that_it_works_until_it_answers) {
    std::istringstream in("{\"op\": \"languages\"}\n");
    std::ostringstream out;
    serve_worker(in, out, Seconds(0));
    const std::vector<std::string> lines = split(trim(out.str()), '\n');
    EXPECT_GT(lines.size(), 1u);
    for (size_t i = 0; i + 1 < lines.size(); ++i) EXPECT_EQ(lines[i], working_line);
    EXPECT_TRUE(Json::parse(lines.back()).contains("languages"));
}

TEST(Worker, wants_files_that_it_does_not_have_and_takes_none_that_lead_out) {
    const std::string open = "{'op': 'open', 'folder': '/nowhere', 'files': {'reference.py': 'x'}, 'seed': 1}\n";
    EXPECT_TRUE(answers(open).front().contains("wanted"));
    for (const char* name : {"../a.py", "/tmp/a.py", "b/../../a.py", "", "."}) {
        const Json answer = answers(std::string("{'op': 'files', 'files': {'") + name + "': 'YQ=='}}\n").front();
        EXPECT_EQ(answer.at("error").at("phrase"), std::string("'") + name + "' is no file of a problem's folder");
    }
}

TEST(WorkerCommand, is_split_as_a_shell_splits) {
    using Words = std::vector<std::string>;
    EXPECT_EQ(split_words("  ssh -p 22  gpu1 strop\tworker "), (Words{"ssh", "-p", "22", "gpu1", "strop", "worker"}));
    EXPECT_EQ(split_words(R"(sh -c 'a "b" \c' "d '\"' $e" f\ g '')"),
              (Words{"sh", "-c", R"(a "b" \c)", R"(d '"' $e)", "f g", ""}));
    EXPECT_EQ(split_words(" "), Words{});
    EXPECT_THROW(split_words("sh -c 'a"), UsageError);
}

TEST(WorkerCommand, several_that_start_alike_have_numbers) {
    std::vector<std::string> names;
    for (const WorkerCommand& command :
         worker_commands({"ssh a strop worker", "ssh b strop worker", "ssh a strop worker"}, ""))
        names.push_back(command.label());
    EXPECT_EQ(names,
              (std::vector<std::string>{"ssh a strop worker #1", "ssh b strop worker", "ssh a strop worker #2"}));
}

TEST(WorkerCommand, a_place_is_a_command_that_leads_elsewhere_and_names_no_worker) {
    using Words = std::vector<std::string>;
    auto command = [](const std::string& given) { return worker_command(given, ""); };
    const WorkerCommand ssh = command("/usr/bin/ssh -p 22 gpu1");
    EXPECT_EQ(ssh.place, (Words{"/usr/bin/ssh", "-p", "22", "gpu1"}));
    EXPECT_EQ(ssh.folder, ".cache/strop");
    EXPECT_EQ(ssh.argv, Words{});
    EXPECT_EQ(ssh.name(), "the worker '/usr/bin/ssh -p 22 gpu1'");
    for (const char* place : {"docker exec -i box", "podman exec -i box", "kubectl exec -i pod --"})
        EXPECT_EQ(command(place).folder, ".cache/strop") << place;
    EXPECT_EQ(command("srun -n1").folder, std::string(std::getenv("HOME")) + "/.cache/strop");
    for (const char* start : {"ssh gpu1 strop worker", "ssh gpu1 ./start-worker", "nsenter -t 7 -a", "/srv/ssh.sh x"}) {
        EXPECT_EQ(command(start).place, Words{}) << start;
        EXPECT_EQ(command(start).argv, split_words(start));
    }
}

// What workers.yaml with this text complains of at the name `a`, without the file's name.
std::string complaint_of_file(const std::string& text) {
    const TemporaryFolder folder;
    const fs::path file = folder.path() / "workers.yaml";
    write_file(file, text);
    try {
        worker_command("a", file);
    } catch (const UsageError& error) {
        return std::string(error.what()).substr(file.string().size());
    }
    return "none";
}

TEST(WorkerCommand, a_file_says_where_a_copy_goes) {
    EXPECT_EQ(complaint_of_file("a: {at: ssh gpu1, folder: /scratch/me/strop}\n"), "none");
    EXPECT_EQ(complaint_of_file("a: {at: flux exec -r 1}\n"), "none");
    EXPECT_EQ(complaint_of_file("a: {wait: 3s}\n"), ":1: 'a' has no 'start' and no 'at'");
    EXPECT_EQ(complaint_of_file("a:\n  start: ssh b strop worker\n  at: ssh b\n"), ":3: 'a' has both 'start' and 'at'");
    EXPECT_EQ(complaint_of_file("a: {start: ssh b strop worker, folder: c}\n"),
              ":1: 'folder' is where a copy goes, and only 'at' makes one");
    EXPECT_EQ(complaint_of_file("a: {at: ' '}\n"), ":1: 'at' is empty");
    for (const char* path : {"~/strop", "my strop", "$HOME/strop", "-p", "a;b"})
        EXPECT_EQ(complaint_of_file(std::string("a: {at: ssh b, folder: '") + path + "'}\n"),
                  std::string(":1: 'folder' is no plain path: '") + path + "'");
}

TEST(WorkerCommand, a_file_says_which_languages_a_worker_is_for) {
    const TemporaryFolder folder;
    const fs::path file = folder.path() / "workers.yaml";
    EXPECT_TRUE(worker_names(file).empty());
    write_file(file, "h100: {at: ssh gpu1, languages: [cuda, triton]}\nany: {start: ssh a strop worker}\n");
    EXPECT_EQ(worker_names(file), (std::vector<std::string>{"h100", "any"}));
    EXPECT_EQ(worker_command("h100", file).languages, (std::vector<Language>{Language::cuda, Language::triton}));
    EXPECT_TRUE(worker_command("any", file).languages.empty());
    EXPECT_EQ(complaint_of_file("a: {at: ssh b, languages: [cuba]}\n"), ":1: 'cuba' is no language of kernels");
    EXPECT_EQ(complaint_of_file("a: {at: ssh b, languages: []}\n"), ":1: 'languages' is empty");
}

TEST(ProgramCopy, holds_what_a_worker_reads_and_the_libraries_that_it_needs) {
    std::vector<std::string> names;
    for (const CopiedFile& file : copied_files()) names.push_back(file.name);
    EXPECT_THAT(names, IsSupersetOf({"bin/strop", "bin/strop-worker", "bin/strop-candidate",
                                     "share/strop/python/strop/host.py", "share/strop/src/device/ceilings_main.cpp",
                                     "share/strop/src/language/cuda_emulator/block.h"}));
    EXPECT_THAT(names, Contains(StartsWith("lib/libhwloc.so")));
    EXPECT_THAT(names, Each(Not(AnyOf(StartsWith("lib/libc.so"), StartsWith("lib/libstdc++"), HasSubstr("__pycache__"),
                                      StartsWith("lib/ld-linux"), EndsWith(".yaml")))));
    EXPECT_EQ(copy_hash().size(), 32u);
    EXPECT_EQ(copy_hash(), copy_hash());
}

TEST(ProgramCopy, is_packed_as_files) {
    sandbox::Command list;
    list.argv = {"tar", "-tvzf", "-"};
    const sandbox::Finished listed = sandbox::run(list, copy_archive());
    ASSERT_TRUE(listed.ok()) << listed.err;
    for (const std::string& line : split(trim(listed.out), '\n'))
        EXPECT_THAT(line, AnyOf(StartsWith("-"), StartsWith("d")));
    EXPECT_THAT(listed.out, ContainsRegex("-rwx.* bin/strop\n"));
}

TEST(WorkerAnswer, reports_failures_with_their_exit_code) {
    auto code = [](const std::string& line) {
        try {
            parse_answer(line);
        } catch (const Error& error) {
            return error.code();
        }
        return Exit::improved;
    };
    EXPECT_EQ(code(R"({"error": {"phrase": "a", "hint": "b", "exit": 3}})"), Exit::environment);
    EXPECT_EQ(code(R"({"error": {"phrase": "a", "hint": "b", "exit": 0}})"), Exit::bug);
    EXPECT_EQ(code("nonsense"), Exit::bug);
    EXPECT_EQ(code("[]"), Exit::bug);
    EXPECT_EQ(code("{}"), Exit::improved);
}

// A child that has written `bytes` and gone.
struct Written {
    std::string bytes;
    sandbox::Child::Wait operator()(void* data, size_t size) {
        if (size > bytes.size()) return sandbox::Child::Wait::closed;
        std::memcpy(data, bytes.data(), size);
        bytes.erase(0, size);
        return sandbox::Child::Wait::ready;
    }
};

std::string reply(int32_t status, const std::string& text, uint32_t announced) {
    Reply head{status, announced, 0};
    return std::string(reinterpret_cast<const char*>(&head), sizeof head) + text;
}

TEST(ChildAnswer, a_long_text_is_cut_and_the_next_reply_is_found) {
    Receive receive = Written{reply(1, std::string(200000, 'a'), 200000) + reply(3, "b", 1)};
    Answer answer;
    ASSERT_EQ(read_answer(receive, answer), sandbox::Child::Wait::ready);
    EXPECT_EQ(answer.text, std::string(longest_text, 'a'));
    ASSERT_EQ(read_answer(receive, answer), sandbox::Child::Wait::ready);
    EXPECT_EQ(answer.reply.status, 3);
    EXPECT_EQ(answer.text, "b");
}

TEST(ChildAnswer, what_was_announced_and_never_came_is_no_answer) {
    Receive receive = Written{reply(1, "abc", 0xffffffff)};
    Answer answer;
    EXPECT_EQ(read_answer(receive, answer), sandbox::Child::Wait::closed);
    EXPECT_EQ(answer.text, "");
}

TEST(WorkerMessage, a_batch_holds_each_kernel_once) {
    std::vector<EvaluationRequest> requests(5);
    for (size_t i = 0; i < requests.size(); ++i) {
        requests[i].kernel.id = i % 2 ? "odd" : "even";
        requests[i].kernel.source = "// the " + requests[i].kernel.id + " one";
        requests[i].configuration = {{"UNROLL", static_cast<int64_t>(i)}};
        requests[i].best_ns = {{"small", 3.0}};
    }
    requests[4].kernel.source = "// of the same name";
    const std::string line = evaluate_line(requests);
    for (const char* source : {"the odd one", "the even one", "of the same name"})
        EXPECT_EQ(split(replace_all(line, source, "\n"), '\n').size(), 2u) << source;
    const auto read = std::get<EvaluateMessage>(parse_message(line));
    EXPECT_EQ(Json(read.requests), Json(requests));
    EXPECT_THROW(parse_message(replace_all(line, "\"kernel\":2", "\"kernel\":3")), UsageError);
    EXPECT_THROW(parse_message(replace_all(line, "\"kernel\":2", "\"kernel\":-1")), UsageError);
}

TEST(ChildAnswer, its_text_commands_no_terminal) {
    const std::string text =
        "\x1b[2Ja\tb\n\xc2\x9b"
        "c\x7f \xc3\xa9";
    Receive receive = Written{reply(1, text, static_cast<uint32_t>(text.size()))};
    Answer answer;
    ASSERT_EQ(read_answer(receive, answer), sandbox::Child::Wait::ready);
    EXPECT_EQ(answer.text, "?[2Ja\tb\n??c? \xc3\xa9");
}

TEST(ChildAnswer, only_a_host_can_be_unsupported) {
    EXPECT_EQ(verdict_of({0, 0, 0}, false), Verdict::ok);
    EXPECT_EQ(verdict_of({2, 0, 0}, true), Verdict::unsupported);
    EXPECT_EQ(verdict_of({2, 0, 0}, false), Verdict::crashed);
    EXPECT_EQ(verdict_of({3, 0, 0}, false), Verdict::cheated);
    EXPECT_EQ(verdict_of({-7, 0, 0}, true), Verdict::crashed);
}

TEST(ChildAnswer, who_is_done_has_nothing_to_add) {
    EXPECT_EQ(verdict_of({0, 1, 0}, false), Verdict::cheated);
    EXPECT_EQ(verdict_of({0, 1 << 20, 0}, true), Verdict::cheated);
}

}  // namespace
}  // namespace strop::judge
