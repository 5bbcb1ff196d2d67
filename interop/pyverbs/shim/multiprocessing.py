"""The part of multiprocessing that the tests use, with threads: a JVM cannot fork."""
import queue
import threading
import traceback

_here = threading.local()


def check_terminated():
    """Ends the thread if its process was to be killed; called by whatever waits."""
    process = getattr(_here, 'process', None)
    if process is not None and process._terminated:
        raise SystemExit(1)


class Process:
    def __init__(self, target=None, args=(), kwargs=None, name=None):
        self._target, self._args, self._kwargs = target, args, kwargs or {}
        self._terminated = False
        self.exitcode = None
        self._thread = threading.Thread(target=self._run, daemon=True)

    def _run(self):
        _here.process = self
        code = 0
        try:
            self._target(*self._args, **self._kwargs)
        except SystemExit as ex:
            code = ex.code if isinstance(ex.code, int) else 1
        except BaseException:
            traceback.print_exc()
            code = 1
        finally:
            # The end of a process closes what it had open.
            from pyverbs import _core
            _core.close_ids()
        self.exitcode = code

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
    return _Context
