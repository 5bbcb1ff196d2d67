# SPDX-License-Identifier: Apache-2.0
"""What a matrix does not show: refusals, killed peers, a rebooted guest, many connections, wrong options."""
import hashlib
import re
import shlex
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from laboratory import image, network
from laboratory.capture import Capture
from laboratory.guests import LabError

from . import fpdus, sockets, tools, wire
from .trial import CLOSED_EARLY, Result, Verdict, errors, log

PORT = tools.RPING_PORT
LISTENING = tools.Ready(cm=PORT, java_prints=tools.JAVA_LISTENS)
# A dead peer shows after the connection's retries, or after the tools' patience of 10 s.
NOTICE_SECONDS = 30
# The connection's retries, or the tools' patience; a peer whose kernel lives says goodbye.
UNANSWERED = "RETRY_EXCEEDED|retry counter exceeded"
# Of a program that is killed the memory may go before its queue pair: then Linux cannot complete what arrives.
PEER_GONE = UNANSWERED + "|REMOTE_OPERATION_ERROR|nothing came from the peer|disconnect|DISCONNECT|flush|Flush"
# The numbers that rping counts its messages with.
COUNTED = r"rdma-ping-(\d+)"
# Java processes that share an address.
SHARING = 4
IN_A_ROW = 200
# Names of scenarios of iWARP begin with it.
IWARP = "siw/"
SENT_TO_AT_ONCE, FEWER, SENT_BYTES = 1000, 200, 16
# How many shells of the guest call one client after the other.
ROWS = 8
# Constants of siw, for which it has no parameters: its initiators promise to send first; they speak the older MPA.
PROMISING, OLDER = {"peer_to_peer": 1}, {"mpa_version": 1}
# How long after its reply Java may send to a client that has promised nothing: longer than siw was seen to take for a reply.
# Java waits for 500 ms from before it sends the reply; on a busy machine up to 65 of them have passed until it has left.
LEAST_HOLD_MS = 300
SENDS_AT_ONCE = Path(__file__).resolve().parent.parent / "SendsAtOnce.java"
# The connections of one ucmatose: siw gives it no more completion queues, with C programs on both sides either.
MOST_OF_A_PROGRAM = {"rxe": 1 << 20, "siw": 32}
AT_ONCE = 64
# What connects by hand, and so needs a device and a GID.
AS_TYPED = ("ibv_rc_pingpong", "ibv_ud_pingpong", "ib_write_bw", "ib_send_lat")
# Connections whose large messages all begin at once: an emulated guest takes seconds to answer them.
BUSY, LARGE = 20, 70_000
# A copy takes an emulated guest ten seconds, or is over at once.
LARGE_FILE, SMALL_FILE = 128 << 20, 100_000
COPYING = ["-p", str(sockets.COPY_PORT)]
# A guest that is slow loses nothing: of what waits for its answer little may be sent again.
MOST_REPEATED = 1 / 4
BUSY_SECONDS = 60


class Unexpected(Exception):
    """A scenario has failed."""


@dataclass(frozen=True)
class FirstUnits:
    """What the first units of a Java server must be like: on how many connections, by what they were set up, and whether
    each must follow a unit of the client, which its program or its siw sends first. If not, each client must be silent."""
    count: int
    revision: int = 2
    is_promised: bool = False
    must_follow: bool = False

    def verdict(self, found):
        """What is wrong with those that a capture shows, empty if nothing is, and what they were like."""
        heard = [unit for unit in found if unit.has_heard]
        held = [unit.seconds * 1000 for unit in found if not unit.has_heard]
        early = [ms for ms in held if ms < LEAST_HOLD_MS]
        others = [unit for unit in found if (unit.revision, unit.is_promised) != (self.revision, self.is_promised)]
        told = [f"{len(found)} connections by MPA revision {self.revision}"]
        if heard:
            told.append(f"{len(heard)} first messages followed a unit of the client")
        if held:
            told.append(f"{len(held)} came {min(held):.0f} to {max(held):.0f} ms after the reply")
        fault = (f"Java sent on {len(found)} connections, not {self.count}" if len(found) != self.count
                 else f"{len(others)} connections were set up otherwise" if others
                 else f"{len(early)} first messages came too early" if early
                 else f"{len(held)} first messages followed no unit of the client" if held and self.must_follow
                 else f"{len(heard)} clients were not silent" if heard and not self.must_follow else "")
        return fault, ", ".join(told)


class Scenarios:
    """Each public method is one; its name says what, its first line how."""

    def __init__(self, java, linux, trial, own_folder, dissector, own_addresses, look=wire.look):
        self._look = look
        self._java = java
        self._linux = linux
        self._trial = trial
        self._own_folder = own_folder
        self._dissector = dissector
        self._own_addresses = own_addresses
        self._started = []
        # Whether the packets of the scenario are counted: nothing is lost, and who answers is only slow.
        self._has_little_to_repeat = False
        # How many connections must have agreed on a CRC in each unit.
        self._checked_connections = 0
        # What the first units of the server must be like.
        self._first_units = None

    def run(self, full_name):
        name = full_name.removeprefix(IWARP)
        started = time.monotonic()
        self._started = []
        self._has_little_to_repeat = False
        self._checked_connections = 0
        self._first_units = None
        file = self._own_folder / f"{full_name.replace('/', '_')}.pcap"
        verdict, reason = Verdict.OK, ""
        capture = Capture(file)
        try:
            with capture:
                getattr(self, name)()
        except Unexpected as failure:
            verdict, reason = Verdict.FAILED, str(failure)
        except (OSError, LabError, image.SetupError, subprocess.SubprocessError) as failure:
            verdict, reason = Verdict.FAILED, f"broke off: {type(failure).__name__}: {failure}"
        finally:
            for process in self._started:
                process.stop()
        seen = self._look(file, self._own_addresses) if file.exists() else wire.Seen()
        seen.unseen += capture.dropped
        if seen.wrong_sent:
            verdict, reason = Verdict.FAILED, wire.told_wrong(seen)
        if self._has_little_to_repeat and file.exists():
            java, linux = wire.flows(file, self._own_addresses)
            if verdict is Verdict.OK and java.repeated > MOST_REPEATED * (java.requests - java.repeated):
                verdict, reason = Verdict.FAILED, "too much was sent again, though nothing was lost"
            reason += f"{'; ' if reason else ''}Java sent {java}; Linux {linux}"
        if verdict is Verdict.OK and self._checked_connections:
            found = fpdus.with_crc(file)
            if found != self._checked_connections:
                verdict, reason = Verdict.FAILED, f"{found} connections had a CRC, not {self._checked_connections}"
        if self._first_units and file.exists():
            fault, told = self._first_units.verdict(fpdus.first_units(file, self._own_addresses))
            if verdict is Verdict.OK and fault:
                verdict, reason = Verdict.FAILED, fault
            reason += f"{'; ' if reason else ''}{told}"
        if verdict is Verdict.FAILED:
            self._keep(self._trial.kept(full_name), file)
        if file.exists():
            self._dissector.add(full_name, file)
        return Result(full_name, verdict, reason, time.monotonic() - started, seen)

    def _keep(self, folder, file):
        folder.mkdir(parents=True, exist_ok=True)
        if file.exists():
            shutil.copy(file, folder / "capture.pcap")
        for index, process in enumerate(self._started):
            (folder / f"{index}-{process.name}.log").write_text(log(process))

    # ------------------------------------------------------------ refused

    def refused_by_linux(self):
        """A Java client connects to a port of Linux without a listener."""
        client = self._ask(self._java, self._linux, 1)
        self._must_fail_clearly(client, 10, "ECONNREFUSED")

    def refused_by_java(self):
        """A Linux client connects to a port of Java without a listener."""
        self._serve(self._java, ["-p", str(PORT + 1)])
        client = self._ask(self._linux, self._java, 1)
        # Over siw the call itself fails; the C program says so, and never ends.
        self._must(client.wait_for(r"REJECTED|rdma_connect: Connection refused", 10), "the C client was not refused")
        self._must(self._linux.driver == "siw" or client.wait(10) not in (None, 0), "the C client does not end with an error")

    # ------------------------------------------------------------ as typed

    def java_names_only_the_host(self):
        """Java clients that name neither device nor GID, only the host, talk to Linux servers."""
        for tool in AS_TYPED:
            self._as_typed(tool, self._linux, self._java, "ipv4")

    def java_names_nothing(self):
        """Java servers that name neither device nor GID talk to Linux clients; ping-pongs over IPv6, too."""
        for tool in AS_TYPED:
            self._as_typed(tool, self._java, self._linux, "ipv4")
        # The C programs of perftest look for IPv4 addresses.
        self._as_typed(AS_TYPED[0], self._java, self._linux, "ipv6")

    def _as_typed(self, tool, serving, asking, family):
        end = self._linux.end(family, self._java)
        index = "-g" if tool.startswith("ibv_") else "-x"
        words = {self._linux: ["-d", end.device, index, str(end.gid)], self._java: []}
        server, is_ready = serving.start_server(tool, [*words[serving], "-n", "100"],
                                                tools.Ready(tcp=tools.SIDE_CHANNEL_PORT))
        self._note(server)
        self._must(is_ready, f"{tool} did not become ready")
        client = self._note(asking.start(tool, [*words[asking], "-n", "100", serving.address[family]]))
        for process in (client, server):
            self._must(process.wait(NOTICE_SECONDS) == 0, f"{process.name}: {errors(process)}")

    # ------------------------------------------------------------ killed

    def linux_client_killed(self):
        """A Linux client is killed in mid-transfer; the Java server serves the next one."""
        self._serve(self._java, ["-P"])
        victim = self._in_mid_transfer(self._linux, self._java)
        self._kill(victim)
        self._must_serve(self._linux, self._java)

    def linux_server_killed(self):
        """A Linux server is killed in mid-transfer; the Java client says so and ends."""
        server = self._serve(self._linux, [])
        client = self._in_mid_transfer(self._java, self._linux)
        self._kill(server)
        self._must_fail_clearly(client, NOTICE_SECONDS, PEER_GONE)

    def java_client_killed(self):
        """A Java client is killed in mid-transfer; the Linux server serves the next one."""
        self._serve(self._linux, ["-P"])
        victim = self._in_mid_transfer(self._java, self._linux)
        self._kill(victim)
        self._must_serve(self._java, self._linux)

    def java_server_killed(self):
        """A Java server is killed in mid-transfer; a new one serves the next Linux client at once."""
        server = self._serve(self._java, [])
        # This C client may wait for ever: it only receives, so it does not notice that its peer has ended.
        self._in_mid_transfer(self._linux, self._java)
        self._kill(server)
        self._serve(self._java, [])
        self._must_serve(self._linux, self._java)

    def linux_killed_while_it_copies(self):
        """A C rcopy is killed in mid-copy; the Java server says so, and takes the next one."""
        server, is_ready = self._java.start_server("rcopy", ["-b", self._java.address["ipv4"], *COPYING],
                                                   tools.Ready(java_prints="waiting for connection"))
        self._note(server)
        self._must(is_ready, f"the server did not become ready: {errors(server)}")
        sockets.make_room_for_copy(self._java.guest)
        victim = self._copy(self._linux, self._java, LARGE_FILE, sockets.COPY)
        self._must(until(lambda: blocks(sockets.COPY) > 0, 20), "nothing was copied")
        self._kill(victim)
        self._must(server.wait_for("reset|closed the connection", NOTICE_SECONDS),
                   f"the server says nothing of it: {server.out} {errors(server)}")
        self._to_end(self._copy(self._linux, self._java, SMALL_FILE, sockets.COPY))
        copied = hashlib.sha256(sockets.COPY.read_bytes()).hexdigest()
        sockets.COPY.unlink()
        self._must(copied == sockets.document(SMALL_FILE)[1], "the next copy differs")

    def linux_killed_while_it_is_copied_to(self):
        """A C server of rcopy is killed in mid-copy; the Java client says so and ends."""
        sockets.make_room_for_copy(self._linux.guest)
        server, is_ready = self._linux.start_server("rcopy", COPYING, tools.Ready(cm=sockets.COPY_PORT))
        self._note(server)
        self._must(is_ready, f"the server did not become ready: {errors(server)}")
        client = self._copy(self._java, self._linux, LARGE_FILE, sockets.COPY)
        self._must(until(lambda: int(self._linux.guest.sh(f"stat -c %b {sockets.COPY} 2> /dev/null || echo 0")) > 0, 20),
                   "nothing was copied")
        self._kill(server)
        self._must_fail_clearly(client, NOTICE_SECONDS, PEER_GONE + "|reset")

    def _copy(self, end, peer, size, to):
        return self._note(end.start("rcopy", [str(sockets.document(size)[0]), f"{peer.address['ipv4']}:{to}", *COPYING]))

    # ------------------------------------------------------------ rebooted

    def linux_rebooted_under_its_client(self):
        """The guest of a Linux client loses power; the Java server serves the guest that comes back."""
        server = self._serve(self._java, ["-P"])
        self._in_mid_transfer(self._linux, self._java)
        self._reboot()
        self._must(server.status is None, "the Java server has ended")
        self._must_serve(self._linux, self._java)

    def linux_rebooted_under_its_server(self):
        """The guest of a Linux server loses power; the Java client says so, and a new one finds the new server."""
        self._serve(self._linux, [])
        client = self._in_mid_transfer(self._java, self._linux)
        self._reboot()
        self._must_fail_clearly(client, NOTICE_SECONDS, PEER_GONE)
        self._serve(self._linux, [])
        self._must_serve(self._java, self._linux)

    def _reboot(self):
        guest = self._linux.guest
        guest.reboot()
        guest.await_boot()
        self._linux.settle()

    # ------------------------------------------------------------ many

    def linux_connects_200_times(self):
        """200 Linux clients in a row, one Java server."""
        self._serve(self._java, ["-P"])
        loop = (f"for i in $(seq {IN_A_ROW}); do "
                f"rping -c -C 1 -p {PORT} -a {self._java.address['ipv4']} 2> /tmp/said || "
                f"grep -q '{CLOSED_EARLY}' /tmp/said || {{ echo failed: $i; cat /tmp/said; exit 1; }}; done")
        client = self._note(self._linux.guest.start(["bash", "-c", loop]))
        self._must(client.wait(2 * IN_A_ROW) == 0, f"not all {IN_A_ROW} were served: {client.out.strip()}")

    def java_connects_200_times(self):
        """200 Java clients in a row, each its own process, one Linux server."""
        self._serve(self._linux, ["-P"])
        for index in range(IN_A_ROW):
            client = self._ask(self._java, self._linux, 1)
            self._must(client.wait(NOTICE_SECONDS) == 0, f"the {index + 1}. failed: {errors(client)}")

    def linux_connects_64_at_once(self):
        """One Linux client with 64 connections at once."""
        self._many_at_once(self._java, self._linux)

    def java_connects_64_at_once(self):
        """One Java client with 64 connections at once."""
        self._many_at_once(self._linux, self._java)

    def linux_talks_to_processes_at_one_address(self):
        """Four Java servers share one address, a Linux client talks to each; one server is killed, a new one served."""
        ports = range(PORT, PORT + SHARING)
        servers = [self._serve(self._java, ["-P", "-p", str(port)]) for port in ports]
        clients = [self._in_mid_transfer(self._linux, self._java, port) for port in ports]
        self._kill(servers[0])
        self._must_go_on(clients[1:])
        self._serve(self._java, ["-P", "-p", str(PORT)])
        self._in_mid_transfer(self._linux, self._java, PORT)
        self._must_go_on(clients[1:])

    def processes_at_one_address_talk_to_linux(self):
        """Four Java clients share one address and talk to one Linux server; one is killed, a new one served."""
        self._serve(self._linux, ["-P"])
        clients = [self._in_mid_transfer(self._java, self._linux) for _ in range(SHARING)]
        self._kill(clients[0])
        self._must_go_on(clients[1:])
        self._must_serve(self._java, self._linux)
        self._must_go_on(clients[1:])

    def _must_go_on(self, clients):
        for client in clients:
            reached = int(re.findall(COUNTED, client.out)[-1])
            self._must(client.wait_for(f"rdma-ping-{reached + SHARING * 5}:", NOTICE_SECONDS),
                       f"no message came after {reached}: {errors(client)}")

    def linux_is_busy_as_client(self):
        """A Java server sends large messages on 20 connections at once to a Linux client."""
        self._large_at_once(self._java, self._linux)

    def linux_is_busy_as_server(self):
        """A Java client answers with large messages on 20 connections at once."""
        self._large_at_once(self._linux, self._java)

    def _large_at_once(self, serving, asking):
        self._has_little_to_repeat = True
        self._many_at_once(serving, asking, BUSY, ["-C", "3", "-S", str(LARGE)])

    def _many_at_once(self, serving, asking, connections=AT_ONCE, load=("-C", "5")):
        most = MOST_OF_A_PROGRAM[self._linux.driver]
        shares = [min(most, connections - begun) for begun in range(0, connections, most)]
        calls = [["-c", str(share), *load, "-p", str(tools.CM_PORT + i)] for i, share in enumerate(shares)]
        patience = {self._java: ["--patience", str(BUSY_SECONDS)], self._linux: []}
        servers = []
        for i, words in enumerate(calls):
            ready = tools.Ready(cm=tools.CM_PORT + i, java_prints=tools.JAVA_LISTENS)
            server, is_ready = serving.start_server("ucmatose", [*words, *patience[serving]], ready)
            servers.append(self._note(server))
            self._must(is_ready, "the server did not become ready")
        clients = [self._note(asking.start("ucmatose", [*words, *patience[asking], "-s", serving.address["ipv4"]]))
                   for words in calls]
        for client in clients:
            self._must(client.wait(BUSY_SECONDS) == 0, f"the client ended with {client.status}: {errors(client)}")
        for server in servers:
            self._must(server.wait(30) == 0, f"the server ended with {server.status}: {errors(server)}")

    def java_sends_as_soon_as_it_has_accepted(self):
        """A Java server sends directly after accept to each of a thousand silent Linux clients."""
        self._send_at_once(FirstUnits(SENT_TO_AT_ONCE), self._silent_client())

    def java_sends_at_once_to_clients_that_do_too(self):
        """A Java server sends directly after accept to each of 200 Linux clients, which send at once as well."""
        self._send_at_once(FirstUnits(FEWER, must_follow=True),
                           ["rdma_client", "-s", self._java.address["ipv4"], "-p", str(PORT)])

    def java_sends_at_once_where_siw_promises_to_be_first(self):
        """A Java server sends directly after accept to each of 200 silent Linux clients whose siw sends first (peer-to-peer)."""
        self._with_siw(PROMISING, FirstUnits(FEWER, is_promised=True, must_follow=True))

    def java_sends_at_once_by_mpa_revision_1(self):
        """A Java server sends directly after accept to each of 200 silent Linux clients whose siw speaks MPA revision 1."""
        self._with_siw(OLDER, FirstUnits(FEWER, revision=1))

    def _with_siw(self, constants, first_units):
        try:
            self._linux.guest.drive("siw", constants)
            self._send_at_once(first_units, self._silent_client())
        finally:
            self._linux.guest.drive("siw")

    def _silent_client(self):
        """Waits for a message, answers it, and waits for its server to disconnect."""
        return ["ucmatose", "-c", "1", "-C", "1", "-S", str(SENT_BYTES), "-p", str(PORT), "-s", self._java.address["ipv4"]]

    def _send_at_once(self, first_units, client):
        self._first_units = first_units
        server, is_ready = self._java.start_own_server(SENDS_AT_ONCE, [str(PORT), str(first_units.count), str(SENT_BYTES)])
        self._note(server)
        self._must(is_ready, f"the server did not become ready: {errors(server)}")
        loop = (f"for i in $(seq {first_units.count // ROWS}); do {shlex.join(client)} > /tmp/said$$ 2>&1 || "
                f"{{ echo failed: $i; cat /tmp/said$$; exit 1; }}; done")
        rows = [self._note(self._linux.guest.start(["sh", "-c", loop])) for _ in range(ROWS)]
        for row in rows:
            self._must(row.wait(first_units.count) == 0, f"a client failed: {row.out.strip()}; {errors(server)}")
        self._must(server.wait(NOTICE_SECONDS) == 0, f"the server ended with {server.status}: {errors(server)}")

    def java_asks_for_a_crc_in_each_unit(self):
        """A Java client, and then a Java server, wants a CRC in each unit, which siw does not by itself."""
        java = self._java.with_options("-Drdma4j.iwarp.crc=true")
        load = ["-C", "20", "-S", "5000", "-V"]
        for serving, asking in ((self._linux, java), (java, self._linux)):
            server = self._serve(serving, load)
            client = asking.start("rping", ["-c", "-a", serving.address["ipv4"], "-p", str(PORT), *load])
            self._to_end(client)
            self._to_end(server)
            self._linux.settle()
        self._checked_connections = 2

    # ------------------------------------------------------------ wrong

    def sizes_differ(self):
        """Ping-pong with messages of 8192 bytes against a Linux server that expects 4096."""
        server, is_ready = self._linux.start_server("ibv_rc_pingpong", self._ping_pong(self._linux, self._java, 4096),
                                                    tools.SIDE_CHANNEL)
        self._note(server)
        self._must(is_ready, "the server did not become ready")
        client = self._note(self._java.start(
            "ibv_rc_pingpong", [*self._ping_pong(self._java, self._linux, 8192), self._linux.address["ipv4"]]))
        self._must_fail_clearly(client, NOTICE_SECONDS, "8192|-s|REMOTE|remote|invalid request")

    def services_differ(self):
        """A reliable Java client against an unreliable Linux server."""
        server, is_ready = self._linux.start_server("ibv_uc_pingpong", self._ping_pong(self._linux, self._java, 4096),
                                                    tools.SIDE_CHANNEL)
        self._note(server)
        self._must(is_ready, "the server did not become ready")
        client = self._note(self._java.start(
            "ibv_rc_pingpong", [*self._ping_pong(self._java, self._linux, 4096), self._linux.address["ipv4"]]))
        self._must_fail_clearly(client, NOTICE_SECONDS, UNANSWERED)

    @staticmethod
    def _ping_pong(own, peer, size):
        end = own.end("ipv4", peer)
        return ["-d", end.device, "-g", str(end.gid), "-s", str(size), "-p", str(tools.SIDE_CHANNEL_PORT)]

    # ------------------------------------------------------------ the tools without a peer

    def devices_are_listed_alike(self):
        """ibv_devices and ibv_devinfo print every field that the C programs print."""
        for tool, words in (("ibv_devices", []), ("ibv_devinfo", []), ("ibv_devinfo", ["-v"])):
            java = self._to_end(self._java.start(tool, words))
            linux = self._to_end(self._linux.start(tool, words))
            self._must(fields(linux), f"nothing to compare in {linux.out}")
            missing = fields(linux) - fields(java)
            self._must(not missing, f"{tool} {' '.join(words)} does not print {sorted(missing)}")

    def port_events_are_watched(self):
        """ibv_asyncwatch prints that the link goes down and up; show_gids shows its addresses."""
        watch = self._note(self._java.start("ibv_asyncwatch", ["-d", f"roce_{network.BRIDGE}"]))
        self._must(watch.wait_for(r"async event FD", 20), "ibv_asyncwatch did not begin")
        try:
            network.shell(f"ip link set {network.BRIDGE} down")
            self._must(watch.wait_for(r"IBV_EVENT_PORT_ERR", 20), f"no event of the lost link: {watch.out}")
        finally:
            network.restore_bridge()
        self._must(watch.wait_for(r"IBV_EVENT_PORT_ACTIVE", 20), f"no event of the link's return: {watch.out}")
        gids = self._to_end(self._java.start("show_gids", []))
        self._must(network.HOST4 in gids.out and "fd77:" in gids.out, f"show_gids does not show the addresses: {gids.out}")

    # ------------------------------------------------------------ parts

    def _serve(self, end, words):
        port = [] if "-p" in words else ["-p", str(PORT)]
        service = tools.Ready(cm=int(words[words.index("-p") + 1]), java_prints=tools.JAVA_LISTENS) if not port else LISTENING
        server, is_ready = end.start_server("rping", ["-s", "-a", end.address["ipv4"], *words, *port], service)
        self._note(server)
        self._must(is_ready, f"the server did not become ready: {errors(server)}")
        return server

    def _ask(self, end, peer, count):
        return self._note(end.start("rping", ["-c", "-v", "-a", peer.address["ipv4"], "-p", str(PORT), "-C", str(count)]))

    def _in_mid_transfer(self, end, peer, port=PORT):
        client = self._note(end.start("rping", ["-c", "-v", "-a", peer.address["ipv4"], "-p", str(port)]))
        self._must(client.wait_for(r"rdma-ping-20", 20), f"no transfer: {errors(client)}")
        return client

    def _must_serve(self, end, peer):
        client = self._ask(end, peer, 3)
        self._must(client.wait(NOTICE_SECONDS) == 0, f"the next client ended with {client.status}: {errors(client)}")

    def _must_fail_clearly(self, client, seconds, pattern):
        self._must(client.wait(seconds) is not None, f"it still waits after {seconds} s")
        self._must(client.status not in (0, None), "it ended with status 0")
        said = errors(client)
        self._must(len(said) == 1 and re.search(pattern, said[0]), f"it should say in one line {pattern}, not {said}")

    def _to_end(self, process):
        self._note(process)
        self._must(process.wait(30) == 0, f"{process.name} ended with {process.status}: {errors(process)}")
        return process

    def _kill(self, process):
        process.kill(signal.SIGKILL)
        self._must(process.wait(10) is not None, "it cannot be killed")

    def _note(self, process):
        self._started.append(process)
        return process

    @staticmethod
    def _must(condition, otherwise):
        if not condition:
            raise Unexpected(otherwise)


def until(condition, seconds):
    """Whether a condition comes true in time."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def blocks(path):
    """How much of a file there is."""
    return path.stat().st_blocks if path.exists() else 0


def fields(process):
    """The words in front of the colons, or those of a table's head."""
    named = {line.split(":")[0].strip() for line in process.out.splitlines() if ":" in line}
    if not named:
        return set(process.out.splitlines()[0].split())
    return {name for name in named if not re.match(r"GID\[", name)}


ALL = [name for name, method in vars(Scenarios).items() if not name.startswith("_") and name != "run" and method.__doc__]
# What the portable back-end does not do: one process has the port.
SHARED_ADDRESS = [name for name in ALL if "at_one_address" in name]
IWARP_ALONE = ["java_sends_as_soon_as_it_has_accepted", "java_sends_at_once_to_clients_that_do_too",
               "java_sends_at_once_where_siw_promises_to_be_first", "java_sends_at_once_by_mpa_revision_1",
               "java_asks_for_a_crc_in_each_unit"]
OF_ROCE = [name for name in ALL if name not in IWARP_ALONE]
# What is tried with siw as well.
WITH_IWARP = [IWARP + name for name in (
    "refused_by_linux", "refused_by_java", "linux_client_killed", "linux_server_killed", "java_client_killed",
    "java_server_killed", "linux_killed_while_it_copies", "linux_killed_while_it_is_copied_to", "linux_rebooted_under_its_client", "linux_rebooted_under_its_server", "linux_connects_200_times",
    "java_connects_200_times", "linux_connects_64_at_once", "java_connects_64_at_once",
    *IWARP_ALONE, "linux_talks_to_processes_at_one_address",
    "processes_at_one_address_talk_to_linux")]
QUICK_IWARP = [IWARP + name for name in ("refused_by_linux", "refused_by_java", "linux_server_killed")]
QUICK = ["refused_by_linux", "refused_by_java", "linux_server_killed", "java_client_killed"]


def is_on(network_backend, name):
    """Whether a scenario of RoCE is run."""
    return network_backend != "portable" or name not in SHARED_ADDRESS


def told(name):
    return getattr(Scenarios, name.removeprefix(IWARP)).__doc__.splitlines()[0]
