# SPDX-License-Identifier: Apache-2.0
"""The part of multiprocessing that the tests use. A JVM cannot fork: a process is a thread, or has another JVM."""
import queue
import threading
import traceback

import java

_here = threading.local()


def check_terminated():
    """Ends the thread if its process was to be killed; called by whatever waits."""
    process = getattr(_here, 'process', None)
    if process is not None and process._terminated:
        raise SystemExit(1)


def exit_code(target, args, kwargs):
    """Runs what a process is to do, and gives the exit status that it would have."""
    try:
        target(*args, **kwargs)
        return 0
    except SystemExit as ex:
        return ex.code if isinstance(ex.code, int) else 1
    except BaseException:
        traceback.print_exc()
        return 1
    finally:
        # The end of a process closes what it had open.
        from pyverbs import _core
        _core.close_ids()


class Process:
    def __init__(self, target=None, args=(), kwargs=None, name=None):
        self._target, self._args, self._kwargs = target, args, kwargs or {}
        self._terminated = False
        self.exitcode = None
        self._thread = threading.Thread(target=self._run, daemon=True)

    def _run(self):
        _here.process = self
        self.exitcode = exit_code(self._target, self._args, self._kwargs)

    def start(self):
        self._thread.start()

    def join(self, timeout=None):
        self._thread.join(timeout)

    def is_alive(self):
        return self._thread.is_alive()

    def terminate(self):
        self._terminated = True

    kill = terminate


Queue = queue.Queue
Barrier = threading.Barrier


class _Context:
    Process, Queue, Barrier = Process, Queue, Barrier


def get_context(method=None):
    if java.type('java.lang.Boolean').getBoolean('pyverbs.two-processes'):
        import two_processes
        return two_processes.Context()
    return _Context
