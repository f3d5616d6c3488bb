// A request and its answer, apart from how they travel.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

namespace strop::serve {

struct Request {
    std::string method;                          // "GET", "POST", "DELETE"
    std::string path;                            // decoded: "/runs/softmax-20260131-123456-ab12"
    std::map<std::string, std::string> fields;   // of the query and of a form, decoded
    std::map<std::string, std::string> headers;  // by name in lower case; of one that came twice both, with a comma
    std::string body = {};

    // Empty where there is none.
    std::string field(const std::string& name) const { return value_of(fields, name); }
    std::string header(const std::string& name) const { return value_of(headers, name); }

private:
    static std::string value_of(const std::map<std::string, std::string>& values, const std::string& name) {
        auto found = values.find(name);
        return found == values.end() ? std::string() : found->second;
    }
};

struct Response {
    int status = 200;
    std::string type, body;
    std::map<std::string, std::string> headers = {};
    // A body that comes in pieces instead: asked for one after the other, an empty one where there is none yet (it may
    // wait a moment for one), nothing after the last. It is destroyed when that was sent, or when nobody listens.
    std::function<std::optional<std::string>()> next = {};
};

inline Response plain_text(int status, const std::string& words) {
    return {status, "text/plain; charset=utf-8", words + "\n"};
}
// To another address, which is asked for with GET.
inline Response redirect(const std::string& address) { return {303, "text/plain", "", {{"Location", address}}}; }

}  // namespace strop::serve
