# SPDX-License-Identifier: Apache-2.0
"""Runs drawn combinations: C against C in two guests, then Java as server and as client of one of them."""
import json
import time

from laboratory.capture import Capture

from . import draws, tools, trial, wire
from .draws import CLIENT, SERVER
from .trial import Result, Verdict

USUAL_SECONDS = 90
LONG_SECONDS = 300
PATIENCE_SECONDS = 60
ROLES = ("server", "client")
JSON = "--out_json"


class Drawing:
    """Runs combinations, and keeps captures and logs as a trial does."""

    def __init__(self, java, linux, other_linux, by_trial, own_folder, folder, dissector, own_addresses):
        self._java = java
        self._linux = linux
        self._other_linux = other_linux
        self._trial = by_trial
        self._own_folder = own_folder
        self._folder = folder
        self._dissector = dissector
        self._own_addresses = own_addresses

    def run(self, choice):
        """The results with Java as server and as client, one by one."""
        refused = self._refused(choice)
        for role in ROLES:
            name = named(choice, role)
            yield Result(name, Verdict.UNUSABLE, refused) if refused else self._with_java(choice, role, name)

    def _refused(self, choice):
        """Why the C programs do not run it, or an empty text."""
        server, client, reason = self._play(choice, self._other_linux, self._linux)
        if not reason and client.status == 0 and server.status == 0:
            return ""
        said = [process.name + ": " + line for process in (server, client) if process is not None
                for line in trial.errors(process)[-1:] or process.out.splitlines()[-1:]]
        # The verdict code expects Java as the client; here there is no Java.
        why = f"status {server.status}, {client.status}" if not reason else (
            f"not done in {seconds(choice)} s" if client else reason)
        return f"{choice.told()}: C with C: {why}: {'; '.join(said)}"

    def _with_java(self, choice, role, name):
        started = time.monotonic()
        file = self._own_folder / f"{name.replace('/', '_')}.pcap"
        serving, asking = (self._java, self._linux) if role == "server" else (self._linux, self._java)
        capture = Capture(file)
        with capture:
            server, client, reason = self._play(choice, serving, asking)
        java, linux = (server, client) if role == "server" else (client, server)
        verdict, reason = trial.judge(Judged(choice), Judged(choice), java, linux, reason)
        if verdict is Verdict.OK and JSON in java.argv and not is_json(self._report()):
            verdict, reason = Verdict.FAILED, "its report is no JSON"
        seen = wire.look(file, self._own_addresses)
        seen.unseen = capture.dropped
        if seen.wrong_sent:
            verdict, reason = Verdict.FAILED, f"{seen.wrong_sent} of {seen.sent} packets from Java have a wrong ICRC"
        if verdict is not Verdict.OK:
            reason = f"{choice.told()}: {reason or verdict.value}"
            self._trial.keep(trial.kept_in(self._folder, verdict, name), file, {"java": java, "linux": linux})
        self._dissector.add(name, file)
        return Result(name, verdict, reason, time.monotonic() - started, seen)

    def _report(self):
        return self._own_folder / "report.json"

    def _play(self, choice, serving, asking):
        def words(end, peer, side):
            is_java = end is self._java
            own = draws.arguments(choice, end.end(choice.family, peer), side, is_java)
            # A guest writes anywhere; nothing is kept.
            report = ["--out_json_file", str(self._report())] if is_java and JSON in own else []
            return [*report, *(["--patience", str(PATIENCE_SECONDS)] if is_java else []), *own]
        self._report().unlink(missing_ok=True)
        program = tools.named(choice.tool).program
        server, is_ready = serving.start_server(program, words(serving, asking, SERVER), draws.ready(choice))
        client = None
        if not is_ready:
            server.stop()
            return server, client, "the server did not become ready"
        try:
            client = asking.start(program, words(asking, serving, CLIENT))
            # Without Java either side may take its role.
            java_serves = serving is self._java
            return server, client, self._trial.await_ends(choice, server, client, java_serves, seconds(choice))
        finally:
            for process in (server, client):
                if process is not None:
                    process.stop()


class Judged:
    """A drawn combination, as a cell and a tool for the verdict."""
    net = "clean"
    size = None

    def __init__(self, choice):
        self.is_reliable = choice.is_reliable
        # An emulated guest drops packets that arrive faster than it can process.
        self.may_lose = () if choice.is_reliable else ("clean",)


def is_json(file):
    try:
        json.loads(file.read_text())
        return True
    except (OSError, ValueError):
        return False


def seconds(choice):
    return LONG_SECONDS if choice.is_long else USUAL_SECONDS


def named(choice, role):
    return f"{choice}/java-{role}"


def names(choice):
    return [named(choice, role) for role in ROLES]
