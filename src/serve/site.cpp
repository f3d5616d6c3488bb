#include "serve/site.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/line.h"
#include "base/strings.h"
#include "core/json.h"
#include "knowledge/learning.h"
#include "report/report.h"
#include "serve/frame.h"
#include "serve/progress.h"

namespace strop::serve {

namespace {

constexpr int64_t runs_a_page = 50, most_api_runs = 1000, runs_to_compare_with = 100;
constexpr std::chrono::seconds start_patience{3};  // for the name of a run, or why there is none

// Ends a request with a page that says so.
struct Refused {
    int status;
    std::string phrase, hint;
};

Response html(const std::string& text) { return {200, "text/html; charset=utf-8", text}; }
Response json(const std::string& text) { return {200, "application/json", text}; }

int64_t whole(const std::string& text, int64_t standard) {
    if (text.empty()) return standard;
    const bool digits =
        text.size() <= 9 && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
    if (!digits) throw Refused{400, fmt::format("'{}' is not a whole number", one_line(text)), ""};
    return std::stoll(text);
}

// What becomes an argument of a command.
std::string argument(const Request& request, const char* name) {
    const std::string text(trim(request.field(name)));
    if (text.starts_with("-"))
        throw Refused{400, fmt::format("the {} begins with a dash", name), "a flag is not a value"};
    if (text.find('\0') != std::string::npos || text.size() > 4096)
        throw Refused{400, fmt::format("the {} is not a name", name), ""};
    return text;
}

std::string budget_of(const Request& request) {
    const std::string budget = argument(request, "budget");
    if (!budget.empty()) (void)parse_duration(budget);  // a UsageError says what is wrong
    return budget;
}

RunRecord record_of(Store* store, const std::string& run) {
    std::optional<RunRecord> record;
    if (store) record = store->load_named(run);
    if (!record) throw Refused{404, fmt::format("there is no run '{}'", one_line(run)), "the list has all"};
    return *std::move(record);
}

// Those that were kept, and winners of runs from before that.
std::vector<Kernel> kernels_of(Store& store, const RunRecord& record) {
    std::vector<Kernel> kernels = store.kernels(record.run);
    for (const Kernel& winner : record.kernels)
        if (std::none_of(kernels.begin(), kernels.end(), [&](const Kernel& kernel) { return kernel.id == winner.id; }))
            kernels.push_back(winner);
    return kernels;
}

const std::string profile_key = "profile/";  // of the documents of a run: a page as JSON, by its kernel

const Kernel* find(const std::vector<Kernel>& kernels, const std::string& id) {
    auto found = std::find_if(kernels.begin(), kernels.end(), [&](const Kernel& kernel) { return kernel.id == id; });
    return found == kernels.end() ? nullptr : &*found;
}

const Kernel& found(const std::vector<Kernel>& kernels, const std::string& id) {
    const Kernel* kernel = find(kernels, id);
    if (!kernel) throw Refused{404, fmt::format("the run has no kernel '{}'", one_line(id)), ""};
    return *kernel;
}

void protect(Response& response, const std::string& nonce) {
    std::map<std::string, std::string>& headers = response.headers;
    headers.try_emplace("Content-Security-Policy",
                        fmt::format("default-src 'none'; style-src 'nonce-{0}'; script-src 'nonce-{0}'; "
                                    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
                                    nonce));
    headers["X-Content-Type-Options"] = "nosniff";
    headers["X-Frame-Options"] = "DENY";
    headers["Referrer-Policy"] = "same-origin";  // with none at all, browsers leave out the origin of forms too
    headers["Cross-Origin-Resource-Policy"] = "same-origin";
    headers["Cross-Origin-Opener-Policy"] = "same-origin";
    headers["Cache-Control"] = "no-store";
}

}  // namespace

Response Site::answer(const Request& request) {
    const Frame frame{random_token(), options_.access.form_token};
    auto failed = [&](int status, const std::string& phrase, const std::string& hint) {
        Response response = request.path.starts_with("/api") ? json(dump(Json{{"error", phrase}, {"hint", hint}}))
                                                             : html(error_page(phrase, hint, frame));
        response.status = status;
        return response;
    };
    Response response;
    try {
        std::optional<Response> first = first_answer(options_.access, request);
        response = first ? *std::move(first) : routed(request, frame);
    } catch (const Refused& refused) {
        response = failed(refused.status, refused.phrase, refused.hint);
    } catch (const UsageError& error) {
        response = failed(400, error.what(), error.hint());
    } catch (const Error& error) {
        response = failed(503, error.what(), error.hint());
    } catch (const std::exception& error) {
        response = failed(500, fmt::format("a bug: {}", error.what()), "please report it");
    }
    protect(response, frame.nonce);
    return response;
}

Response Site::routed(const Request& request, const Frame& frame) {
    const std::vector<std::string> parts =
        split(std::string_view(request.path).substr(std::min<size_t>(1, request.path.size())), '/');
    if (request.method == "POST") return posted(request, parts);
    if (request.method != "GET") throw Refused{405, "only GET and POST are answered", ""};
    if (request.path == "/") return list(request, frame);
    if (request.path == "/compare") return compare(request, frame);
    if (request.path == "/knowledge") return knowledge(request, frame);
    if (parts[0] == "api") return api(request, parts);
    if (parts[0] == "runs" && parts.size() > 1) return run(parts[1], {parts.begin() + 2, parts.end()}, frame);
    throw Refused{404, "there is no such page", "the list of runs is at /"};
}

Response Site::posted(const Request& request, const std::vector<std::string>& parts) {
    if (request.path == "/runs") return start(request);
    if (parts.size() == 3 && parts[0] == "runs" && parts[2] == "stop") return stop(parts[1]);
    if (parts.size() == 3 && parts[0] == "runs" && parts[2] == "resume") return resume(parts[1], request);
    if (parts.size() > 4 && parts[0] == "runs" && parts[2] == "kernels" && parts.back() == "profile")
        return make_profile(parts[1], join({parts.begin() + 3, parts.end() - 1}, "/"));
    throw Refused{404, "nothing is done there", ""};
}

Response Site::list(const Request& request, const Frame& frame) {
    RunList list;
    list.problem = request.field("problem");
    list.problems = options_.problems;
    list.launched = launcher_.latest();
    if (std::unique_ptr<Store> runs = store()) {
        list.runs_by_problem = runs->runs_by_problem();
        int64_t total = 0;
        for (const auto& [problem, count] : list.runs_by_problem)
            if (list.problem.empty() || list.problem == problem) total += count;
        list.pages = std::max<int64_t>(1, (total + runs_a_page - 1) / runs_a_page);
        list.page = std::clamp<int64_t>(whole(request.field("page"), 1) - 1, 0, list.pages - 1);
        list.runs = runs->runs(list.problem, list.page * runs_a_page, runs_a_page);
    }
    return html(list_page(list, frame));
}

RunView Site::view_of(const std::string& run) {
    std::unique_ptr<Store> runs = store();
    RunView view;
    view.record = record_of(runs.get(), run);
    view.kernels = kernels_of(*runs, view.record);
    view.launched = launcher_.latest();
    for (const RunSummary& other : runs->runs(view.record.problem, 0, runs_to_compare_with))
        if (other.run != run && other.speedup > 0) view.others.push_back(other);
    return view;
}

Response Site::run(const std::string& run, const std::vector<std::string>& rest, const Frame& frame) {
    if (rest.size() > 2 && rest[0] == "kernels" && rest.back() == "profile")
        return profile(run, join({rest.begin() + 1, rest.end() - 1}, "/"));
    if (rest.size() > 1 && rest[0] == "kernels") return kernel(run, join({rest.begin() + 1, rest.end()}, "/"), frame);
    const RunView view = view_of(run);
    if (rest.empty()) return html(run_page(view, frame));
    if (rest != std::vector<std::string>{"progress"})
        throw Refused{404, "there is no such page", "the list of runs is at /"};
    Response response = html(progress_part(view));
    response.headers["X-Strop-Running"] = view.goes_on() ? "yes" : "no";
    return response;
}

Response Site::kernel(const std::string& run, const std::string& id, const Frame& frame) {
    std::unique_ptr<Store> runs = store();
    KernelView view;
    view.record = record_of(runs.get(), run);
    const std::vector<Kernel> kernels = kernels_of(*runs, view.record);
    view.kernel = found(kernels, id);
    if (const Kernel* parent = find(kernels, view.kernel.parent)) view.parent = *parent;
    view.has_profile = runs->find_document(run, profile_key + id).has_value();
    view.may_be_profiled = view.kernel.language == Language::cpp && !best_use(view.record, id).points.empty();
    view.launched = launcher_.latest();
    return html(kernel_page(view, frame));
}

Response Site::profile(const std::string& run, const std::string& id) {
    std::unique_ptr<Store> runs = store();
    (void)record_of(runs.get(), run);
    const std::optional<std::string> page = runs->find_document(run, profile_key + id);
    if (!page) throw Refused{404, fmt::format("'{}' has no profile", one_line(id)), "its page offers to make one"};
    Response response = html(Json::parse(*page).get<std::string>());
    response.headers["Content-Security-Policy"] = "sandbox; default-src 'none'; style-src 'unsafe-inline'";
    return response;
}

Response Site::make_profile(const std::string& run, const std::string& id) {
    std::unique_ptr<Store> runs = store();
    const RunRecord record = record_of(runs.get(), run);
    const Kernel kernel = found(kernels_of(*runs, record), id);
    const BestUse use = best_use(record, id);
    if (kernel.language != Language::cpp || use.points.empty())
        throw Refused{409, "a profile is of a kernel in C++ that was right", ""};
    auto keep = [this, run, id](const std::string& page) {
        if (std::unique_ptr<Store> kept = store()) kept->add_document(run, profile_key + id, dump(Json(page)));
    };
    if (!launcher_.profile({record.run, record.problem_folder, kernel, use.configuration, use.points}, keep))
        throw Refused{409, "a run goes on already", "one at a time: two would disturb each other's times"};
    return redirect(kernel_address(run, id));
}

Response Site::compare(const Request& request, const Frame& frame) {
    std::unique_ptr<Store> runs = store();
    const RunRecord before = record_of(runs.get(), request.field("a")),
                    after = record_of(runs.get(), request.field("b"));
    if (before.problem != after.problem)
        throw Refused{400, fmt::format("they are runs of two problems: {} and {}", before.problem, after.problem),
                      "compare two runs of the same problem"};
    return html(compare_page(before, after, frame));
}

Response Site::knowledge(const Request& request, const Frame& frame) {
    KnowledgeView view{request.field("hardware"), request.field("tags"), {}, {}};
    if (std::unique_ptr<Store> runs = store()) {
        DigestQuery query;
        query.hardware = view.hardware;
        query.count = runs_a_page;
        for (const std::string& tag : split(view.tags, ','))
            if (!trim(tag).empty()) query.tags.emplace_back(trim(tag));
        view.runs = runs->digests(query);
        view.lessons = runs->lessons();
        std::erase_if(view.lessons, [&](const KnownLesson& known) {
            return std::none_of(view.runs.begin(), view.runs.end(),
                                [&](const Digest& digest) { return concerns(known.lesson, digest); });
        });
    }
    return html(knowledge_page(view, frame));
}

Response Site::api(const Request& request, const std::vector<std::string>& parts) {
    std::unique_ptr<Store> runs = store();
    if (parts.size() == 3 && parts[1] == "runs") return json(report::json(record_of(runs.get(), parts[2])));
    if (request.path != "/api/runs") throw Refused{404, "there is no such document", "/api/runs, /api/runs/RUN"};
    const int64_t count = std::min(whole(request.field("count"), most_api_runs), most_api_runs);
    const int64_t skip = whole(request.field("skip"), 0);
    return json(strop::json(runs ? runs->runs(request.field("problem"), skip, count) : std::vector<RunSummary>()));
}

Response Site::start(const Request& request) {
    const std::string problem = argument(request, "problem"), budget = budget_of(request);
    if (problem.empty() || budget.empty())
        throw Refused{400, "a problem and a budget are needed", "such as softmax and 2m"};
    if (!launcher_.optimize(problem, budget))
        throw Refused{409, "a run goes on already", "one at a time: two would disturb each other's times"};
    const Launched launched = launcher_.named(start_patience);
    return redirect(launched.run.empty() ? "/" : run_address(launched.run));
}

Response Site::resume(const std::string& run, const Request& request) {
    std::unique_ptr<Store> runs = store();
    const RunRecord record = record_of(runs.get(), run);
    const std::string budget = budget_of(request);
    if (record.is_finished()) throw Refused{409, "it is finished", "start another run of the problem"};
    if (!launcher_.resume(record.run, record.problem, budget))
        throw Refused{409, "a run goes on already", "one at a time: two would disturb each other's times"};
    return redirect(run_address(record.run));
}

Response Site::stop(const std::string& run) {
    if (!launcher_.stop(run)) throw Refused{409, "it was not started here, or has ended", ""};
    return redirect(run_address(run));
}

std::unique_ptr<Store> Site::store() const { return Store::existing(options_.store); }

}  // namespace strop::serve
