#include "run/experience_source.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "fakes/sample_record.h"

namespace strop {
namespace {

class Sources : public testing::Test {
protected:
    TemporaryFolder folder_{"strop-source"};
    Store own_{folder_.path() / "own.db"};
};

TEST_F(Sources, AreTheOwnStoreAnotherOneOrAFolder) {
    const fs::path other = folder_.path() / "other.db", files = folder_.path() / "files";
    {
        Store store(other);
        store.save_run(fakes::sample_record());
        export_knowledge(store, files);
    }
    EXPECT_TRUE(ExperienceSource(own_, "").store().runs().empty());
    const std::string before = read_file(other);
    ExperienceSource file(own_, other.string()), folder(own_, files.string());
    ASSERT_EQ(file.store().runs().size(), 1u);
    EXPECT_EQ(file.store().runs()[0].origin, "");
    ASSERT_EQ(folder.store().runs().size(), 1u);
    EXPECT_EQ(folder.store().runs()[0].origin, files.string());
    EXPECT_TRUE(folder.complaints().empty());
    EXPECT_TRUE(own_.runs().empty());
    EXPECT_EQ(read_file(other), before);
    EXPECT_THROW(file.store().save_run(fakes::sample_record()), EnvironmentError);
}

TEST_F(Sources, SayWhatAFolderLacks) {
    fs::create_directories(folder_.path() / "runs");
    write_file(folder_.path() / "runs" / "a.json", "{");
    EXPECT_EQ(ExperienceSource(own_, folder_.path().string()).complaints().size(), 1u);
    EXPECT_THROW(ExperienceSource(own_, (folder_.path() / "none.db").string()), EnvironmentError);
}

}  // namespace
}  // namespace strop
