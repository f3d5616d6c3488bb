#include "problem/names.h"

#include <dlfcn.h>

#include <set>

namespace strop {

namespace {

// By the libraries that every kernel is linked with: its calls of itself would reach them.
bool is_exported_here(const std::string& name) {
    for (const char* file : {"libm.so.6", "libc.so.6"}) {
        void* library = ::dlopen(file, RTLD_LAZY | RTLD_NOLOAD);  // nothing where the system has another one
        if (!library) continue;
        const bool found = ::dlsym(library, name.c_str()) != nullptr;
        ::dlclose(library);
        if (found) return true;
    }
    return false;
}

}  // namespace

bool is_keyword(const std::string& name) {
    static const std::set<std::string> words = {
        // C++20
        "alignas",
        "alignof",
        "and",
        "and_eq",
        "asm",
        "auto",
        "bitand",
        "bitor",
        "bool",
        "break",
        "case",
        "catch",
        "char",
        "char8_t",
        "char16_t",
        "char32_t",
        "class",
        "compl",
        "concept",
        "const",
        "consteval",
        "constexpr",
        "constinit",
        "const_cast",
        "continue",
        "co_await",
        "co_return",
        "co_yield",
        "decltype",
        "default",
        "delete",
        "do",
        "double",
        "dynamic_cast",
        "else",
        "enum",
        "explicit",
        "export",
        "extern",
        "false",
        "float",
        "for",
        "friend",
        "goto",
        "if",
        "inline",
        "int",
        "long",
        "mutable",
        "namespace",
        "new",
        "noexcept",
        "not",
        "not_eq",
        "nullptr",
        "operator",
        "or",
        "or_eq",
        "private",
        "protected",
        "public",
        "register",
        "reinterpret_cast",
        "requires",
        "return",
        "short",
        "signed",
        "sizeof",
        "static",
        "static_assert",
        "static_cast",
        "struct",
        "switch",
        "template",
        "this",
        "thread_local",
        "throw",
        "true",
        "try",
        "typedef",
        "typeid",
        "typename",
        "union",
        "unsigned",
        "using",
        "virtual",
        "void",
        "volatile",
        "wchar_t",
        "while",
        "xor",
        "xor_eq",
        // Python 3
        "False",
        "None",
        "True",
        "as",
        "assert",
        "async",
        "await",
        "def",
        "del",
        "elif",
        "except",
        "finally",
        "from",
        "global",
        "import",
        "in",
        "is",
        "lambda",
        "nonlocal",
        "pass",
        "raise",
        "with",
        "yield",
        // functions of the expressions
        "min",
        "max",
        "abs",
        "ceildiv",
        // macros of the C library's headers
        "BUFSIZ",
        "CHAR_BIT",
        "DBL_MAX",
        "DBL_MIN",
        "DOMAIN",
        "EDOM",
        "EIO",
        "EOF",
        "ERANGE",
        "FLT_EPSILON",
        "FLT_MAX",
        "FLT_MIN",
        "HUGE_VAL",
        "HUGE_VALF",
        "INFINITY",
        "INT_MAX",
        "INT_MIN",
        "LONG_MAX",
        "LONG_MIN",
        "M_E",
        "M_PI",
        "NAN",
        "NULL",
        "NZERO",
        "OVERFLOW",
        "RAND_MAX",
        "SNAN",
        "UINT_MAX",
        "UNDERFLOW",
        "alloca",
        "errno",
        "stderr",
        "stdin",
        "stdout",
    };
    return words.count(name) > 0;
}

bool is_type_name(const std::string& name) {
    static const std::set<std::string> types = {
        "int8_t",   "int16_t",   "int32_t",   "int64_t", "uint8_t",  "uint16_t", "uint32_t",
        "uint64_t", "uintptr_t", "ptrdiff_t", "ssize_t", "intptr_t", "intmax_t", "uintmax_t",
    };
    return types.count(name) > 0;
}

bool is_name_of_kernels(const std::string& name) {
    return name == "std" || name == "vec" || name == "team" || name == "vmask";
}

bool is_module_of_results(const std::string& name) {
    static const std::set<std::string> modules = {
        "ctypes",    "functools", "hashlib",   "importlib", "math",   "ml_dtypes",  "numpy",
        "os",        "operator",  "pathlib",   "shlex",     "shutil", "subprocess", "sys",
        "sysconfig", "tempfile",  "threading", "tilelang",  "torch",  "triton",
    };
    return modules.count(name) > 0;
}

bool is_library_function(const std::string& name) {
    static const std::set<std::string> functions = {
        "abort",        "access",        "acos",        "acosh",    "alarm",      "asin",         "asinh",
        "atan",         "atan2",         "atanh",       "atexit",   "atof",       "atoi",         "atol",
        "bcmp",         "bcopy",         "brk",         "bsearch",  "bzero",      "calloc",       "cbrt",
        "ceil",         "clearenv",      "clock",       "close",    "copysign",   "cos",          "cosh",
        "daemon",       "div",           "dprintf",     "drand48",  "drem",       "dup",          "erf",
        "erfc",         "execl",         "exit",        "exp",      "exp10",      "exp2",         "expm1",
        "fabs",         "fadd",          "fclose",      "fdim",     "fdiv",       "fflush",       "ffma",
        "ffs",          "fgets",         "finite",      "floor",    "fma",        "fmax",         "fmaximum",
        "fmaximum_mag", "fmaximum_num",  "fmaxmag",     "fmin",     "fminimum",   "fminimum_mag", "fminimum_num",
        "fminmag",      "fmod",          "fmul",        "fopen",    "fork",       "fprintf",      "fputs",
        "fread",        "free",          "frexp",       "fromfp",   "fromfpx",    "fseek",        "fsqrt",
        "fsub",         "ftell",         "fwrite",      "gamma",    "getc",       "getenv",       "getline",
        "getpayload",   "getpid",        "gets",        "getw",     "hypot",      "ilogb",        "index",
        "isatty",       "isinf",         "isnan",       "j0",       "j1",         "jn",           "kill",
        "labs",         "ldexp",         "ldiv",        "lgamma",   "link",       "llabs",        "llogb",
        "llrint",       "llround",       "lockf",       "log",      "log10",      "log1p",        "log2",
        "logb",         "lrint",         "lround",      "lseek",    "main",       "malloc",       "mblen",
        "memccpy",      "memchr",        "memcmp",      "memcpy",   "memmem",     "memmove",      "mempcpy",
        "memset",       "mktime",        "modf",        "nan",      "nearbyint",  "nextafter",    "nextdown",
        "nexttoward",   "nextup",        "nice",        "open",     "pause",      "perror",       "pipe",
        "pow",          "pread",         "printf",      "putc",     "putchar",    "putenv",       "puts",
        "putw",         "pwrite",        "qsort",       "qsort_r",  "quick_exit", "raise",        "rand",
        "random",       "read",          "realloc",     "realpath", "remainder",  "remove",       "remquo",
        "rename",       "rewind",        "rindex",      "rint",     "rmdir",      "round",        "roundeven",
        "sbrk",         "scalb",         "scalbln",     "scalbn",   "scanf",      "select",       "setenv",
        "setpayload",   "signal",        "significand", "sin",      "sincos",     "sinh",         "sleep",
        "snprintf",     "sprintf",       "sqrt",        "srand",    "sscanf",     "stpcpy",       "strcat",
        "strchr",       "strcmp",        "strcpy",      "strdup",   "strerror",   "strlen",       "strstr",
        "strtod",       "strtok",        "strtol",      "strxfrm",  "swab",       "symlink",      "sync",
        "syscall",      "system",        "tan",         "tanh",     "tgamma",     "time",         "tmpnam",
        "totalorder",   "totalordermag", "trunc",       "truncate", "ufromfp",    "ufromfpx",     "unlink",
        "usleep",       "vfork",         "write",       "y0",       "y1",         "yn",
    };
    if (is_exported_here(name)) return true;
    // In float and long double, and what generated sources call their own.
    const bool narrower = !name.empty() && (name.back() == 'f' || name.back() == 'l') &&
                          functions.count(name.substr(0, name.size() - 1)) > 0;
    return narrower || functions.count(name) > 0;
}

}  // namespace strop
