// problem.yaml into a Problem, with everything about it checked that needs no run of the reference.
#pragma once

#include "core/problem.h"
#include "yaml/yaml_file.h"

namespace strop {

class ProblemReader {
public:
    // `text` is what `file` holds; reference and baselines are looked up beside that.
    ProblemReader(const std::string& text, const std::filesystem::path& file);

    // Everything but the hash. UsageErrors name file and line.
    Problem read();

private:
    const YamlEntry& required(const std::string& key, const std::string& hint) const;
    void read_names();
    void check_cpp(const YAML::Node& at) const;
    void read_files();
    void read_parameters();
    Parameter read_parameter(const YamlEntry& entry);
    void read_tensors(const std::string& key, std::vector<Tensor>& tensors);
    void read_from(const YamlEntry& from, const std::string& name, Tensor& tensor);
    void read_fill(const std::vector<YamlEntry>& fields, const YamlEntry& entry, Tensor& tensor);
    void check_halves() const;
    void read_conditions();
    void read_points();
    void read_point(const YAML::Node& at, const std::string& label, const YAML::Node& value);
    void read_range();
    void read_tolerance();
    void collect_dimensions();
    void check_point(size_t index);
    std::string complaint_at(const ShapePoint& point) const;
    void check_symbols(const YAML::Node& at, const std::string& what, const Expression& expression) const;
    void claim(const YAML::Node& at, const std::string& name, const std::string& what);
    std::filesystem::path file_beside(const YAML::Node& at, const std::string& name) const;

    // An expression and where it stands, to be checked once the dimensions are known.
    struct Located {
        YAML::Node at;
        std::string what;
        Expression expression;
    };

    YamlFile yaml_;
    Problem problem_;
    std::vector<Located> shapes_;                 // of tensors: they make dimensions
    std::vector<Located> uses_;                   // limits, work, require: they use them
    std::vector<YAML::Node> point_marks_;         // one a point
    std::map<std::string, std::string> claimed_;  // name -> what has it
};

}  // namespace strop
