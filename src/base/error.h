// Errors that end a command. Expected failures (a kernel that does not compile, a wrong output) are
// data (core/verdict.h), never exceptions.
#pragma once

#include <stdexcept>
#include <string>

namespace strop {

// Exit codes of every command.
enum class Exit : int {
    improved = 0,        // also: a command that has no notion of improvement succeeded
    no_improvement = 1,  // finished, nothing faster was found
    usage = 2,           // bad flag, bad input file
    environment = 3,     // a compiler, a package, memory or disk space is missing
    bug = 4,             // a defect of Strop
    interrupted = 130,   // stopped by the user, state saved
};

// A failure that ends the command with one line and a hint. `what()` is one lower-case phrase that
// names the file or value; `hint()` says what to do next (may be empty).
class Error : public std::runtime_error {
public:
    Error(Exit code, const std::string& phrase, std::string hint = {})
        : std::runtime_error(phrase),
          code_(code),
          hint_(std::move(hint)) {}
    Exit code() const { return code_; }
    const std::string& hint() const { return hint_; }

private:
    Exit code_;
    std::string hint_;
};

// The user gave something unusable (exit 2).
class UsageError : public Error {
public:
    explicit UsageError(const std::string& phrase, std::string hint = {})
        : Error(Exit::usage, phrase, std::move(hint)) {}
};

// The machine lacks something (exit 3); the hint says how to get it.
class EnvironmentError : public Error {
public:
    explicit EnvironmentError(const std::string& phrase, std::string hint = {})
        : Error(Exit::environment, phrase, std::move(hint)) {}
};

// The user asked to stop (exit 130); the state is saved.
class Interrupted : public Error {
public:
    Interrupted() : Error(Exit::interrupted, "interrupted") {}
};

}  // namespace strop
