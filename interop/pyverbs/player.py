# SPDX-License-Identifier: Apache-2.0
"""Plays files of rdma-core's tests: in GraalPy on the stand-in for pyverbs, or in CPython on pyverbs itself.

Arguments: the folder of the tests, the device, the network interface below it, the modules' names with commas between, a
regular expression of the tests wanted, and a JSON list of tests to leave out. Prints a plan, and for each test a line of JSON
when it starts and one when it ends, behind @@.
"""
import json
import re
import sys
import time
import unittest

import stage

folder, device, interface, modules, only, left_out = sys.argv[1:7]
left_out = set(json.loads(left_out))
stage.set_up(folder)
stage.answer_for(device, interface)


def say(**what):
    print('@@ ' + json.dumps(what), flush=True)


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


stage.pass_arguments(device, gid_index())
names = ['tests.' + module for module in modules.split(',')]
suite = list(wanted(unittest.defaultTestLoader.loadTestsFromNames(names)))
say(kind='plan', tests=[name_of(test) for test in suite])
unittest.TestSuite(suite).run(Result())
say(kind='over')
