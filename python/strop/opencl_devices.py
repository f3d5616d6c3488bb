"""Prints the system's OpenCL devices as JSON: [{"platform", "name", "version", "units", "local_bytes", "global_bytes"}].

In a process of its own, as a driver may crash, print or leave handlers behind. The order is that of the loader; kernels
run on the first device. An empty list: no loader, no platform, or no device; "why" on standard error.
"""

import ctypes
import json
import sys

ALL_DEVICES = 0xFFFFFFFF
PLATFORM_NAME = 0x0902
DEVICE_UNITS, DEVICE_GLOBAL_BYTES, DEVICE_LOCAL_BYTES, DEVICE_NAME, DEVICE_VERSION = 0x1002, 0x101F, 0x1023, 0x102B, 0x102F


def handles(function, *first):
    """What an OpenCL function lists: asked for the count, then for that many."""
    count = ctypes.c_uint(0)
    if function(*first, 0, None, ctypes.byref(count)) != 0 or count.value == 0:
        return []
    found = (ctypes.c_void_p * count.value)()
    return list(found) if function(*first, count.value, found, None) == 0 else []


def text(function, handle, key):
    size = ctypes.c_size_t(0)
    if function(ctypes.c_void_p(handle), key, 0, None, ctypes.byref(size)) != 0:
        return ""
    buffer = ctypes.create_string_buffer(size.value + 1)
    function(ctypes.c_void_p(handle), key, size, buffer, None)
    return buffer.value.decode("utf-8", "replace").strip()


def number(function, handle, key, kind=ctypes.c_uint64):
    value = kind(0)
    function(ctypes.c_void_p(handle), key, ctypes.sizeof(value), ctypes.byref(value), None)
    return value.value


def devices(library):
    found = []
    for platform in handles(library.clGetPlatformIDs):
        ask_platform, ask_device = library.clGetPlatformInfo, library.clGetDeviceInfo
        for device in handles(library.clGetDeviceIDs, ctypes.c_void_p(platform), ctypes.c_uint64(ALL_DEVICES)):
            found.append({"platform": text(ask_platform, platform, PLATFORM_NAME),
                          "name": text(ask_device, device, DEVICE_NAME),
                          "version": text(ask_device, device, DEVICE_VERSION),
                          "units": number(ask_device, device, DEVICE_UNITS, ctypes.c_uint),
                          "local_bytes": number(ask_device, device, DEVICE_LOCAL_BYTES),
                          "global_bytes": number(ask_device, device, DEVICE_GLOBAL_BYTES)})
    return found


def main():
    try:
        library = ctypes.CDLL("libOpenCL.so.1")
    except OSError:
        print("[]")
        sys.exit("libOpenCL.so.1 is missing")
    found = devices(library)
    print(json.dumps(found))
    if not found:
        sys.exit("libOpenCL.so.1 knows no device")


if __name__ == "__main__":
    main()
