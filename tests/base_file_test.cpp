#include "base/file.h"

#include <sys/stat.h>
#include <fstream>
#include <thread>

#include <gtest/gtest.h>

#include "base/error.h"

namespace strop {
namespace {

TEST(WriteFile, replaces_links) {
    const TemporaryFolder folder;
    const fs::path file = folder.path() / "file", link = folder.path() / "link";
    write_file(file, "one");
    fs::create_symlink(file, link);
    write_file(link, "two");
    EXPECT_EQ(read_file(file), "one");
    EXPECT_FALSE(fs::is_symlink(link));
}

TEST(WriteNamedFile, replaces_files_and_what_links_name) {
    const TemporaryFolder folder;
    const fs::path file = folder.path() / "new" / "file", link = folder.path() / "link";
    write_named_file(file, "one");
    fs::create_symlink(file, link);
    write_named_file(link, "two");
    EXPECT_EQ(read_file(file), "two");
    EXPECT_TRUE(fs::is_symlink(link));
    fs::remove(file);
    write_named_file(link, "three");  // to where it leads
    EXPECT_EQ(read_file(file), "three");
}

TEST(WriteNamedFile, writes_to_pipes_and_devices) {
    const TemporaryFolder folder;
    const fs::path pipe = folder.path() / "pipe";
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    std::string read;
    std::thread reader([&] { read = read_file(pipe); });
    write_named_file(pipe, "through");
    reader.join();
    EXPECT_EQ(read, "through");
    EXPECT_TRUE(fs::is_fifo(pipe));
    write_named_file("/dev/null", "gone");
    EXPECT_TRUE(fs::is_character_file("/dev/null"));
    EXPECT_THROW(write_named_file("/dev/full", "too much"), EnvironmentError);
    EXPECT_TRUE(fs::is_character_file("/dev/full"));
}

}  // namespace
}  // namespace strop
