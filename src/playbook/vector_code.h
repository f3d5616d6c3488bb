// The vector helpers that an emitted kernel begins with. GCC/Clang vector extensions only, so that the same source
// serves AVX2, AVX-512 and NEON: `typedef float vec __attribute__((vector_size(4 * VL)))` with the tunable VL.
#pragma once

#include <set>
#include <string>

namespace strop::playbook {

// The text to put on top of a kernel: `#include`s, `vec`, and those of the helpers below that `used` names, with
// what they need, each with its stated error, in a fixed order.
//
//   load(p) store(p, v)            unaligned
//   load_tail(p, n) store_tail(p, v, n)   the first n of VL lanes, others read as 0 / are not written
//   load_end(end, n, room)         the n elements before `end`
//   stream(p, v) fence()           non-temporal store (p aligned to the vector) and its fence
//   splat(s)
//   vmax(a, b) vmin(a, b) vabs(a) vsqrt(a) vfloor(a)     NaN-propagating where NumPy's are
//   sum(v) maximum(v) minimum(v)   horizontal
//   fma(a, b, c)                   a * b + c
//   vexp(v) vlog(v) vtanh(v) verf(v) vsigmoid(v) vpow(a, b) vsin(v) vcos(v)   polynomials; error in ulp stated
//   select(mask, a, b)
// Each v-function has a scalar overload for `float`, so that tails may use plain loops.
std::string vector_prelude(const std::set<std::string>& used);
// One of them alone, and what `used` need among them.
std::string vector_helper(const std::string& name);
std::set<std::string> vector_closure(const std::set<std::string>& used);

// scratch(count): memory of so many floats that a thread keeps from call to call; with several uses
// scratch<USE>(count). Needs stdlib.h.
std::string scratch_helper(bool several_uses);

// The values of the tunable VL worth trying for registers of `vector_bytes`, best first: "8 | 16".
std::string vector_lengths(int vector_bytes);

}  // namespace strop::playbook
