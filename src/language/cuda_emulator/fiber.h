// Going from one stack to another.
#pragma once

namespace emulator {

// Saves where it is in `*from` and goes on where `to` was saved.
extern "C" void emulator_switch(void** from, void* to);
// What to switch to in order to call `entry` on an empty stack that ends at `top`; it must not return.
void* new_stack(char* top, void (*entry)());

}  // namespace emulator
