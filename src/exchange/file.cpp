#include "exchange/file.h"

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <new>
#include <vector>

#include <fmt/format.h>
#include <zlib.h>

#include "base/error.h"
#include "base/file.h"
#include "base/strings.h"
#include "exchange/document.h"
#include "exchange/kernel_tuner.h"
#include "exchange/ktt.h"

namespace strop::exchange {

namespace {

constexpr const char* formats =
    "known are the cache files of Kernel Tuner ('tune_params', 'cache'), T1 ('ConfigurationSpace'), "
    "T4 ('results') and the results of KTT ('Results'), plain or gzip";

using Reader = std::function<tune::MeasuredSpace(const std::string&, const std::string&)>;

// By the keys that tell them.
const std::map<std::string, Reader>& readers() {
    static const std::map<std::string, Reader> readers = {{"tune_params", read_kernel_tuner},
                                                          {"tune_params_keys", read_kernel_tuner},
                                                          {"cache", read_kernel_tuner},
                                                          {"ConfigurationSpace", read_t1},
                                                          {"results", read_t4},
                                                          {"Results", read_ktt}};
    return readers;
}

std::string describe(std::vector<std::string> keys) {
    constexpr size_t most = 8;
    if (keys.empty()) return "it has no keys";
    bool more = keys.size() > most;
    keys.resize(std::min(keys.size(), most));
    return fmt::format("its keys are '{}'{}", join(keys, "', '"), more ? ", ..." : "");
}

bool is_gzip(const std::string& bytes) { return bytes.starts_with("\x1f\x8b"); }

// Of one member or several, one after the other.
std::string inflate_gzip(const std::string& bytes, const std::string& file) {
    constexpr int gzip_only = 16 + MAX_WBITS;
    z_stream stream{};
    if (inflateInit2(&stream, gzip_only) != Z_OK) throw std::bad_alloc();
    std::unique_ptr<z_stream, decltype(&inflateEnd)> owner(&stream, inflateEnd);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream.avail_in = static_cast<uInt>(bytes.size());
    std::string text;
    std::vector<char> chunk(size_t{1} << 18);
    while (true) {
        stream.next_out = reinterpret_cast<Bytef*>(chunk.data());
        stream.avail_out = static_cast<uInt>(chunk.size());
        int status = inflate(&stream, Z_NO_FLUSH);
        text.append(chunk.data(), chunk.size() - stream.avail_out);
        if (status == Z_STREAM_END) {
            if (stream.avail_in == 0) return text;
            status = inflateReset(&stream);
        }
        if (status == Z_BUF_ERROR)
            throw UsageError(fmt::format("{}: the gzip data ends too early", file), "is the file complete?");
        if (status != Z_OK) throw UsageError(fmt::format("{}: the gzip data is damaged", file));
    }
}

std::string text_in(const std::string& bytes, const std::string& file) {
    return is_gzip(bytes) ? inflate_gzip(bytes, file) : bytes;
}

}  // namespace

std::string read_text(const std::filesystem::path& path) { return text_in(read_file(path), path.string()); }

tune::MeasuredSpace read_measured(const std::filesystem::path& path) {
    return parse_measured(read_file(path), path.string());
}

tune::MeasuredSpace parse_measured(const std::string& bytes, const std::string& file) {
    const std::string text = text_in(bytes, file);
    std::vector<std::string> keys;
    Reader read;
    visit_keys(text, file, [&](int depth, const std::string& key) {
        if (depth > 1) return true;
        keys.push_back(key);
        if (auto found = readers().find(key); found != readers().end()) read = found->second;
        return !read;
    });
    if (read) return read(text, file);
    throw UsageError(fmt::format("{}: unknown format, {}", file, describe(keys)), formats);
}

}  // namespace strop::exchange
