"""Plays one file of rdma-core's tests on the stand-in for pyverbs.

Arguments: the folder of the tests, the device, the module's name, and a regular expression of the tests wanted. Prints for
each test a line of JSON when it starts and one when it ends, behind @@.
"""
import builtins
import io
import json
import os
import random
import re
import subprocess
import sys
import time
import types
import unittest

import java

folder, device, module, only = sys.argv[1:5]
sys.path[1:1] = [folder, os.path.dirname(folder)]
netdev = device.split('_', 1)[1]

# The package's own __init__ imports every file; the one asked for is enough.
package = types.ModuleType('tests')
package.__path__ = [folder]
sys.modules['tests'] = package

from pyverbs import _core

# ---------------------------------------------------------------- what tests ask of the system

_check_output, _exists = subprocess.check_output, os.path.exists
_INTERFACES = f'/sys/class/infiniband/{device}/device/net/'


def check_output(command, *args, **kwargs):
    """Answers for a kernel's RDMA device, which there is none of."""
    if command == ['ls', _INTERFACES]:
        return f'{netdev}\n'.encode()
    if command[:2] == ['ip', '-j'] and netdev == 'lo':
        return json.dumps([{'addr_info': [{'local': '127.0.0.1'}], 'address': '00:00:00:00:00:00'}]).encode()
    return _check_output(command, *args, **kwargs)


subprocess.check_output = check_output
os.path.exists = lambda path: path == _INTERFACES or _exists(path)

# Files of /proc and /sys have size 0, and GraalPy reads them as empty.
_plain_open = builtins.open
_Files, _Path = java.type('java.nio.file.Files'), java.type('java.nio.file.Path')


def open_any(path, mode='r', *args, **kwargs):
    if isinstance(path, str) and path.startswith(('/proc/', '/sys/')) and mode == 'r' and _exists(path):
        return io.StringIO(_Files.readString(_Path.of(path)))
    return _plain_open(path, mode, *args, **kwargs)


builtins.open = open_any

# An XRC domain is opened by descriptor, in Java by path.
_open = os.open


def open_and_remember(path, *args, **kwargs):
    fd = _open(path, *args, **kwargs)
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


# ---------------------------------------------------------------- the tests

def gid_index():
    """Of the GID that is an IPv4 address; 0 where there is none."""
    context = _core.Context(name=device)
    try:
        table = context.query_gid_table(1024)
        return next((entry.gid_index for entry in table
                     if entry.gid_str().startswith(('::ffff:', '0000:0000:0000:0000:0000:ffff:'))), 0)
    finally:
        context.close()


def say(**what):
    print('@@ ' + json.dumps(what), flush=True)


class Result(unittest.TestResult):
    began = 0

    def startTest(self, test):
        super().startTest(test)
        self.began = time.time()
        say(kind='start', test=name_of(test))

    def _end(self, test, outcome, reason=''):
        say(kind='end', test=name_of(test), outcome=outcome, reason=reason, seconds=round(time.time() - self.began, 1))

    def addSuccess(self, test):
        self._end(test, 'passed')

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self._end(test, 'skipped', reason)

    def _failed(self, test, error):
        text = self._exc_info_to_string(error, test)
        print(text, flush=True)
        self._end(test, 'failed', text.strip().splitlines()[-1])

    def addFailure(self, test, error):
        self._failed(test, error)

    def addError(self, test, error):
        self._failed(test, error)


def name_of(test):
    return test.id().removeprefix('tests.')


def wanted(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from wanted(test)
        elif re.search(only, name_of(test)):
            yield test


sys.argv = ['run_tests.py', '--dev', device, '--port', '1', '--gid', str(gid_index())]
from args_parser import parser
parser.parse_args()

suite = list(wanted(unittest.defaultTestLoader.loadTestsFromName('tests.' + module)))
say(kind='plan', tests=[name_of(test) for test in suite])
unittest.TestSuite(suite).run(Result())
say(kind='over')
