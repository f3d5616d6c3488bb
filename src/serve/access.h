// Who is answered: those who know the token where one is needed, at an address of ours, and no other site's page on
// behalf of a browser's user.
#pragma once

#include <optional>
#include <string>

#include "serve/message.h"

namespace strop::serve {

struct Access {
    std::string address;     // that is listened on: "127.0.0.1", "0.0.0.0", "::1", a name
    std::string machine;     // this machine's own name
    std::string token;       // empty: none is needed
    std::string form_token;  // that each form of ours carries, and nobody else's can
};

// 128 random bits, in hexadecimal digits.
std::string random_token();
// Whether only this machine reaches the address.
bool is_loopback(const std::string& address);

// The answer to a program's request that goes no further: 401 without the token in its header, 403 for what comes from
// elsewhere.
std::optional<Response> refusal(const Access& access, const Request& request);
// The same for a browser's, which may have the token in a link or a cookie: a redirect turns the one into the other. A
// form needs its own token.
std::optional<Response> first_answer(const Access& access, const Request& request);

}  // namespace strop::serve
