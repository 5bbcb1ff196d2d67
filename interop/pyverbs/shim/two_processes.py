# SPDX-License-Identifier: Apache-2.0
"""Two processes of a test: the first is a thread of this JVM, the second runs in another.

The other JVM is started once, and is every test's second process: its end closes what the test left open, and if a test kills
it, the next one gets a new JVM. Barriers and queues stay here; there, each is one that asks for them over a socket, by number.
What a process is to do is a method of a test case and goes over pickled, with the case's own attributes.
"""
import io
import os
import pickle
import secrets
import socket
import threading
import traceback

import java

import multiprocessing

SECONDS_TO_START = 300
KILLED = -9
_ProcessBuilder, _File = java.type('java.lang.ProcessBuilder'), java.type('java.io.File')
_other = None


class Context:
    """What multiprocessing.get_context gives to one test."""

    def __init__(self):
        # Now, for the tests' clocks start later.
        self._jvm = other_jvm()
        self._shared = []
        self._is_second = False

    def Barrier(self, parties, timeout=None):
        return self._share(threading.Barrier(parties, timeout=timeout))

    def Queue(self):
        return self._share(multiprocessing.Queue())

    def _share(self, what):
        self._shared.append(what)
        return what

    def Process(self, target=None, args=(), kwargs=None):
        if not self._is_second:
            self._is_second = True
            return multiprocessing.Process(target, args, kwargs)
        return OtherProcess(self._jvm, self._shared, target, args, kwargs or {})


class OtherProcess:
    def __init__(self, jvm, shared, target, args, kwargs):
        case = target.__self__
        own = {name: value for name, value in vars(case).items() if not name.startswith('_')}
        self._task = (type(case), case._testMethodName, own, target.__name__, args, kwargs)
        self._jvm, self._shared = jvm, shared
        self.exitcode = None
        self._thread = threading.Thread(target=self._run, daemon=True)

    def _run(self):
        try:
            self.exitcode = self._jvm.run(self._task, self._shared)
        except (EOFError, OSError):
            self._jvm.kill()
            self.exitcode = KILLED
        except BaseException:
            # What it was to do, or what it asked for, could not be sent.
            traceback.print_exc()
            self._jvm.kill()
            self.exitcode = 1

    def start(self):
        self._thread.start()

    def join(self, timeout=None):
        self._thread.join(timeout)

    def is_alive(self):
        return self._thread.is_alive()

    def terminate(self):
        self._jvm.kill()

    kill = terminate


def other_jvm():
    global _other
    if _other is None or not _other.is_alive():
        _other = OtherJvm()
    return _other


class OtherJvm:
    def __init__(self):
        word = secrets.token_hex(16)
        with socket.create_server(('127.0.0.1', 0)) as server:
            server.settimeout(SECONDS_TO_START)
            self._process = self._start(server.getsockname()[1], word)
            while True:
                connection, _ = server.accept()
                self._channel = connection.makefile('rwb')
                if self._channel.readline().strip().decode() == word:
                    break
                connection.close()

    @staticmethod
    def _start(port, word):
        """The JVM is called as this one is, but for the script and its arguments."""
        with open('/proc/self/cmdline') as words:
            called = words.read().split('\0')[:-1]
        script = next(at for at, each in enumerate(called) if each.endswith('player.py'))
        folder, device = called[script + 1:script + 3]
        other = [*called[:script], os.path.join(os.path.dirname(__file__), 'other.py'), folder, device, str(port)]
        builder = _ProcessBuilder(other).inheritIO()
        # Not an argument, which everyone may read.
        builder.environment().put('PYVERBS_WORD', word)
        builder.redirectInput(_File('/dev/null'))
        return builder.start()

    def is_alive(self):
        return self._process.isAlive()

    def kill(self):
        self._process.destroyForcibly().waitFor()

    def run(self, task, shared):
        """The exit status of the process, once it has ended. Until then it is served."""
        write(self._channel, task, shared)
        while True:
            kind, *said = pickle.load(self._channel)
            if kind == 'ended':
                return said[0]
            number, name, args = said
            try:
                answer = 'value', getattr(shared[number], name)(*args)
            except Exception as ex:
                answer = 'error', ex
            write(self._channel, answer, shared)


def write(channel, what, shared):
    class Pickler(pickle.Pickler):
        def persistent_id(self, each):
            return next((number for number, one in enumerate(shared) if one is each), None)

    content = io.BytesIO()
    Pickler(content).dump(what)
    channel.write(content.getvalue())
    channel.flush()
