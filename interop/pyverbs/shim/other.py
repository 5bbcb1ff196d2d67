# SPDX-License-Identifier: Apache-2.0
"""The second process of tests with two, in a JVM of its own: see two_processes.py.

Arguments: the folder of the tests, the device, and the port where the first process waits.
"""
import os
import pickle
import socket
import sys

import java

import stage

folder, device, port = sys.argv[1:4]
stage.set_up(folder)
stage.pass_arguments(device, 0)
import multiprocessing

# When the first process is gone, nobody waits for this one, whatever it waits for.
java.type('java.lang.ProcessHandle').current().parent().get().onExit().thenRun(
    lambda: java.type('java.lang.Runtime').getRuntime().halt(1))

connection = socket.create_connection(('127.0.0.1', int(port)))
channel = connection.makefile('rwb')


def write(what):
    pickle.dump(what, channel)
    channel.flush()


class There:
    """A barrier or a queue of the first process."""

    def __init__(self, number):
        self._number = number

    def _ask(self, name, *args):
        write(('ask', self._number, name, args))
        kind, answer = pickle.load(channel)
        if kind == 'error':
            raise answer
        return answer

    def wait(self):
        return self._ask('wait')

    def put(self, what):
        self._ask('put', what)

    def get(self):
        return self._ask('get')


class Unpickler(pickle.Unpickler):
    def persistent_load(self, number):
        return There(number)


channel.write(os.environ['PYVERBS_WORD'].encode() + b'\n')
channel.flush()
while True:
    try:
        kind, test, own, name, args, kwargs = Unpickler(channel).load()
    except EOFError:
        break
    case = kind(test)
    vars(case).update(own)
    code = multiprocessing.exit_code(getattr(case, name), args, kwargs)
    # In front of what the first process then says of the test.
    sys.stdout.flush()
    sys.stderr.flush()
    write(('ended', code))
