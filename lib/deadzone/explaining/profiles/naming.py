"""The package a function belongs to, read from its name.

Go writes `path/to/package.(*Type).Method`, with the dots of the last path element as `%2e`; C++ and Rust
write `namespace::function`; py-spy writes `function (path/file.py:12)`, and Node alike; perf marks the kernel's
functions with `_[k]`; async-profiler writes `java/util/HashMap.get`; GCC adds `.constprop.0` and the like to
parts of a function.
"""

import re

KERNEL = "(kernel)"
NO_PACKAGE = "(no package)"

SOURCE_FILE = re.compile(r"[ (](?P<file>[^()\s]+\.(?:pyx?|[mc]?js|ts|rb|php))(?::\d+)*\)?$")
COMPILER_SUFFIX = re.compile(r"(?:\.(?:constprop|isra|part|cold|lto_priv|llvm)(?:\.\d+)*)+$")
KERNEL_MARK = "_[k]"


def package_of(function: str, binary: str = "") -> str:
    """The package, namespace, file or class of a function.

    binary: name of the program or library the code is in, used where the name says nothing.
    """
    if function.startswith("[") and function.endswith("]"):
        return function
    if function.endswith(KERNEL_MARK):
        return KERNEL
    if source := SOURCE_FILE.search(function):
        return source["file"]
    plain = re.split(r"[\[(<]", COMPILER_SUFFIX.sub("", function), maxsplit=1)[0]
    if "::" in plain:
        return plain.split("::", 1)[0] or NO_PACKAGE
    folder, slash, last = plain.rpartition("/")
    name, dot, _ = last.partition(".")
    if dot and name:
        return folder + slash + name.replace("%2e", ".")
    return f"[{binary}]" if binary else NO_PACKAGE
