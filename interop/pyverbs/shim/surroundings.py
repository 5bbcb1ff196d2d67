# SPDX-License-Identifier: Apache-2.0
"""What the tests expect of Python and the system, and GraalPy or a JVM does otherwise."""
import builtins
import io
import os
import random

import java

from pyverbs import _core

# Files of /proc and /sys have size 0, and GraalPy reads them as empty.
_open, _exists = builtins.open, os.path.exists
_Files, _Path = java.type('java.nio.file.Files'), java.type('java.nio.file.Path')


def open_any(path, mode='r', *args, **kwargs):
    if isinstance(path, str) and path.startswith(('/proc/', '/sys/')) and mode == 'r' and _exists(path):
        return io.StringIO(_Files.readString(_Path.of(path)))
    return _open(path, mode, *args, **kwargs)


builtins.open = open_any

# An XRC domain is opened by descriptor, in Java by path.
_open_descriptor = os.open


def open_and_remember(path, *args, **kwargs):
    fd = _open_descriptor(path, *args, **kwargs)
    _core._PATHS[fd] = str(path)
    return fd


os.open = open_and_remember
if not hasattr(os, 'dup'):
    os.dup = lambda fd: fd
if not hasattr(os, 'geteuid'):
    os.geteuid = lambda: 0

# The tests are of a time when a whole number might be a float here; Python 3.12 refuses that.
_randrange = random.randrange
random.randrange = lambda start, stop=None, step=1: _randrange(int(start), None if stop is None else int(stop), int(step))
random.randint = lambda low, high: random.randrange(low, int(high) + 1)
