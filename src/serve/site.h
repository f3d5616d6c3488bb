// The routes: a request in, an answer out, no sockets.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "serve/access.h"
#include "serve/launcher.h"
#include "serve/message.h"
#include "serve/pages.h"

namespace strop::serve {

struct SiteOptions {
    StoreAddress store;                 // it need not exist yet
    std::filesystem::path program;      // that optimizes and resumes
    std::vector<std::string> problems;  // offered by name
    Access access;
};

// Safe to use from several threads. Runs that it has started end, resumable, with it.
class Site {
public:
    explicit Site(SiteOptions options) : options_(std::move(options)), launcher_(options_.program, options_.store) {}

    Response answer(const Request& request);

private:
    Response routed(const Request& request, const Frame& frame);
    Response posted(const Request& request, const std::vector<std::string>& parts);
    Response list(const Request& request, const Frame& frame);
    Response run(const std::string& run, const std::vector<std::string>& rest, const Frame& frame);
    Response kernel(const std::string& run, const std::string& id, const Frame& frame);
    Response profile(const std::string& run, const std::string& id);  // that was made
    Response make_profile(const std::string& run, const std::string& id);
    Response compare(const Request& request, const Frame& frame);
    Response knowledge(const Request& request, const Frame& frame);
    Response api(const Request& request, const std::vector<std::string>& parts);
    Response start(const Request& request);
    Response resume(const std::string& run, const Request& request);
    Response stop(const std::string& run);
    RunView view_of(const std::string& run);
    std::unique_ptr<Store> store() const;  // null where there is none yet

    SiteOptions options_;
    Launcher launcher_;
};

}  // namespace strop::serve
