# SPDX-License-Identifier: Apache-2.0
"""What a check is, how it is run, and what comes out."""
import itertools
import re
import time
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from .namespaces import NetworkError, Topology
from .programs import BUILT, LISTENS, LOGGING, ROOT, Program, unfit

# Of one check, for a machine that is not slow.
USUAL_SECONDS = 60
READY_SECONDS = 15
LEAST_START_SECONDS, MOST_START_SECONDS = 2, 10
SERVED_SECONDS = 2
UNDER_WAY_BYTES = 200_000
TRANSPORTS = ("roce", "iwarp")
# By name, the JVM's option that chooses it.
BACKENDS = {"linux": "", "portable": "-Drdma4j.network=portable"}


class Unexpected(Exception):
    """A check has failed."""


class Lacking(Exception):
    """This machine has not what a check needs."""


class Verdict(Enum):
    OK = "ok"
    FAILED = "FAILED"
    SKIPPED = "skipped"


@dataclass
class Result:
    name: str
    verdict: Verdict
    reason: str = ""
    seconds: float = 0
    # Numbers that were measured, for the table.
    measured: str = ""
    # Command lines with their output, for a failure.
    trace: str = ""


@dataclass(frozen=True)
class Check:
    """A function with the values of its parameters."""
    situation: str
    function: object
    values: tuple
    is_quick: bool
    is_alone: bool
    limit: float

    @property
    def name(self):
        return "/".join([self.situation, self.function.__name__, *map(str, self.values)])

    @property
    def wanted(self):
        """What must be said, and how soon."""
        return " ".join(self.function.__doc__.split())


ALL = []


def check(*parameters, quick=False, alone=False, limit=USUAL_SECONDS):
    """Makes a check of a function, one for each combination of values of its parameters. `quick` says whether they are
    in the cross-section: True, or those combinations that are. `alone` is for what measures the machine's speed."""
    def register(function):
        situation = function.__module__.rpartition(".")[2]
        for values in itertools.product(*parameters):
            is_quick = quick if isinstance(quick, bool) else values in quick or (len(values) == 1 and values[0] in quick)
            ALL.append(Check(situation, function, values, is_quick, alone, limit))
        return function
    return register


@dataclass
class Circumstances:
    """What all checks of a run share: the tools, and how slow the machine is."""
    installation: object
    slowness: float

    def run(self, chosen):
        """Runs a check to its end, whatever it does."""
        started = time.monotonic()
        net = Net(self, chosen)
        verdict, reason = Verdict.OK, ""
        try:
            chosen.function(net, *chosen.values)
        except Unexpected as failure:
            verdict, reason = Verdict.FAILED, str(failure)
        except Lacking as lack:
            verdict, reason = Verdict.SKIPPED, str(lack)
        except (NetworkError, OSError) as failure:
            verdict, reason = Verdict.FAILED, f"broke off: {type(failure).__name__}: {failure}"
        finally:
            net.close()
        if verdict is not Verdict.SKIPPED:
            said = [wrong for wrong in (unfit(each.out + "\n" + each.err) for each in net.programs) if wrong]
            if said:
                reason = "; ".join([*([reason] if reason else []), said[0]])
                verdict = Verdict.FAILED
        return Result(chosen.name, verdict, reason, time.monotonic() - started, ", ".join(net.measured),
                      "\n\n".join(each.shown() for each in net.programs))


class Net(Topology):
    """The hosts and programs of one check, and what can be expected of them."""

    def __init__(self, around, chosen):
        super().__init__()
        self._around = around
        self._until = time.monotonic() + chosen.limit * around.slowness
        self._limit = chosen.limit
        self.programs = []
        self.measured = []
        self.scratch = around.installation.scratch(re.sub(r"\W+", "_", chosen.name))

    @property
    def start_seconds(self):
        """What a tool may take until it does something, while others start."""
        return min(max(LEAST_START_SECONDS, 1.5 * self._around.installation.slow_start_seconds), MOST_START_SECONDS)

    @property
    def slowness(self):
        return self._around.slowness

    @property
    def launcher(self):
        return self._around.installation.launcher

    # Time

    def left(self, seconds):
        """So many seconds for this machine, but no more than the check has left."""
        left = self._until - time.monotonic()
        if left <= 0:
            raise Unexpected(f"not done after {self._limit} s")
        return min(seconds * self.slowness, left)

    def rest(self, seconds):
        """Lets time pass, in which something is said to go on or to have been done."""
        time.sleep(self.left(seconds))

    def until(self, condition, seconds, what):
        """Waits for a condition."""
        until = time.monotonic() + self.left(seconds)
        while not condition():
            if time.monotonic() > until:
                raise Unexpected(f"{what}: not within {seconds} s")
            time.sleep(0.02)

    # Programs

    def start(self, host, *argv, **environment):
        """Starts any program."""
        program = Program(host, argv, environment)
        self.programs.append(program)
        return program

    def tool(self, host, *words, device=None, options="", before=(), **environment):
        """Starts a tool of rdma4j as typed; its device may be chosen by the property. `before` are the words of a
        command that runs it."""
        given = self.options(*([f"-Drdma4j.device={device}"] if device else []), *([options] if options else []))
        return self.start(host, *before, self.launcher, *words, RDMA4J_OPTS=given, **environment)

    def options(self, *others):
        """Of the JVM: those with which it tells that it listens, and others."""
        return " ".join([f"-Djava.util.logging.config.file={self._around.installation.folder}/{LOGGING}", *others])

    def source(self, host, file, *words, device=None):
        """Starts a program of the suite's own that is one file of Java."""
        folder = self._around.installation.folder
        given = self.options(*([f"-Drdma4j.device={device}"] if device else [])).split()
        return self.start(host, f"{self._around.installation.jdk}/bin/java", *given, "-XX:+UseSerialGC",
                          "-XX:TieredStopAtLevel=1", "--enable-native-access=ALL-UNNAMED", "-cp",
                          f"{folder / BUILT}/*:{folder / BUILT}/lib/*", ROOT / "interop" / file, *words)

    def server(self, host, *words, ready=LISTENS, **how):
        """Starts a server that must come to listen."""
        server = self.tool(host, *words, **how)
        if not server.wait_for(ready, self.left(READY_SECONDS + self.start_seconds)):
            ended = "ended" if server.status is not None else "does not listen"
            raise Unexpected(f"{' '.join(words)} {ended}{said(server)}")
        return server

    def await_port(self, host, port, server, what="listen"):
        """Waits for a TCP port of a host."""
        def is_there():
            if server.status is not None:
                raise Unexpected(f"{server.name} ended before it came to {what}{said(server)}")
            return host.listens_at(port)
        self.until(is_there, READY_SECONDS + self.start_seconds, f"{server.name} did not come to {what}")

    def ends(self, program, seconds):
        """Waits for the end of a program that may take so long once its JVM runs; its exit status."""
        program.wait(self.left(seconds + self.start_seconds))
        if program.status is None:
            program.stop()
            raise Unexpected(f"{typed(program)} did not end within {seconds:g} s{said(program)}")
        return program.status

    def succeeds(self, program, seconds=20):
        """A program that must end well, and say nothing of errors."""
        if self.ends(program, seconds) != 0:
            raise Unexpected(f"{typed(program)} failed{said(program)}")
        return program

    def fails(self, program, pattern, seconds, since=None):
        """A program that must fail so soon after its start, or another moment, in one line that has these words."""
        if self.ends(program, seconds) == 0:
            raise Unexpected(f"{typed(program)} did not fail")
        if not re.search(pattern, program.err, re.IGNORECASE):
            raise Unexpected(f"{typed(program)} did not say /{pattern}/{said(program)}")
        if len(program.errors()) > 1:
            raise Unexpected(f"{typed(program)} said more than one line{said(program)}")
        started = program.started + self._around.installation.start_seconds
        self.measured.append(f"{max(0.0, program.ended_at - (since or started)):.1f} s")
        return program

    def serves_or_fails(self, program, seconds):
        """A program that must end soon, well or with one line."""
        if self.ends(program, seconds) != 0 and len(program.errors()) != 1:
            raise Unexpected(f"{typed(program)} did not fail in one line{said(program)}")
        self.measured.append("served" if program.status == 0 else program.errors()[0])
        return program

    def ping(self, host, address, device=None, seconds=10, count=2, words=(), **how):
        """A client of rping that must be served."""
        return self.succeeds(self.tool(host, "rping", "-c", "-a", address, "-C", str(count), *words, device=device, **how),
                             seconds)

    def served_soon(self, since, host, address, device, words=(), what="address"):
        """Lets a client come so late after an address became usable that it has to be served, and no later."""
        due = since + SERVED_SECONDS * self.slowness - self._around.installation.start_seconds
        time.sleep(max(0, due - time.monotonic()))
        try:
            self.ping(host, address, device, words=words)
        except Unexpected as failure:
            raise Unexpected(f"{SERVED_SECONDS} s after the {what} was usable: {failure}")

    def lives(self, program, what=""):
        """A program that must not have ended."""
        if program.status is not None:
            raise Unexpected(f"{typed(program)} ended{' ' + what if what else ''}{said(program)}")

    def says(self, program, pattern, seconds, since=None, what="it"):
        """What a program must have printed so soon after a moment, or from now on."""
        since = since or time.monotonic()
        if not program.wait_for(pattern, max(0.01, since + self.left(seconds) - time.monotonic())):
            self.lives(program, f"and did not say /{pattern}/")
            raise Unexpected(f"{typed(program)} did not say /{pattern}/ within {seconds:g} s of {what}{said(program)}")
        at = program.said_at(pattern)
        if at is not None and at >= since:
            self.measured.append(f"{at - since:.1f} s")

    def goes_on(self, host, interface="eth0", seconds=10, what="the connection"):
        """Waits until a host sends at the rate of a connection under way: more than what looks for a lost peer."""
        sent = host.bytes_sent(interface)
        self.until(lambda: host.bytes_sent(interface) - sent > UNDER_WAY_BYTES, seconds, f"{what} did not go on")

    def expect(self, is_so, otherwise):
        if not is_so:
            raise Unexpected(otherwise)

    def close(self):
        for program in self.programs:
            program.stop()
        super().close()


def typed(program):
    """The words as a user typed them."""
    words = program.words
    start = next((at for at, word in enumerate(words) if word.endswith(("/rdma4j", ".java"))), None)
    if start is None:
        return " ".join(words)
    return " ".join(words[start + 1:] if words[start].endswith("/rdma4j") else [Path(words[start]).name, *words[start + 1:]])


def said(program):
    """The last that it said of what went wrong."""
    lines = program.errors() or program.logged()
    return f": {lines[-1]}" if lines else ""
