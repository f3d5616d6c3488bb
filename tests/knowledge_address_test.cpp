#include "knowledge/store_address.h"

#include <cstdlib>
#include <cstring>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace strop {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(StoreAddress, TellsFilesFromServers) {
    for (const char* file : {"strop.db", "/a/postgres/x.db", "postgresql", "postgresql:/x", "a b?c@d"}) {
        EXPECT_FALSE(StoreAddress(file).is_server()) << file;
        EXPECT_EQ(StoreAddress(file).shown(), file);
        EXPECT_EQ(StoreAddress(file).file(), file);
    }
    EXPECT_TRUE(StoreAddress("postgresql://host/db").is_server());
    EXPECT_TRUE(StoreAddress("postgres://host/db").is_server());
    for (const char* other : {"mysql://u:secret@h/db", "PostgreSQL://u:secret@h/db"}) {
        try {
            const StoreAddress address(other);
            FAIL() << other;
        } catch (const UsageError& error) {
            EXPECT_THAT(error.what(), Not(HasSubstr("secret")));
            EXPECT_THAT(error.what(), HasSubstr("no address of a store"));
            EXPECT_FALSE(error.hint().empty());
        }
    }
}

TEST(StoreAddress, ShowsNoPassword) {
    const std::pair<const char*, const char*> cases[] = {
        {"postgres://ann:secret@host:5433/runs", "postgresql://ann@host:5433/runs"},
        {"postgresql://ann:se%2Fcr%40et@host/runs", "postgresql://ann@host/runs"},
        {"postgresql://host/runs?user=ann&password=secret&sslmode=require",
         "postgresql://ann@host/runs?sslmode=require"},
        {"postgresql://ann:secret@[::1]:5432/runs", "postgresql://ann@[::1]:5432/runs"},
        {"postgresql:///runs?host=/tmp/x&password=secret", "postgresql:///runs?host=/tmp/x"},
        {"postgresql://a:secret@one:1,two:2/runs", "postgresql://a@/runs?host=one,two&port=1,2"},
        {"postgresql://ann:sec?ret@host/runs", "postgresql://ann@host/runs"},
        {"postgresql://h/r?sslpassword=secret&options=-csearch_path%3Dteam",
         "postgresql://h/r?options=-csearch_path%3Dteam"},
    };
    for (const auto& [given, shown] : cases) {
        EXPECT_TRUE(StoreAddress(given).has_password()) << given;
        EXPECT_EQ(StoreAddress(given).shown(), shown);
        EXPECT_FALSE(StoreAddress(shown).has_password()) << shown;
        std::map<std::string, std::string> same = StoreAddress(given).options();
        same.erase("password");
        same.erase("sslpassword");
        EXPECT_EQ(StoreAddress(shown).options(), same) << "it leads to the same store";
    }
}

TEST(StoreAddress, RefusesWhatCouldShowAPassword) {
    for (const char* given : {"postgresql://ann:sec/ret@host/runs", "postgresql://ann:sec@ret@host/runs",
                              "postgresql://host/runs?pasword=secret", "postgresql://ann:secret%zz@host/runs",
                              "postgresql://host/runs?password=sec=ret", "postgresql://[secret"}) {
        try {
            (void)StoreAddress(given).shown();
            FAIL() << given << " is shown as " << StoreAddress(given).shown();
        } catch (const UsageError& error) {
            EXPECT_EQ(std::string(error.what()), "postgresql://...: the address of the store cannot be read");
            EXPECT_THAT(error.hint(), Not(HasSubstr("ret")));
        }
    }
}

TEST(StoreAddress, AnAddressOfAnotherFormIsNoFile) {
    for (const char* given :
         {"postgresql:/ann:secret@host/runs", "postgres:ann:secret@host/runs", "postgresql//ann:secret@host/runs",
          "POSTGRES:/ann:secret@host/runs", "host=db user=ann password=secret dbname=runs", "dbname=runs user=ann",
          "hst=db password=secret", "password = secret"}) {
        try {
            const StoreAddress address(given);
            FAIL() << given << " is taken as a file";
        } catch (const UsageError& error) {
            EXPECT_THAT(error.what(), Not(HasSubstr("secret")));
            EXPECT_THAT(error.hint(), HasSubstr("postgresql://USER@HOST/DATABASE"));
        }
    }
    for (const char* file : {"a=b.db", "/data/host=7/strop.db", "runs@home.db"})
        EXPECT_EQ(StoreAddress(file).shown(), file);
}

// 0 where all of it holds, in a process of its own: what is hidden stays hidden.
int hide_and_ask() {
    setenv("STROP_STORE", "postgresql://ann:secret@host/runs", 1);
    setenv("PGPASSWORD", "other", 1);
    hide_store_passwords();
    if (std::getenv("STROP_STORE") || std::getenv("PGPASSWORD")) return 1;
    if (StoreAddress::standard().given() != "postgresql://ann:secret@host/runs") return 2;
    if (hidden_password() != "other") return 3;
    setenv("STROP_STORE", "file.db", 1);
    hide_store_passwords();
    return StoreAddress::standard().given() == "file.db" && std::getenv("STROP_STORE") ? 0 : 4;
}

TEST(StoreAddress, PasswordsLeaveTheEnvironment) {
    EXPECT_EXIT(std::_Exit(hide_and_ask()), testing::ExitedWithCode(0), "");
}

TEST(StoreAddress, PasswordsLeaveTheCommandLine) {
    for (const char* given :
         {"postgresql://ann:secret@host/runs", "--store=postgres://ann:secret@host/runs",
          "postgresql://host/runs?user=ann&password=secret", "postgresql://ann:sec@ret/@host/runs"}) {
        std::string word = given;
        blank_store_password(word.data());
        EXPECT_EQ(word.size(), std::strlen(given));
        EXPECT_THAT(word, Not(HasSubstr("sec"))) << word;
        EXPECT_THAT(word, Not(HasSubstr("ret"))) << word;
        EXPECT_THAT(word, HasSubstr("host"));
    }
    std::string word = "a:b@c";
    blank_store_password(word.data());
    EXPECT_EQ(word, "a:b@c");
}

}  // namespace
}  // namespace strop
