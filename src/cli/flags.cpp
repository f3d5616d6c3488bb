#include "cli/flags.h"

#include "base/error.h"
#include "base/strings.h"
#include "cli/commands.h"
#include "cli/flags_listening.h"
#include "cli/flags_models.h"

#include <fmt/format.h>

namespace strop::cli {

namespace {

const Flag json_flag = {"--json", "", "print one JSON document instead of text"};
const Flag store_flag = {"--store", "FILE",
                         "the file that holds all runs ($STROP_STORE, else strop-out/strop.db), or a database of a "
                         "PostgreSQL server: postgresql://USER@HOST/DATABASE (docs/knowledge.md)",
                         Kind::file, ""};
const Flag store_wait_flag = {"--store-wait", "DURATION", "for the store's server, where it goes away in between",
                              Kind::duration, "60s"};
const Flag share_flag = {
    "--share",
    "HOW",
    "screenings with other runs of the store that go on meanwhile, on the same problem and kind of "
    "machine: yes, no, or auto (yes where the store is a server)",
    Kind::choice,
    "auto",
    {"auto", "yes", "no"}};
const Positional problem_position = {
    "PROBLEM", "a folder with problem.yaml, the name of one in problems/, or what `strop import` takes", true, false,
    Completes::problems};
const Positional run_position = {"RUN",
                                 "a run's name, or its first letters where they are unique; `strop runs` lists them",
                                 true, false, Completes::runs};
const Flag winners_flag = {"--winners", "N",
                           "kernels and configurations that the dispatch chooses from, at most; 1: one for all shapes",
                           Kind::count, "5"};
const Flag dtype_flag = {
    "--dtype",    "TYPE", "of a PyTorch module: move it and its floating inputs there first, as .to(TYPE) does",
    Kind::choice, "",     {"bfloat16", "float16"}};
const Flag quiet_flag = {"--quiet", "", "no progress, only the result"};
const Flag verbose_flag = {"--verbose", "", "diagnostics on standard error"};
const std::vector<std::string> shells = {"bash", "zsh", "fish"};
const std::vector<std::string> formats = {"terminal", "markdown", "html", "json"};

const Flag worker_flag = {
    "--worker", "COMMAND",
    "measure elsewhere: at a place that Strop is copied to where it is missing (\"ssh gpu1\"), where "
    "a command starts `strop worker` (\"ssh gpu1 strop worker\"), or at a name in workers.yaml "
    "(docs/workers.md)",
    Kind::text, ""};
const Flag workers_flag = {
    "--worker", "COMMAND", worker_flag.help + "; may be repeated, they share the work", Kind::text, "", {}, true};
const Flag worker_wait_flag = {"--worker-wait", "DURATION",
                               "for the worker's first answer, where a queue comes before it", Kind::duration, "60s"};

CommandSpec optimize() {
    return {
        "optimize",
        "find the fastest kernel for a problem, prove it correct, write a report",
        {{problem_position.name, problem_position.help + "; several run one after another", true, true,
          Completes::problems}},
        joined(
            {{"--budget", "DURATION",
              "time for baselines, search and dispatch, of several problems for each; the proof of what was found "
              "comes on top",
              Kind::duration, "2m"},
             {"--jobs",
              "HOW",
              "of several problems: each (the budget is for each), or auto (they share it: each begins with an equal "
              "part, and the rest goes where most is to be gained)",
              Kind::choice,
              "each",
              {"each", "auto"}},
             {"--on",
              "SCHEDULER",
              "slurm or k8s (Kubernetes): as one job there, a task for each problem, in a folder that the nodes share "
              "(docs/workers.md)",
              Kind::choice,
              "",
              {"slurm", "k8s"}},
             {"--slurm", "FLAGS", "of sbatch, for --on slurm: \"--partition=cpu -c16\"", Kind::words, ""},
             {"--k8s", "FILE",
              "the pod that --on k8s runs each problem in, as kubectl takes one: image, volumes, resources", Kind::file,
              ""},
             {"--continue", "",
              "go on with what the same command left, or show it where it ended; a batch always does"},
             {"--evaluations", "N", "judge at most N configurations; 0: no limit", Kind::whole, "0"},
             {"--rounds", "N", "rounds of deepening", Kind::count, "8"},
             {"--beam", "N", "strategies that are deepened in each round", Kind::count, "4"},
             {"--target-speedup", "X", "stop at X times the best baseline; 0: never", Kind::number, "0"},
             {"--min-improvement", "X", "a round that gains less is a plateau; 0.01 is 1%", Kind::number, "0.01"},
             winners_flag,
             {"--kernel",
              "FILE",
              "a kernel of your own: it competes, and the report compares with it; may be repeated",
              Kind::file,
              "",
              {},
              true},
             {"--device",
              "DEVICE",
              "what kernels run on: cpu (C++), opencl (OpenCL programs on the system's first device), cuda "
              "(CUDA C++ on the first GPU), or a worker in workers.yaml, for its `languages`",
              Kind::choice,
              "cpu",
              {"cpu", "opencl", "cuda"},
              false,
              true},
             {"--for", "TARGETS",
              "one result for several instruction sets, of which it chooses at run time: cpu-avx2,cpu-avx512, native; "
              "TARGET@WORKER: measured by that one of workers.yaml. --budget is for each",
              Kind::text, ""},
             dtype_flag,
             {"--no-knowledge", "", "use nothing that earlier runs found"},
             {"--knowledge", "PATH",
              "use what this store, or a folder of `strop knowledge export`, holds instead of the own store's runs",
              Kind::file, ""},
             {"--seed", "N", "of every random choice", Kind::whole, "0"},
             {"--out", "DIR", "where the result goes (strop-out/NAME); of several problems, or with --on, DIR/NAME",
              Kind::folder, ""},
             store_flag,
             store_wait_flag,
             share_flag,
             {"--point", "LABEL", "only this shape of the sweep; may be repeated", Kind::text, "", {}, true},
             workers_flag,
             worker_wait_flag,
             json_flag,
             quiet_flag,
             verbose_flag},
            model_flags()),
        {{"./strop optimize problems/softmax --budget 60s", "a minute of search; the result is in strop-out/softmax"},
         {"./strop optimize softmax --model anthropic/claude-opus-5 --max-cost 2",
          "a model's ideas compete with the playbook's"},
         {"./strop optimize softmax --model compatible/qwen3 --base-url http://127.0.0.1:8080/v1",
          "a model on this machine"},
         {"./strop optimize softmax --kernel mine.cpp", "begin with a kernel that you have, and beat it"},
         {"./strop optimize softmax --device opencl", "OpenCL programs, on the system's first OpenCL device"},
         {"./strop optimize softmax --device cuda", "CUDA C++, on the first GPU"},
         {"./strop optimize softmax --for cpu-avx2,cpu-avx512", "one library for both kinds of processors"},
         {"./strop optimize softmax --point small --point large", "two shapes of the sweep only"},
         {"./strop optimize problems/* --budget 5m",
          "one after another; the same command again goes on where it stopped"},
         {"./strop optimize problems/* --on slurm --slurm \"--partition=cpu\"", "each as a task of a Slurm cluster"},
         {"./strop optimize problems/* --on k8s --k8s pod.yaml", "each as a pod of a Kubernetes job"},
         {"./strop optimize problems/* --jobs auto --budget 1h", "an hour for all of them"},
         {"./strop optimize softmax --target-speedup 3 --json > run.json", "stop when it is three times as fast"}},
        command_optimize};
}

CommandSpec judge() {
    return {
        "judge",
        "compile, check and time kernels against the baselines",
        {{"KERNEL",
          "a source file in C++, OpenCL (.cl), CUDA (.cu) or Python (.py); of several each is judged by the same "
          "referee",
          true, true}},
        {{"--problem", "DIR", "the problem that it should solve (default: the kernel's own folder)", Kind::folder, ""},
         {"--set", "NAME=VALUE", "a tunable's value; may be repeated", Kind::assignment, "", {}, true},
         {"--per-shape", "DURATION", "time for comparing with the baselines at a shape; close cases need more",
          Kind::duration, "500ms"},
         {"--device",
          "DEVICE",
          "of CUDA kernels (.cu): cuda, the first GPU, or a worker in workers.yaml, for its `languages`; "
          "of these and of Triton (.py): emulated, on the processor, checked and not timed",
          Kind::choice,
          "",
          {"cuda", "emulated"},
          false,
          true},
         {"--sanitize", "", "run it under AddressSanitizer, UndefinedBehaviorSanitizer and ThreadSanitizer too"},
         {"--seed", "N", "of the inputs and of the shapes that nobody listed: as they were in an earlier judgement",
          Kind::whole, ""},
         worker_flag,
         worker_wait_flag,
         {"--progress", "", "say what is being done, also where standard error is no terminal"},
         json_flag},
        {{"./strop judge softmax.cpp --problem problems/softmax", "is it right, and how fast?"},
         {"./strop judge softmax.cpp --problem softmax --set UNROLL=4", "the same with another configuration"},
         {"./strop judge softmax.py --problem softmax", "a function of NumPy arrays or PyTorch tensors"},
         {"./strop judge softmax.cu --problem softmax --device cuda", "a CUDA kernel on the first GPU"},
         {"./strop judge softmax.cu --problem softmax --device emulated", "a CUDA kernel without a GPU: is it right?"},
         {"./strop judge old.cpp new.cpp --problem softmax", "several; then in turns: what does the second gain?"}},
        command_judge};
}

CommandSpec check() {
    return {"check",
            "judge results again: still right, and no slower than their reports say? For continuous integration",
            {{"RESULT", "a result folder, or the report.json in it (default: all in strop-out)", false, true}},
            {{"--problem", "DIR", "the problem, where it lies elsewhere than at the run", Kind::folder, ""},
             {"--baseline", "FILE", "hold results to this earlier `strop check --json` in place of their reports",
              Kind::file, ""},
             {"--fail-below", "X", "another way to give --tolerance: 0.95 fails what does less than 95% of before",
              Kind::number, ""},
             {"--tolerance", "X", "a shape is slower when the whole interval of its change is; 0.05 is 5%",
              Kind::number, "0.05"},
             {"--per-shape", "DURATION", "time for comparing with the baselines at a shape; smaller changes need more",
              Kind::duration, "500ms"},
             {"--junit", "FILE", "also write JUnit's XML there", Kind::file, ""},
             {"--markdown", "FILE", "also write a summary for a pull request there", Kind::file, ""},
             worker_flag,
             worker_wait_flag,
             json_flag},
            {{"./strop check strop-out/softmax", "exit code 1 when it is wrong or slower at a shape"},
             {"./strop check strop-out/* --tolerance 0.1 --json > check.json", "several, one document"},
             {"./strop check --baseline check.json --fail-below 0.95 --junit junit.xml", "for continuous integration"}},
            command_check};
}

CommandSpec compare() {
    return {"compare",
            "two results of one problem: the ratios of each shape, and who is faster",
            {{"OLD", "a result folder, or the report.json in it", true}, {"NEW", "another of the same problem", true}},
            {{"--tolerance", "X", "changes below it are undecided; 0.05 is 5%", Kind::number, "0.01"}, json_flag},
            {{"./strop compare before/softmax strop-out/softmax", "from the reports; nothing is measured"}},
            command_compare};
}

CommandSpec profile() {
    return {"profile",
            "why a kernel takes as long as it does: ceilings, threads, hot loops, and the change to try next",
            {{"KERNEL", "a C++ source file", true}},
            {{"--problem", "DIR", "the problem that it solves (default: the kernel's own folder)", Kind::folder, ""},
             {"--set", "NAME=VALUE", "a tunable's value; may be repeated", Kind::assignment, "", {}, true},
             {"--point", "LABEL", "only this shape of the sweep; may be repeated", Kind::text, "", {}, true},
             {"--html", "FILE", "write a page with the roofline and the hot loops' instructions", Kind::file, ""},
             worker_flag,
             worker_wait_flag,
             json_flag},
            {{"./strop profile softmax.cpp --problem softmax --point large", "what limits it at one shape?"},
             {"./strop profile softmax.cpp --problem softmax --html softmax.html", "with pictures and assembly"}},
            command_profile};
}

CommandSpec tune() {
    return {
        "tune",
        "turn the tunables of one kernel, or replay a search on a measured space",
        {{"KERNEL", "a source file with `// strop:tune` comments; one in CUDA (.cu) runs on the first GPU", false}},
        {{"--problem", "DIR", "the problem that it solves (default: the kernel's own folder)", Kind::folder, ""},
         {"--budget", "DURATION", "wall-clock time for the whole run", Kind::duration, "2m"},
         {"--evaluations", "N", "measure at most N configurations; 0: no limit", Kind::whole, "0"},
         {"--exhaustive", "", "go on where little is left to gain, until every configuration was measured"},
         winners_flag,
         {"--seed", "N", "of every random choice", Kind::whole, "0"},
         {"--out", "DIR", "where the result goes (strop-out/NAME)", Kind::folder, ""},
         store_flag,
         store_wait_flag,
         share_flag,
         {"--point", "LABEL", "only this shape of the sweep; may be repeated", Kind::text, "", {}, true},
         {"--replay", "FILE",
          "search this measured space instead of measuring: a cache of Kernel Tuner, T4 or "
          "results of KTT, plain or gzip",
          Kind::file, ""},
         {"--earlier",
          "FILE",
          "with --replay: a measured space to learn from; may be repeated",
          Kind::file,
          "",
          {},
          true},
         {"--space", "FILE",
          "count and show the configurations of a T1 description or of a script of Kernel Tuner (.py)", Kind::file, ""},
         {"--explain", "", "which tunables matter, and the best configurations"},
         {"--export", "FILE", "write what was measured there, or the space", Kind::file, ""},
         {"--format",
          "FORMAT",
          "of --export: kernel-tuner, t4, or t1 (the space without what was measured)",
          Kind::choice,
          "kernel-tuner",
          {"kernel-tuner", "t4", "t1"}},
         workers_flag,
         worker_wait_flag,
         json_flag,
         quiet_flag,
         verbose_flag},
        {{"./strop tune kernel.cpp --problem softmax --explain", "its best configuration, and what matters"},
         {"./strop tune kernel.cpp --problem softmax --export cache.json", "for other tools to read"},
         {"./strop tune --replay cache.json --evaluations 100 --seed 1", "how a search would have done"}},
        command_tune};
}

CommandSpec suggest() {
    return {
        "suggest",
        "ask a language model for values of a kernel's tunables",
        {{"KERNEL", "a C++ source file with `// strop:tune` comments"}},
        joined({{"--problem", "DIR", "the problem that it solves (default: the kernel's own folder)", Kind::folder, ""},
                {"--count", "N", "configurations", Kind::count, "4"},
                json_flag},
               choosing_flags()),
        {{"./strop suggest kernel.cpp --problem softmax --model exec:./agent", "nothing is measured"},
         {"./strop judge kernel.cpp --problem softmax --set BLOCK=32", "is it any good?"}},
        command_suggest};
}

CommandSpec import_module() {
    return {"import",
            "the problem folder of a file of others, to change its shapes, ranges and tolerance",
            {{"FILE",
              "a Python file with Model(nn.Module), get_inputs() and get_init_inputs(), one with an operator of "
              "TritonBench and its test, a definition of flashinfer-bench (.json), or a folder with a task of GPU MODE "
              "(task.yml)",
              true},
             {"DIR", "where problem.yaml, reference.py and what they need go", true}},
            {dtype_flag,
             {"--reference", "FILE:FUNCTION",
              "what an operator of TritonBench computes, in PyTorch or NumPy, where its Triton kernels cannot run",
              Kind::text, ""}},
            {{"./strop import block.py my_block", "then edit my_block/problem.yaml"},
             {"./strop import scan_kernel.py scan --reference plain.py:scan", "its test says what with, plain.py what"},
             {"./strop optimize my_block", "as any problem"}},
            command_import};
}

CommandSpec write() {
    return {"write",
            "the sources of the playbook's strategies for a problem; nothing is compiled or measured",
            {problem_position},
            {{"--language",
              "LANGUAGE",
              "cpp, opencl, cuda, triton or tilelang",
              Kind::choice,
              "cpp",
              {"cpp", "opencl", "cuda", "triton", "tilelang"}},
             {"--strategy", "ID", "print that one's source; without it strategies are listed", Kind::text, ""},
             {"--out", "DIR", "write a file for each strategy, or for the one of --strategy, there", Kind::folder, ""},
             json_flag},
            {{"./strop write softmax --language triton", "which strategies are there?"},
             {"./strop write softmax --language triton --strategy block_keeps_row > softmax.py", "one as a module"},
             {"./strop write block.py --out sources", "all of a PyTorch module's, in C++"}},
            command_write};
}

CommandSpec translate() {
    return {"translate",
            "a kernel of the playbook in another language: the same strategy, what was kept, what cannot be said there",
            {{"KERNEL", "a result folder, a run, or a file that `strop write` made", true}},
            {{"--to",
              "LANGUAGE",
              "cpp, opencl, cuda, triton or tilelang",
              Kind::choice,
              "",
              {"cpp", "opencl", "cuda", "triton", "tilelang"}},
             {"--problem", "DIR", "the problem, where it lies elsewhere than at the run, or not beside the file",
              Kind::folder, ""},
             {"--out", "DIR", "write the sources there", Kind::folder, ""},
             {"--no-judge", "", "compile and measure nothing"},
             {"--per-shape", "DURATION", "time for comparing with the baselines at a shape", Kind::duration, "500ms"},
             store_flag,
             worker_flag,
             worker_wait_flag,
             json_flag},
            {{"./strop translate strop-out/softmax --to triton --out translated", "each winner of a result"},
             {"./strop translate sources/tiles.cu --problem matmul --to cpp", "judged, because C++ runs here"}},
            command_translate};
}

CommandSpec list() {
    return {"list",
            "problems with their tags and latest speedups",
            {{"FOLDER", "where problems lie (./problems and Strop's own)", false}},
            {{"--slow", "",
              "latest results in three classes (slow, moderate, good) by speedup and share of the roofline, the worst "
              "first"},
             {"--threshold", "X",
              "with --slow: less than X of the best baseline's speed at a shape is slow, X of the roofline is good",
              Kind::number, "0.8"},
             store_flag,
             json_flag},
            {{"./strop list --slow", "what is worth another run?"},
             {"./strop list --slow --threshold 0.9 --json", "a stricter look, for a program"}},
            command_list};
}

CommandSpec runs() {
    return {"runs",
            "past runs, newest first",
            {{"PROBLEM", "only runs of this problem", false, false, Completes::problems}},
            {store_flag, json_flag},
            {{"./strop runs softmax", "every run of one problem"}},
            command_runs};
}

CommandSpec query() {
    return {
        "query",
        "what finished runs found: winners with their configurations, strategies that lost and why, lessons",
        {{"HARDWARE", "words of a processor, instruction set or device: avx2, \"epyc 9b14\" (default: all)", false}},
        {{"--tags", "A,B", "only with all of them: tags of problems, their names, families of strategies", Kind::text,
          ""},
         {"--language", "LANGUAGE", "only of kernels in it: cpp or opencl", Kind::text, ""},
         {"--similar", "PROBLEM", "only of problems that compute alike, the most similar first", Kind::text, ""},
         store_flag,
         json_flag},
        {{"./strop query avx2 --tags reduction", "what is known there; at most 20 runs, the newest first"},
         {"./strop query --similar softmax", "what a run of softmax may begin with"}},
        command_query};
}

CommandSpec knowledge() {
    const std::vector<std::string> actions{"export", "import", "check", "lessons", "forget"};
    return {"knowledge",
            "what runs found as files for other people, machines and version control, and back; lessons",
            {{"ACTION", join(actions, ", "), true, false, Completes::choices, actions},
             {"WHAT", "a folder such as knowledge/; of lessons and forget, a lesson's id or a document's name", false}},
            {store_flag, json_flag},
            {{"./strop knowledge export knowledge", "a JSON file a run, a page a pattern, lessons; then git add"},
             {"./strop knowledge import knowledge", "what others measured; it is used after what was measured here"},
             {"./strop knowledge check knowledge", "exit code 2 when a file is not as it should be"},
             {"./strop knowledge lessons", "all of them, with their ids"},
             {"./strop knowledge forget notes.md", "what was read in it; or one lesson, by its id"}},
            command_knowledge};
}

CommandSpec learn() {
    return {"learn",
            "read manuals, papers and notes with a language model: lessons for later runs, which measure them",
            {{"FILE", "a document (PDF, HTML, Markdown, text), or a folder of them; several", true, true}},
            joined({{"--verify", "", "measure the lessons that an experiment can test"},
                    {"--per-shape", "DURATION", "of --verify", Kind::duration, "500ms"},
                    {"--dry-run", "", "only say how much there is to read, and about what it costs"},
                    {"--transcript", "DIR", "write what was asked and answered there", Kind::folder, ""},
                    store_flag,
                    json_flag,
                    quiet_flag},
                   choosing_flags()),
            {{"./strop learn manual.pdf notes/ --model anthropic/claude-opus-5 --dry-run", "what would it cost?"},
             {"./strop learn manual.pdf --model anthropic/claude-opus-5 --max-cost 2 --verify", "read it, try it out"}},
            command_learn};
}

CommandSpec show() {
    return {"show",
            "one run: result, strategies with reasons, verdicts",
            {run_position},
            {store_flag,
             {"--history", "", "also every evaluation in order"},
             {"--calls", "", "also every call of a language model"},
             {"--kernel", "ID", "only the source of that winner, with its tunables", Kind::text, ""},
             json_flag},
            {{"./strop show softmax-2026", "the run whose name begins like this"},
             {"./strop show softmax-2026 --kernel online > kernel.cpp", "to change it, or to tune it further"}},
            command_show};
}

CommandSpec report() {
    return {"report",
            "a run's report in another form",
            {run_position},
            {{"--format", "FORMAT", "terminal, markdown, html or json", Kind::choice, "terminal", formats},
             {"--out", "FILE", "write it there instead of to standard output", Kind::file, ""},
             store_flag},
            {{"./strop report softmax-2026 --format html --out report.html", "one self-contained page"}},
            command_report};
}

CommandSpec export_run() {
    return {"export",
            "a run's conversations with models as readable files, the whole run in one, or its result for others",
            {run_position},
            {{"--transcript", "DIR", "one file a call: what was asked, what was answered", Kind::folder, ""},
             {"--record", "FILE", "for `strop optimize --replay`", Kind::file, ""},
             {"--solution", "FILE", "the result as a solution of flashinfer-bench, where the problem is a definition",
              Kind::file, ""},
             store_flag},
            {{"./strop export softmax-2026 --transcript calls", "read what was sent"}},
            command_export};
}

CommandSpec resume() {
    return {"resume",
            "continue a run that was stopped or killed; nothing is measured twice",
            {run_position},
            {{"--budget", "DURATION", "time from now on (default: what is left of the run's own)", Kind::duration, ""},
             store_flag,
             store_wait_flag,
             workers_flag,
             worker_wait_flag,
             json_flag,
             quiet_flag,
             verbose_flag},
            {{"./strop resume softmax-2026 --budget 10m", "go on, with a larger budget"}},
            command_resume};
}

CommandSpec doctor() {
    return {"doctor",
            "what this machine has, what it can do, and what is missing",
            {},
            {{"--fresh", "", "measure the machine's ceilings again"},
             {"--judge", "", "try the judge: a kernel against itself, planted slowdowns, kernels that cheat"},
             {"--trials", "N", "of a kernel against itself, with --judge; two fifths as many with a slowdown",
              Kind::count, "60"},
             {"--worker",
              "COMMAND",
              "look at workers instead: who answers there, and what is wrong; may be repeated",
              Kind::text,
              "",
              {},
              true},
             worker_wait_flag,
             json_flag},
            {{"./strop doctor", "processor, measured ceilings, compilers, Python, baselines, protections"},
             {"./strop doctor --worker \"ssh gpu1\"", "who answers there, and how fast"},
             {"./strop doctor --judge", "how far verdicts and speedups can be trusted on this machine"}},
            command_doctor};
}

CommandSpec setup() {
    return {"setup",
            "install what is missing, build, and add optional packages",
            {{"PACKAGE",
              "an optional baseline: torch, jax; or tilelang, for its modules",
              false,
              true,
              Completes::choices,
              {"torch", "jax", "tilelang"}}},
            {},
            {{"./strop setup", "system packages, Python environment, build; quick when nothing is to do"},
             {"./strop setup torch", "also PyTorch as a baseline"},
             {"PIP_EXTRA_INDEX_URL=URL ./strop setup torch",
              "pip's own variables choose the index, for instance one "
              "with builds for CPUs only"}},
            command_setup};
}

CommandSpec completion() {
    return {"completion",
            "completions for a shell",
            {{"SHELL", "bash, zsh or fish", true, false, Completes::choices, shells}},
            {},
            {{"source <(./strop completion bash)", "for this shell; put it into ~/.bashrc for all"},
             {"./strop completion zsh > ~/.zfunc/_strop", "a folder of $fpath"},
             {"./strop completion fish > ~/.config/fish/completions/strop.fish", "for all fish shells"}},
            command_completion};
}

CommandSpec man() {
    return {"man",
            "the manual page, in roff",
            {},
            {},
            {{"./strop man | man -l -", "read it"}, {"./strop man > ~/.local/share/man/man1/strop.1", "install it"}},
            command_man};
}

CommandSpec help() {
    return {"help", "help on a command", {{"COMMAND", "a command's name", false}}, {}, {}, command_help};
}

CommandSpec worker() {
    return {"worker", "judge over standard input and output, one JSON message a line",
            {},       {{"--scratch", "DIR", "where its files go, which whoever started it removes", Kind::folder, ""}},
            {},       command_worker,
            true};
}

}  // namespace

const std::vector<CommandSpec>& commands() {
    static const std::vector<CommandSpec> table = {optimize(),    judge(),
                                                   check(),       compare(),
                                                   profile(),     tune(),
                                                   suggest(),     import_module(),
                                                   write(),       translate(),
                                                   list(),        runs(),
                                                   query(),       knowledge(),
                                                   learn(),       show(),
                                                   report(),      export_run(),
                                                   resume(),      doctor(),
                                                   setup(),       serve_command(store_flag),
                                                   mcp_command(), completion(),
                                                   man(),         help(),
                                                   worker()};
    return table;
}

const CommandSpec* find_command(const std::string& name) {
    for (const CommandSpec& spec : commands())
        if (spec.name == name) return &spec;
    return nullptr;
}

void fail_unknown_command(const std::string& word) {
    std::vector<std::string> names;
    for (const CommandSpec& spec : commands())
        if (!spec.hidden) names.push_back(spec.name);
    std::vector<std::string> near = nearest(word, names);
    std::string hint = near.empty() ? "" : fmt::format("did you mean {}? ", join(near, " or "));
    throw UsageError(fmt::format("unknown command '{}'", word), hint + "`strop --help` lists all commands");
}

}  // namespace strop::cli
