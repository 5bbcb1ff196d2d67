"""Plays files of rdma-core's tests: in GraalPy on the stand-in for pyverbs, or in CPython on pyverbs itself.

Arguments: the folder of the tests, the device, the network interface below it, the modules' names with commas between, a
regular expression of the tests wanted, and a JSON list of tests to leave out. Prints a plan, and for each test a line of JSON when it starts and one when it
ends, behind @@.
"""
import json
import os
import re
import subprocess
import sys
import time
import types
import unittest

folder, device, netdev, modules, only, left_out = sys.argv[1:7]
left_out = set(json.loads(left_out))
sys.path[1:1] = [folder, os.path.dirname(folder)]
if sys.implementation.name == 'graalpy':
    import surroundings

# The package's own __init__ imports every file; those asked for are enough.
package = types.ModuleType('tests')
package.__path__ = [folder]
sys.modules['tests'] = package


def say(**what):
    print('@@ ' + json.dumps(what), flush=True)


# ---------------------------------------------------------------- what tests ask of the system

_check_output, _exists = subprocess.check_output, os.path.exists
# Only devices that are hardware have it.
_INTERFACES = f'/sys/class/infiniband/{device}/device/net/'


def check_output(command, *args, **kwargs):
    if command == ['ls', _INTERFACES]:
        return f'{netdev}\n'.encode()
    if command[:2] == ['ip', '-j'] and netdev == 'lo':
        return json.dumps([{'addr_info': [{'local': '127.0.0.1'}], 'address': '00:00:00:00:00:00'}]).encode()
    return _check_output(command, *args, **kwargs)


subprocess.check_output = check_output
os.path.exists = lambda path: path == _INTERFACES or _exists(path)


def gid_index():
    """Of the GID that is an IPv4 address; 0 where there is none."""
    from pyverbs.device import Context
    context = Context(name=device)
    try:
        table = context.query_gid_table(1024)
        return next((entry.gid_index for entry in table
                     if entry.gid_str().startswith(('::ffff:', '0000:0000:0000:0000:0000:ffff:'))), 0)
    finally:
        context.close()


# ---------------------------------------------------------------- the tests

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
        elif re.search(only, name_of(test)) and name_of(test) not in left_out:
            yield test


sys.argv = ['run_tests.py', '--dev', device, '--port', '1', '--gid', str(gid_index())]
from args_parser import parser
parser.parse_args()

names = ['tests.' + module for module in modules.split(',')]
suite = list(wanted(unittest.defaultTestLoader.loadTestsFromNames(names)))
say(kind='plan', tests=[name_of(test) for test in suite])
unittest.TestSuite(suite).run(Result())
say(kind='over')
