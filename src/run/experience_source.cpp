#include "run/experience_source.h"

#include <iterator>

namespace strop {

ExperienceSource::ExperienceSource(Store& own, const std::string& given) : own_(own) {
    if (given.empty()) return;
    const StoreAddress address(given);
    if (address.is_server() || !fs::is_directory(address.file())) {
        other_ = std::make_unique<Store>(address, Store::usual_patience, Store::Access::read);
        return;
    }
    folder_ = std::make_unique<TemporaryFolder>("strop-knowledge");
    other_ = std::make_unique<Store>(folder_->path() / "strop.db");
    FolderReport report = import_knowledge(given, *other_);
    complaints_ = std::move(report.complaints);
    std::move(report.contradictions.begin(), report.contradictions.end(), std::back_inserter(complaints_));
}

}  // namespace strop
