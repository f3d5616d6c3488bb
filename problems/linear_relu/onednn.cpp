// strop:link -ldnnl
// oneDNN's inner product with ReLU as a post-operation on plain layouts, kept for each shape.
#include <cstdint>
#include <map>
#include <vector>

#include <dnnl.hpp>

namespace {

using dnnl::memory;
using Tag = memory::format_tag;

const dnnl::engine& engine() {
    static const dnnl::engine cpu(dnnl::engine::kind::cpu, 0);
    return cpu;
}

dnnl::stream& stream() {
    static thread_local dnnl::stream queue(engine());
    return queue;
}

memory::desc dense(const memory::dims& dims, Tag tag) {
    return memory::desc(dims, memory::data_type::f32, tag);
}

// A buffer of the caller as oneDNN's memory; nothing is copied.
memory wrap(const memory::desc& desc, const void* data) {
    return memory(desc, engine(), const_cast<void*>(data));
}

struct Entry {
    dnnl::inner_product_forward primitive;
    memory::desc x, w, b, y;
};

Entry make(int64_t M, int64_t I, int64_t O) {
    memory::desc x = dense({M, I}, Tag::ab), w = dense({O, I}, Tag::ab), b = dense({O}, Tag::a);
    memory::desc y = dense({M, O}, Tag::ab);
    dnnl::post_ops relu;
    relu.append_eltwise(1.0f, dnnl::algorithm::eltwise_relu, 0.0f, 0.0f);
    dnnl::primitive_attr attributes;
    attributes.set_post_ops(relu);
    dnnl::inner_product_forward::desc desc(dnnl::prop_kind::forward_inference, x, w, b, y);
    return {dnnl::inner_product_forward({desc, attributes, engine()}), x, w, b, y};
}

}  // namespace

extern "C" void linear_relu(const float* x, const float* w, const float* b, float* y, int64_t M, int64_t I,
                            int64_t O) {
    static thread_local std::map<std::vector<int64_t>, Entry> cache;
    auto found = cache.find({M, I, O});
    if (found == cache.end()) found = cache.emplace(std::vector<int64_t>{M, I, O}, make(M, I, O)).first;
    const Entry& entry = found->second;
    entry.primitive.execute(stream(), {{DNNL_ARG_SRC, wrap(entry.x, x)},
                                       {DNNL_ARG_WEIGHTS, wrap(entry.w, w)},
                                       {DNNL_ARG_BIAS, wrap(entry.b, b)},
                                       {DNNL_ARG_DST, wrap(entry.y, y)}});
    stream().wait();
}
