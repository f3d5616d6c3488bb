// One POST over HTTP(S) whose answer is handed on as it arrives. Headers are never logged: a key is among them.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "llm/model.h"

namespace strop::llm {

struct HttpRequest {
    std::string url;  // http or https
    std::vector<std::pair<std::string, std::string>> headers;
    std::string body;
    Seconds timeout{600};
    Seconds connect_timeout{5};
    size_t max_bytes = size_t{64} << 20;  // of the answer
};

enum class HttpEnd {
    complete,  // also: the receiver had enough
    unusable_url,
    no_connection,  // none was made within connect_timeout
    untrusted,      // the certificate is not valid
    broken,
    timed_out,
    cancelled,
    too_large,
};

struct HttpResponse {
    HttpEnd end = HttpEnd::complete;
    int status = 0;                              // 0: no answer began
    std::map<std::string, std::string> headers;  // names in lower case
    std::string why;                             // of every end but `complete`
};

// Gets the answer's status and headers with each piece of its body; false ends the transfer.
using OnBody = std::function<bool(const HttpResponse& response, std::string_view piece)>;

// Blocks; `cancel` is asked at least four times a second. Redirects are not followed; proxies come from the
// environment. Safe to call from several threads.
HttpResponse http_post(const HttpRequest& request, const OnBody& on_body, const Cancel& cancel = {});

}  // namespace strop::llm
