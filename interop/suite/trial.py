# SPDX-License-Identifier: Apache-2.0
"""Runs one cell and determines its verdict."""
import shlex
import shutil
import signal
import time
from dataclasses import dataclass, field
from enum import Enum

from laboratory.capture import Capture

from . import known_faults, tools, wire

CLEAN_SECONDS = 40
# On a bad network a lost negative answer costs Linux, with the connection manager's settings, 2.1 s.
BAD_SECONDS = 120
LONG_SECONDS = 300
BAD_PATIENCE_SECONDS = 60
# The tools' own, without an option.
USUAL_PATIENCE_SECONDS = 10
GRACE_SECONDS = 5
UNACKNOWLEDGED = "but the last of this side was not acknowledged: the peer has left"
# A C server of datagrams that has answered all look-ups, and has no messages to wait for, ends.
NOBODY_SERVES = "the service said no (1: service ID not supported"
INTERRUPTED = 128 + signal.SIGINT
# Java's message if a message does not arrive.
NOTHING_CAME = "nothing came from the peer for"
# Java's message if a connection request finds no listener.
NOBODY_LISTENS = "rejected (8: invalid service ID"
# C's rping, as it ends, may close the event channel from which another of its threads still reads.
CLOSED_EARLY = "rdma_get_cm_event: Bad file descriptor"
BAD_DATA = ("invalid data", "mismatch", "data verification")
NO_REASON = "exit status"
C_WAITS = "the C program did not end"
CLIENT_WAITS = "the client did not end within"
# In the error of a tool, or of a program that knows nothing of RDMA.
RESET_BY_PEER = "Connection reset"
ASYNCHRONOUS_STREAM = "rstream-Tasync"
PONGS = "udpong"


class Verdict(Enum):
    """How a run ended."""
    OK = "ok"
    # Unreliable service on a bad network: a message was lost, and Java said so, or C's udpong did not get over it.
    LOST = "lost"
    # The C program ended successfully before the acknowledgement of the last message arrived, or its disconnect message
    # was lost: see known_faults.py.
    LEFT = "left"
    # A duplicated request was both refused and accepted: see known_faults.py.
    DOUBLED = "doubled"
    # A defect of Linux's driver: see known_faults.py.
    STALLED = "stalled"
    # Another defect of Linux's driver: see known_faults.py.
    RENUMBERED = "renumbered"
    # siw reset a connection whose program had ended well: see known_faults.py.
    RESET = "reset"
    # C's rstream took the end of the connection for a failure before it had read the last bytes: see known_faults.py.
    HUNG_UP = "hung up"
    FAILED = "FAILED"
    # Options that the C programs refuse, or with which they fail against each other.
    UNUSABLE = "unusable"


@dataclass
class Result:
    """A run's verdict, with the reason if it failed."""
    name: str
    verdict: Verdict
    reason: str = ""
    seconds: float = 0
    seen: wire.Seen = field(default_factory=wire.Seen)


class Trial:
    """Runs cells between two ends; keeps the logs and the capture of those that fail."""

    def __init__(self, java, linux, own_folder, folder, dissector, own_addresses, look=wire.look):
        """`look(file, own_addresses)` checks what rdma4j's own devices have sent, which have these addresses, and counts.
        Where Java runs on the kernel's device these are its peer's, or none. `linux` is the peer, which may be Java, too."""
        self._look = look
        self._java = java
        self._linux = linux
        self._own_folder = own_folder
        self._folder = folder
        self._dissector = dissector
        self._own_addresses = own_addresses
        self._count = 0
        # The ends of the last run where a process is left: a kernel does not let it go, though it was killed.
        self.stuck = []

    def run(self, cell):
        tool = tools.of(cell)
        started = time.monotonic()
        self._count += 1
        file = self._own_folder / f"{cell.driver}-{self._java.name}-{self._linux.side}{self._count}.pcap"
        capture = Capture(file)
        with capture:
            server, client, reason = self._play(tool, cell)
        java, other = (server, client) if cell.role == "server" else (client, server)
        # Whose packets are counted: those of rdma4j's own device.
        observed = other if self._linux.is_java else java
        verdict, reason = judge(tool, cell, java, other, reason, self._linux.is_java)
        seen = self._look(file, self._own_addresses)
        if seen.wrong_sent:
            verdict, reason = Verdict.FAILED, wire.told_wrong(seen)
        elif verdict is Verdict.OK and self._is_unseen(seen) and not (observed is server and tool.server_is_silent):
            verdict, reason = Verdict.FAILED, "no packet of Java was seen"
        seen.unseen += capture.dropped
        if verdict is not Verdict.OK:
            self.keep(kept_in(self._folder, verdict, str(cell)), file, {"java": java, self._linux.side: other})
        self._dissector.add(str(cell), file)
        result = Result(str(cell), verdict, reason, time.monotonic() - started, seen)
        if verdict is Verdict.FAILED and cell.peer is None:
            reconsider(result, cell, self._folder, self._own_addresses)
        return result

    def _is_unseen(self, seen):
        """Between two devices of the kernel all packets are Linux's."""
        return (seen.sent if self._own_addresses else seen.received) == 0

    def _play(self, tool, cell):
        """Runs server and client to their end; returns the failure, if there was one."""
        java_serves = cell.role == "server"
        serving, asking = (self._java, self._linux) if java_serves else (self._linux, self._java)
        seconds = tool.most_seconds or (LONG_SECONDS if tool.is_long else CLEAN_SECONDS if cell.net == "clean"
                                        else BAD_SECONDS)
        seconds *= self._java.slowness
        patience = self._patience(tool, cell)
        tool.prepare(cell, serving)
        self.stuck = []
        program, words = tool.call(cell, serving.end(cell.family, asking), True, serving.is_java)
        server, is_ready = serving.start_server(program, words + (patience if serving.is_java else []), tool.ready)
        if not is_ready:
            self._stop(serving, server)
            return server, None, "the server did not become ready"
        program, words = tool.call(cell, asking.end(cell.family, serving), False, asking.is_java)
        client = None
        try:
            client = asking.start(program, (patience if asking.is_java else []) + words)
            reason = self.await_ends(tool, server, client, java_serves, seconds)
            return server, client, reason or (tool.check(cell, serving) if client.status == 0 else "")
        finally:
            self._stop(serving, server)
            if client is not None:
                self._stop(asking, client)

    def _stop(self, end, process):
        process.stop()
        if process.status is None:
            self.stuck.append(end)

    def _patience(self, tool, cell):
        """The option that says how long Java waits for its peer, if that is not the usual time. The peer of a slow JVM
        waits longer, too."""
        if not tool.has_patience:
            return []
        if cell.net != "clean" or tool.is_long:
            seconds = BAD_PATIENCE_SECONDS if tool.is_reliable else tool.patience_seconds
        else:
            seconds = USUAL_PATIENCE_SECONDS * self._java.slowness
        return [] if seconds == USUAL_PATIENCE_SECONDS else ["--patience", str(seconds)]

    @staticmethod
    def await_ends(tool, server, client, java_serves, seconds):
        """Waits until both have ended; stops and reports processes that have not."""
        reason = ""
        started = time.monotonic()
        if tool.server_stays:
            if client.wait(seconds) is None:
                reason = f"{CLIENT_WAITS} {seconds} s"
            elif server.status is not None:
                reason = "the server ended before it was stopped"
            client.stop()
            server.kill(signal.SIGINT)
            if server.wait(GRACE_SECONDS) is None and not reason:
                reason = "the server does not end when it is interrupted"
            server.stop()
            if java_serves and server.status not in (0, INTERRUPTED) and not reason:
                reason = f"the interrupted server ended with {server.status}"
            server.status = 0
            return reason
        java, other = (server, client) if java_serves else (client, server)
        if java.wait(seconds) is None:
            reason = f"Java did not end within {seconds} s"
        # If Java has given up, the C program may wait without end; otherwise it gets its time too.
        left = started + seconds - time.monotonic() if tool.is_reliable else GRACE_SECONDS
        if other.wait(max(left, GRACE_SECONDS) if java.status == 0 else 1) is None and not reason:
            reason = C_WAITS
        java.stop()
        other.stop()
        return reason

    @staticmethod
    def keep(folder, file, processes):
        """Keeps the traces of a failure."""
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, folder / "capture.pcap")
        for side, process in processes.items():
            if process is not None:
                (folder / f"{side}.log").write_text(log(process))
                (folder / f"{side}.command").write_text(shlex.join(map(str, process.argv)) + "\n")

    def kept(self, name):
        """Where the traces of a failure are kept."""
        return kept_in(self._folder, Verdict.FAILED, name)


def judge(tool, cell, java, other, reason, is_other_java=False):
    """The verdict of a run and, if it failed, the reason."""
    if other is None or java is None:
        return Verdict.FAILED, reason
    said = errors(java) + (errors(other) if is_other_java else [])
    bad = [line for process in (java, other) for line in (process.out + process.err).splitlines()
           if any(words in line for words in BAD_DATA)]
    if bad:
        return Verdict.FAILED, f"data differ: {bad[0]}"
    has_c_done = not reason and (other.status == 0 or errors(other) == [CLOSED_EARLY])
    if java.status == 0 and has_c_done:
        return (Verdict.FAILED, f"Java ended well, but said: {said[-1]}") if said else (Verdict.OK, "")
    is_left = UNACKNOWLEDGED in java.err or (cell.size == 0 and NOBODY_SERVES in java.err)
    if cell.net != "clean" and has_c_done and is_left:
        return Verdict.LEFT, ""
    has_java_noticed = java.status != 0 and len(said) == 1 and NOTHING_CAME in said[0]
    has_java_sent_all = java.status == 0 and not said
    if cell.net in tool.may_lose:
        if has_java_noticed and (reason == C_WAITS or has_c_done):
            return Verdict.LOST, ""
        if has_java_sent_all and reason == C_WAITS:
            return Verdict.LOST, ""
    told = (said or errors(other) or ["nothing said"])[-1]
    return Verdict.FAILED, f"{reason or NO_REASON}: java {java.status}, C {other.status}: {told}"


def kept_in(folder, verdict, name):
    """Where the traces of a run are kept that was not ok."""
    return folder / verdict.value.lower() / name.replace("/", "_")


def reconsider(result, cell, folder, own_addresses):
    """Reconsiders a failure by its traces, which may show a stall of Linux, a lost disconnect message of Linux, a
    duplicated request, a reset by siw, a hang-up that C's rstream took for a failure, or that Linux gave one PSN to two
    requests, and that Java noticed."""
    kept = kept_in(folder, Verdict.FAILED, result.name)
    logs = [kept / f"{side}.log" for side in ("java", "linux")]
    if not all(file.exists() for file in logs):
        return
    java, other = (End.of(file.read_text()) for file in logs)
    tool = tools.of(cell)
    reason = result.reason.partition(": java ")[0]
    result.verdict, result.reason = judge(tool, cell, java, other, "" if reason == NO_REASON else reason)
    capture = kept / "capture.pcap"
    if (result.verdict is Verdict.FAILED and cell.driver == "siw" and reason == NO_REASON and other.status == 0
            and RESET_BY_PEER in java.err and known_faults.resets_before_the_end(capture, own_addresses)):
        result.verdict, result.reason = Verdict.RESET, ""
    if (result.verdict is Verdict.FAILED and cell.tool == ASYNCHRONOUS_STREAM and cell.role == "server"
            and reason == NO_REASON and java.status == 0 and not errors(java) and known_faults.takes_end_for_failure(other)
            and (cell.driver == "siw" or known_faults.has_all_acknowledged(capture, own_addresses))):
        result.verdict, result.reason = Verdict.HUNG_UP, ""
    if (result.verdict is Verdict.FAILED and cell.tool == PONGS and cell.role == "server" and cell.net == "loss 1%"
            and reason.startswith(CLIENT_WAITS) and java.status == 0 and not errors(java)
            and known_faults.waits_for_lost_answer(capture, own_addresses)):
        result.verdict, result.reason = Verdict.LOST, ""
    if result.verdict is not Verdict.FAILED or cell.driver != "rxe":
        return
    if not tool.is_reliable:
        if cell.net == "duplicate" and NOTHING_CAME in java.err and known_faults.answers_look_up_twice(
                capture, own_addresses):
            result.verdict, result.reason = Verdict.DOUBLED, ""
        return
    if cell.net == "duplicate" and NOBODY_LISTENS in java.err and known_faults.refuses_and_accepts(
            capture, own_addresses):
        result.verdict, result.reason = Verdict.DOUBLED, ""
        return
    if cell.net != "clean" and known_faults.numbers_twice(capture, own_addresses):
        result.verdict, result.reason = Verdict.RENUMBERED, ""
        return
    if NOTHING_CAME not in java.err:
        return
    is_clean = cell.net == "clean"
    if (reason == C_WAITS and known_faults.misses_acknowledgement(capture, own_addresses, is_clean)
            or known_faults.stops_inside_message(capture, own_addresses)):
        result.verdict, result.reason = Verdict.STALLED, ""
    elif (not is_clean and reason == NO_REASON and other.status == 0
          and known_faults.leaves_without_disconnect(capture, own_addresses)):
        result.verdict, result.reason = Verdict.LEFT, ""


@dataclass
class End:
    """How a process ended, read from its log."""
    status: int | None
    out: str
    err: str

    @staticmethod
    def of(text):
        head, _, rest = text.partition("\n--- standard output\n")
        out, _, err = rest.partition("\n--- standard error\n")
        status = head.removeprefix("exit status ")
        return End(None if status == "None" else int(status), out, err)


def log(process):
    """All information about an ended process."""
    return f"exit status {process.status}\n--- standard output\n{process.out}\n--- standard error\n{process.err}"


def errors(process):
    """What it wrote to standard error, without the log and without what rping, and a JVM with options from its environment,
    always write there."""
    return [line for line in process.err.splitlines()
            if line.strip() and not line.startswith(("FINE ", "NOTE: Picked up JDK_JAVA_OPTIONS"))
            and not line.endswith("DISCONNECT EVENT...")]
