// What the formats have in common once a row is read: values, failures, phases, units.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "exchange/document.h"
#include "tune/measured_space.h"

namespace strop::exchange {

// A tunable's value as a row says it.
struct Setting {
    std::string name;
    Value value;
    bool is_boolean = false;
};
Setting setting_of(const Object& object, const std::string& name);  // of the object's key of this name

// Fills a space row by row: tunables, the values that occur, distinct configurations.
class Gatherer {
public:
    explicit Gatherer(tune::MeasuredSpace& space) : space_(space) {}

    void declare(const std::string& name);  // the next tunable, unless it is known
    // Lists a value of a declared tunable. Equal numbers become one: of 1 and 1.0 the first that was seen.
    void note(const Setting& setting);
    // Where nothing was declared, the first row declares. A row with other tunables is an error at `key`.
    Configuration configuration(const std::vector<Setting>& settings, const Object& row, const std::string& key);
    // Has no effect when the configuration is there already.
    void add(tune::Measured entry);
    // Numbers ascending, then texts.
    void sort_values();
    // To be called last: tells which tunables are booleans.
    void finish();

private:
    struct Less {
        bool operator()(const Value& a, const Value& b) const;
    };
    struct Column {
        size_t tunable = 0;                        // index in the space
        std::map<Value, uint32_t, Less> ordinals;  // in the order of appearance
        bool all_booleans = true;
    };

    const Value& note(const Setting& setting, Column& column);

    tune::MeasuredSpace& space_;
    std::map<std::string, Column> columns_;
    std::unordered_set<std::string> seen_;  // the ordinals of each configuration
};

// As files have it: false or true for booleans, tunables in the order of the space.
OrderedJson json_of(const tune::MeasuredSpace& space, const std::string& name, const Value& value);
OrderedJson json_of(const tune::MeasuredSpace& space, const Configuration& configuration);

using Failure = tune::Measured::Failure;
Failure failure_of(const tune::Measured& entry);  // `other` also when the value is not finite

// T4's words: "correct", "compile", ...; `other` is "other", which T4 does not have.
std::string invalidity_of(Failure failure);
std::optional<Failure> failure_of_invalidity(const std::string& text);
// Kernel Tuner's: "CompilationFailedConfig", ...; it has no word for some.
std::string error_of(Failure failure);
Failure failure_of_error(const std::string& text);

// A phase that took no time is not kept.
void set_phase(tune::Measured& entry, const std::string& phase, double milliseconds);

// "GFLOP/s", "GB/s/W".
bool is_rate(const std::string& objective);

// Exact for what milliseconds can express: 1500 ns are 0.0015.
struct TimeUnit {
    double multiply = 1, divide = 1;
    double milliseconds(double value) const { return value * multiply / divide; }
};
// "ns", "Nanoseconds", ..., "s", "Seconds".
std::optional<TimeUnit> time_unit(const std::string& name);
// Milliseconds where the key is absent.
TimeUnit time_unit(const Object& object, const std::string& key);

}  // namespace strop::exchange
