// Files of other tuners, in any format, plain or gzip.
#include "exchange/file.h"
#include "exchange/kernel_tuner.h"
#include "fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace strop;
    const std::string bytes = fuzz::text_of(data, size);
    tune::MeasuredSpace space;
    if (!fuzz::accepted([&] { space = exchange::parse_measured(bytes, "cache.json"); })) return 0;
    for (const std::string& written : {exchange::write_kernel_tuner(space), exchange::write_t4(space)})
        fuzz::must(!written.empty(), "nothing was written");
    return 0;
}
