#include "judge/python_spec.h"

namespace strop::judge {

Json names_and_dtypes(const std::vector<Tensor>& tensors) {
    Json list = Json::array();
    for (const Tensor& tensor : tensors) list.push_back({{"name", tensor.name}, {"dtype", name_of(tensor.dtype)}});
    return list;
}

Json parameters_with_values(const Problem& problem) {
    Json list = Json::array();
    for (const Parameter& parameter : problem.parameters)
        list.push_back({{"name", parameter.name}, {"dtype", name_of(parameter.dtype)}, {"value", parameter.value}});
    return list;
}

std::map<std::string, std::string> framework_environment(int threads) {
    return {{"MKL_NUM_THREADS", std::to_string(threads)},
            {"OPENBLAS_NUM_THREADS", std::to_string(threads)},
            {"PYTHONDONTWRITEBYTECODE", "1"}};
}

}  // namespace strop::judge
