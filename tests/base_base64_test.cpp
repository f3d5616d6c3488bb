#include <gtest/gtest.h>

#include "base/base64.h"

namespace strop {
namespace {

TEST(Base64, has_the_texts_of_the_standard) {
    for (const auto& [bytes, text] : {std::pair{"", ""},
                                      {"f", "Zg=="},
                                      {"fo", "Zm8="},
                                      {"foo", "Zm9v"},
                                      {"foob", "Zm9vYg=="},
                                      {"fooba", "Zm9vYmE="},
                                      {"foobar", "Zm9vYmFy"},
                                      {"\xff\xfe\xfd", "//79"}}) {
        EXPECT_EQ(base64(bytes), text);
        EXPECT_EQ(from_base64(text), bytes);
    }
}

TEST(Base64, refuses_what_is_none) {
    for (const char* text : {"Zg=", "Zg", "Z===", "Zg==Zg==", "Z g=", "Zm9v\n"})
        EXPECT_EQ(from_base64(text), std::nullopt) << text;
}

}  // namespace
}  // namespace strop
