# SPDX-License-Identifier: Apache-2.0
"""Running commands, on this machine or in a guest, with the same interface."""
import atexit
import base64
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time

from . import agent


class Running:
    """A running command. Its output is kept and can be waited for."""

    def __init__(self, argv):
        self.name = argv[0]
        self.argv = argv
        self.out = ""
        self.err = ""
        self.status = None
        self.is_ready = False
        self._changed = threading.Condition()

    def heard(self, kind, data):
        text = data.decode(errors="replace")
        with self._changed:
            if kind == "o":
                self.out += text
            else:
                self.err += text
            self._changed.notify_all()

    def became_ready(self):
        with self._changed:
            self.is_ready = True
            self._changed.notify_all()

    def ended(self, status):
        with self._changed:
            self.status = status
            self._changed.notify_all()

    def wait(self, seconds):
        """The exit status, or None if it still runs after so many seconds."""
        with self._changed:
            self._changed.wait_for(lambda: self.status is not None, seconds)
            return self.status

    def wait_ready(self, seconds):
        """Whether what it was to wait for is there; not when it has ended before."""
        with self._changed:
            self._changed.wait_for(lambda: self.is_ready or self.status is not None, seconds)
            return self.is_ready

    def wait_for(self, pattern, seconds):
        """Whether the pattern was printed; false if the command has ended without it."""
        def is_seen():
            return re.search(pattern, self.out + "\n" + self.err) is not None
        with self._changed:
            self._changed.wait_for(lambda: is_seen() or self.status is not None, seconds)
            return is_seen()

    def stop(self):
        """Ends it, if it still runs."""
        if self.status is None:
            self.kill(signal.SIGKILL)
            self.wait(10)


def show(kind, data):
    """Forwards output to this program's own, as it arrives."""
    stream = sys.stdout if kind == "o" else sys.stderr
    stream.buffer.write(data)
    stream.flush()


class LocalProcess(Running):
    """A command on this machine. It has a session of its own, and is ended with this program at the latest."""

    _under_way = set()

    def __init__(self, argv, env=None, cwd=None):
        super().__init__(argv)
        self._process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                         stderr=subprocess.PIPE, cwd=cwd, start_new_session=True,
                                         env=dict(os.environ, **(env or {})))
        self._under_way.add(self)
        readers = [threading.Thread(target=self._read, args=pair, daemon=True)
                   for pair in (("o", self._process.stdout), ("e", self._process.stderr))]
        for reader in readers:
            reader.start()
        threading.Thread(target=self._await, args=(readers,), daemon=True).start()

    def _read(self, kind, stream):
        while data := os.read(stream.fileno(), 65536):
            self.heard(kind, data)

    def _await(self, readers):
        status = self._process.wait()
        self._under_way.discard(self)
        for reader in readers:
            reader.join()
        self.ended(status & 0xff if status >= 0 else 128 - status)

    def await_tcp(self, port, seconds):
        """Whether it listens on a TCP port."""
        until = time.monotonic() + seconds
        while self.status is None and time.monotonic() < until:
            if agent.tcp_is_listening(port):
                return True
            time.sleep(agent.LOOK_EVERY_SECONDS)
        return False

    def kill(self, number):
        try:
            os.killpg(self._process.pid, number)
        except ProcessLookupError:
            pass


    @classmethod
    def end_all(cls):
        """For when this program is interrupted."""
        for process in list(cls._under_way):
            process.kill(signal.SIGKILL)


atexit.register(LocalProcess.end_all)


class GuestProcess(Running):
    """A command in a guest, run by its agent."""

    def __init__(self, address, argv, env=None, ready=None, heard=None):
        super().__init__(argv)
        if heard:
            self.heard = heard
        self._connection = socket.create_connection((address, agent.PORT), timeout=5)
        self._connection.settimeout(None)
        request = {"argv": argv, "env": env or {}, "ready": ready}
        self._connection.sendall(json.dumps(request).encode() + b"\n")
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self):
        status = 255
        try:
            with self._connection.makefile("rb") as lines:
                for line in lines:
                    kind, _, rest = line.decode().strip().partition(" ")
                    if kind == "x":
                        status = int(rest)
                        break
                    if kind == "r":
                        self.became_ready()
                    else:
                        self.heard(kind, base64.b64decode(rest))
        except OSError:
            # The guest has ended, and its processes with it.
            pass
        self._connection.close()
        self.ended(status)

    def kill(self, number):
        try:
            self._connection.sendall(b"k %d\n" % number)
        except OSError:
            pass
