#include "cli/store_access.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/file.h"
#include "base/strings.h"

namespace strop::cli {

StoreAddress store_address(const Arguments& arguments) {
    return arguments.has("--store") ? StoreAddress(arguments.text("--store")) : StoreAddress::standard();
}

std::unique_ptr<Store> store_of_run(const Arguments& arguments) {
    auto store = std::make_unique<Store>(store_address(arguments));
    store->be_patient(std::chrono::ceil<std::chrono::milliseconds>(arguments.duration("--store-wait")));
    return store;
}

bool shares_work(const Arguments& arguments) {
    const std::string how = arguments.text("--share");
    return how == "yes" || (how == "auto" && store_address(arguments).is_server());
}

std::unique_ptr<Store> existing_store(const Arguments& arguments) {
    const StoreAddress address = store_address(arguments);
    if (std::unique_ptr<Store> store = Store::existing(address)) return store;
    if (arguments.has("--store"))
        throw UsageError(fmt::format("{}: there is no such store", address.shown()),
                         "leave --store out for the standard one, or run `strop optimize` first");
    return nullptr;
}

RunRecord load_named_run(const Arguments& arguments) {
    std::string name = arguments.text("RUN");
    std::unique_ptr<Store> store = existing_store(arguments);
    if (!store)
        throw UsageError(fmt::format("there is no run '{}': {} does not exist", name, store_address(arguments).shown()),
                         "runs are kept by `strop optimize`; --store names another file");
    if (std::optional<RunRecord> record = store->load_run(name)) return *record;
    std::vector<std::string> names;
    for (const RunSummary& run : store->runs()) names.push_back(run.run);
    std::vector<std::string> near = nearest(name, names);
    throw UsageError(fmt::format("there is no run '{}'", name),
                     near.empty() ? "`strop runs` lists them"
                                  : fmt::format("did you mean {}? `strop runs` lists all", join(near, " or ")));
}

}  // namespace strop::cli
