// strop:link -ldnnl
// oneDNN's convolution in the layouts it prefers; reorders from and to the caller's are part of each call.
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
    dnnl::convolution_forward primitive;
    memory::desc x, w, y;              // the caller's
    memory inner_x, inner_w, inner_y;  // oneDNN's, with scratch of their own where they differ
    dnnl::reorder read_x, read_w, write_y;
};

// Memory in oneDNN's layout: scratch when it differs from the caller's, else a handle without a buffer.
memory inner(const memory::desc& wanted, const memory::desc& given) {
    return wanted == given ? memory(given, engine(), DNNL_MEMORY_NONE) : memory(wanted, engine());
}

Entry make(int64_t stride, int64_t padding, int64_t dilation, int64_t groups, int64_t N, int64_t C, int64_t H,
           int64_t W, int64_t K, int64_t R, int64_t S) {
    int64_t P = (H + 2 * padding - dilation * (R - 1) - 1) / stride + 1;
    int64_t Q = (W + 2 * padding - dilation * (S - 1) - 1) / stride + 1;
    memory::dims filter = {K, C, R, S};
    if (groups > 1) filter = {groups, K / groups, C / groups, R, S};
    memory::desc x = dense({N, C, H, W}, Tag::nchw), y = dense({N, K, P, Q}, Tag::nchw);
    memory::desc w = dense(filter, groups > 1 ? Tag::goihw : Tag::oihw);
    dnnl::convolution_forward::desc desc(dnnl::prop_kind::forward_inference,
                                         dnnl::algorithm::convolution_direct, dense({N, C, H, W}, Tag::any),
                                         dense(filter, Tag::any), dense({N, K, P, Q}, Tag::any),
                                         {stride, stride}, {dilation - 1, dilation - 1}, {padding, padding},
                                         {(P - 1) * stride + dilation * (R - 1) + 1 - H - padding,
                                          (Q - 1) * stride + dilation * (S - 1) + 1 - W - padding});
    dnnl::convolution_forward::primitive_desc chosen(desc, engine());
    Entry entry{dnnl::convolution_forward(chosen),
                x,
                w,
                y,
                inner(chosen.src_desc(), x),
                inner(chosen.weights_desc(), w),
                inner(chosen.dst_desc(), y),
                {},
                {},
                {}};
    if (chosen.src_desc() != x) entry.read_x = dnnl::reorder({engine(), x, engine(), chosen.src_desc()});
    if (chosen.weights_desc() != w)
        entry.read_w = dnnl::reorder({engine(), w, engine(), chosen.weights_desc()});
    if (chosen.dst_desc() != y) entry.write_y = dnnl::reorder({engine(), chosen.dst_desc(), engine(), y});
    return entry;
}

// The caller's data in oneDNN's layout.
void bring(const dnnl::reorder& reorder, const memory::desc& desc, const float* data, memory& inner) {
    if (reorder) {
        memory outer = wrap(desc, data);
        reorder.execute(stream(), outer, inner);
    } else {
        inner.set_data_handle(const_cast<float*>(data));
    }
}

}  // namespace

extern "C" void conv2d(const float* x, const float* w, float* y, int64_t stride, int64_t padding,
                       int64_t dilation, int64_t groups, int64_t N, int64_t C, int64_t H, int64_t W,
                       int64_t K, int64_t R, int64_t S) {
    static thread_local std::map<std::vector<int64_t>, Entry> cache;
    std::vector<int64_t> key = {stride, padding, dilation, groups, N, C, H, W, K, R, S};
    auto found = cache.find(key);
    if (found == cache.end())
        found = cache.emplace(key, make(stride, padding, dilation, groups, N, C, H, W, K, R, S)).first;
    Entry& entry = found->second;
    bring(entry.read_x, entry.x, x, entry.inner_x);
    bring(entry.read_w, entry.w, w, entry.inner_w);
    if (!entry.write_y) entry.inner_y.set_data_handle(y);
    entry.primitive.execute(
        stream(),
        {{DNNL_ARG_SRC, entry.inner_x}, {DNNL_ARG_WEIGHTS, entry.inner_w}, {DNNL_ARG_DST, entry.inner_y}});
    if (entry.write_y) {
        memory outer = wrap(entry.y, y);
        entry.write_y.execute(stream(), entry.inner_y, outer);
    }
    stream().wait();
}
