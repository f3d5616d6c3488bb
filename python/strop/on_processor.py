"""What a source that was written for a GPU asks of torch.cuda, answered on the processor. Imported problems have a copy."""

from __future__ import annotations

import types


class Cuda:
    """Says that there is a device, and does nothing: calls, attributes and `with` give it again."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __call__(self, *arguments, **named):
        is_decorator = len(arguments) == 1 and not named and isinstance(arguments[0], types.FunctionType)
        return arguments[0] if is_decorator else self

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return False

    def is_available(self):
        return True

    def device_count(self):
        return 1

    def current_device(self):
        return 0

    def get_device_capability(self, *_):
        return (8, 0)

    def get_device_name(self, *_):
        return "cpu"

    def get_device_properties(self, *_):
        return types.SimpleNamespace(name="cpu", major=8, minor=0, multi_processor_count=1, warp_size=32,
                                     total_memory=1 << 33, max_threads_per_multi_processor=2048)

    def elapsed_time(self, *_):
        return 1.0

    def max_memory_allocated(self, *_):
        return 0

    memory_allocated = max_memory_allocated


cuda = Cuda()
