#include "run/experience_source.h"

namespace strop {

ExperienceSource::ExperienceSource(Store& own, const std::string& given) : own_(own) {
    if (given.empty()) return;
    if (!fs::is_directory(given)) {
        other_ = std::make_unique<Store>(given, std::chrono::seconds(5), Store::Access::read);
        return;
    }
    folder_ = std::make_unique<TemporaryFolder>("strop-knowledge");
    other_ = std::make_unique<Store>(folder_->path() / "strop.db");
    complaints_ = import_knowledge(given, *other_).complaints;
}

}  // namespace strop
