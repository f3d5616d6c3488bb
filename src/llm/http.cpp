#include "llm/http.h"

#include <curl/curl.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <new>

#include <fmt/format.h>

#include "base/strings.h"

namespace strop::llm {

namespace {

constexpr int poll_milliseconds = 100;

struct EasyDeleter {
    void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
};
struct MultiDeleter {
    void operator()(CURLM* handle) const { curl_multi_cleanup(handle); }
};
struct ListDeleter {
    void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using Easy = std::unique_ptr<CURL, EasyDeleter>;
using Multi = std::unique_ptr<CURLM, MultiDeleter>;
using List = std::unique_ptr<curl_slist, ListDeleter>;

struct Transfer {
    const HttpRequest& request;
    const OnBody& on_body;
    CURL* handle;
    HttpResponse response;
    size_t received = 0;
    bool enough = false;
    std::array<char, CURL_ERROR_SIZE> error{};
};

void note_status(Transfer& transfer) {
    long status = 0;
    curl_easy_getinfo(transfer.handle, CURLINFO_RESPONSE_CODE, &status);
    transfer.response.status = static_cast<int>(status);
}

size_t take_header(char* data, size_t size, size_t count, void* user) {
    auto& transfer = *static_cast<Transfer*>(user);
    std::string_view line(data, size * count);
    // A proxy's answer and a 100 come before the real one.
    if (line.starts_with("HTTP/")) transfer.response.headers.clear();
    size_t colon = line.find(':');
    if (colon != std::string_view::npos)
        transfer.response.headers[lower(trim(line.substr(0, colon)))] = std::string(trim(line.substr(colon + 1)));
    return size * count;
}

size_t take_body(char* data, size_t size, size_t count, void* user) {
    auto& transfer = *static_cast<Transfer*>(user);
    size_t bytes = size * count;
    note_status(transfer);
    transfer.received += bytes;
    if (transfer.received > transfer.request.max_bytes) {
        transfer.response.end = HttpEnd::too_large;
        transfer.response.why =
            fmt::format("the answer is larger than {}", human_bytes(static_cast<double>(transfer.request.max_bytes)));
        return 0;
    }
    if (transfer.on_body(transfer.response, {data, bytes})) return bytes;
    transfer.enough = true;
    return 0;
}

long milliseconds(Seconds seconds) { return std::max(1L, static_cast<long>(seconds.count() * 1000)); }

List header_list(const HttpRequest& request) {
    List list;
    auto append = [&](const std::string& line) {
        curl_slist* longer = curl_slist_append(list.get(), line.c_str());
        if (!longer) throw std::bad_alloc();
        static_cast<void>(list.release());
        list.reset(longer);
    };
    append("Content-Type: application/json");
    append("Expect:");  // no waiting for a 100 before the body
    for (const auto& [name, value] : request.headers) append(name + ": " + value);
    return list;
}

void configure(CURL* handle, const HttpRequest& request, const List& headers, Transfer& transfer) {
    curl_easy_setopt(handle, CURLOPT_URL, request.url.c_str());
    curl_easy_setopt(handle, CURLOPT_POST, 1L);
    curl_easy_setopt(handle, CURLOPT_POSTFIELDS, request.body.data());
    curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
    curl_easy_setopt(handle, CURLOPT_HTTPHEADER, headers.get());
    curl_easy_setopt(handle, CURLOPT_USERAGENT, "strop");
    curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(handle, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(handle, CURLOPT_SSL_VERIFYPEER, 1L);
    curl_easy_setopt(handle, CURLOPT_SSL_VERIFYHOST, 2L);
    curl_easy_setopt(handle, CURLOPT_TIMEOUT_MS, milliseconds(request.timeout));
    curl_easy_setopt(handle, CURLOPT_CONNECTTIMEOUT_MS, milliseconds(request.connect_timeout));
    curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, transfer.error.data());
    curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, take_header);
    curl_easy_setopt(handle, CURLOPT_HEADERDATA, &transfer);
    curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(handle, CURLOPT_WRITEDATA, &transfer);
    // The library, unlike the program, does not look for this by itself.
    if (const char* file = std::getenv("SSL_CERT_FILE")) curl_easy_setopt(handle, CURLOPT_CAINFO, file);
}

HttpEnd end_of(CURLcode code, CURL* handle) {
    curl_off_t connected = 0;
    curl_easy_getinfo(handle, CURLINFO_PRETRANSFER_TIME_T, &connected);
    switch (code) {
        case CURLE_OK: return HttpEnd::complete;
        case CURLE_URL_MALFORMAT:
        case CURLE_UNSUPPORTED_PROTOCOL: return HttpEnd::unusable_url;
        case CURLE_COULDNT_RESOLVE_HOST:
        case CURLE_COULDNT_RESOLVE_PROXY:
        case CURLE_COULDNT_CONNECT:
        case CURLE_SSL_CONNECT_ERROR: return HttpEnd::no_connection;
        case CURLE_PEER_FAILED_VERIFICATION:
        case CURLE_SSL_CACERT_BADFILE: return HttpEnd::untrusted;
        case CURLE_OPERATION_TIMEDOUT: return connected == 0 ? HttpEnd::no_connection : HttpEnd::timed_out;
        default: return HttpEnd::broken;
    }
}

// False when it was cancelled.
bool drive(CURLM* multi, const Cancel& cancel) {
    for (int running = 1; running > 0;) {
        if (cancel && cancel()) return false;
        if (curl_multi_perform(multi, &running) != CURLM_OK) return true;
        if (running > 0) curl_multi_poll(multi, nullptr, 0, poll_milliseconds, nullptr);
    }
    return true;
}

void conclude(CURLM* multi, Transfer& transfer) {
    note_status(transfer);
    if (transfer.enough || transfer.response.end != HttpEnd::complete) return;
    int left = 0;
    const CURLMsg* message = curl_multi_info_read(multi, &left);
    CURLcode code = message ? message->data.result : CURLE_FAILED_INIT;
    transfer.response.end = end_of(code, transfer.handle);
    if (code != CURLE_OK) transfer.response.why = transfer.error[0] ? transfer.error.data() : curl_easy_strerror(code);
}

HttpResponse failed(HttpEnd end, const std::string& why) {
    HttpResponse response;
    response.end = end;
    response.why = why;
    return response;
}

}  // namespace

HttpResponse http_post(const HttpRequest& request, const OnBody& on_body, const Cancel& cancel) {
    static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
    std::string scheme = lower(request.url.substr(0, 8));
    if (!scheme.starts_with("http://") && scheme != "https://")
        return failed(HttpEnd::unusable_url, "the address begins neither with http:// nor https://");
    Multi multi(curl_multi_init());
    Easy handle(curl_easy_init());
    if (ready != CURLE_OK || !multi || !handle) return failed(HttpEnd::broken, "libcurl does not start");
    Transfer transfer{request, on_body, handle.get()};
    List headers = header_list(request);
    configure(handle.get(), request, headers, transfer);
    if (curl_multi_add_handle(multi.get(), handle.get()) != CURLM_OK)
        return failed(HttpEnd::broken, "libcurl does not start");
    bool done = drive(multi.get(), cancel);
    if (done) {
        conclude(multi.get(), transfer);
    } else {
        transfer.response.end = HttpEnd::cancelled;
        transfer.response.why = "cancelled";
    }
    curl_multi_remove_handle(multi.get(), handle.get());
    return std::move(transfer.response);
}

}  // namespace strop::llm
