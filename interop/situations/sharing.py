# SPDX-License-Identifier: Apache-2.0
"""Processes of one machine at one address: logins, services, containers, users, and who holds the port besides."""
import re
import signal
import sys
import time

from .checks import BACKENDS, check
from .namespaces import NET4

HOST = f"{NET4}.0.1"
# No user of the machine's.
SECOND_USER = "54321"
AS_SECOND_USER = ("setpriv", f"--reuid={SECOND_USER}", f"--regid={SECOND_USER}", "--clear-groups")
ROCE_PORT = 4791
HOLD = """
import socket, time
held = socket.socket(socket.AF_INET6 if ":" in "{address}" else socket.AF_INET, socket.SOCK_DGRAM)
held.bind(("{address}", 4791))
print("held", flush=True)
time.sleep(600)
"""


def container(own_memory=True, script=""):
    """The words before a command that put it into mount and process namespaces of its own, with a /dev/shm of its own."""
    memory = "mount -t tmpfs tmpfs /dev/shm; " if own_memory else ""
    return ("unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-ec",
            f'{memory}{script}exec "$0" "$@"')


def with_memory(script):
    """The words before a command that give it a /dev/shm that a script prepares."""
    return ("unshare", "--mount", "sh", "-ec", f'{script}; exec "$0" "$@"')


# All that is shared by users, with what is there.
READ_ONLY = with_memory("mount -t tmpfs -o ro tmpfs /dev/shm; mount --bind /tmp /tmp; mount -o remount,bind,ro /tmp")
FULL = with_memory("mount -t tmpfs -o size=16k tmpfs /dev/shm; head -c 1m /dev/zero >/dev/shm/filled 2>/dev/null || true")


def login(net):
    folder = net.scratch / "login"
    folder.mkdir(mode=0o700, exist_ok=True)
    return {"XDG_RUNTIME_DIR": str(folder)}


def rping(net, host, port, before=(), **environment):
    return net.server(host, "rping", "-s", "-P", "-p", str(port), before=before, **environment)


def both_are_served(net, one, other, *servers):
    """From another host and from their own, by RoCE, and neither had anything to warn of."""
    for port in (7174, 7175):
        net.ping(other, HOST, "roce", words=("-p", str(port)))
    for port in (7174, 7175):
        net.ping(one, "127.0.0.1", "roce", words=("-p", str(port)))
    for server in servers:
        net.lives(server)
        net.expect(not server.logged(), f"a server logged: {(server.logged() or [''])[0]}")


PAIRS = ("login-service", "service-login", "cron-login", "container-host", "host-container", "two-containers",
         "process-namespaces")


@check(PAIRS, quick=[("login-service",), ("two-containers",)])
def one_user_shares_an_address(net, pair):
    """Two servers of one user in one network namespace are both served by RoCE, from another host and from their own,
    and warn of nothing, whatever their variables, mount and process namespaces are."""
    a, b = net.pair()
    service, cron = {}, {"before": ("env", "-i", "PATH=/usr/bin:/bin")}
    ways = {"login-service": (login(net), service), "service-login": (service, login(net)), "cron-login": (cron, login(net)),
            "container-host": ({"before": container()}, service), "host-container": (service, {"before": container()}),
            "two-containers": ({"before": container()}, {"before": container()}),
            "process-namespaces": ({"before": container(own_memory=False)}, {"before": container(own_memory=False)})}
    first, second = ways[pair]
    both_are_served(net, a, b, cron_safe(net, a, 7174, first), cron_safe(net, a, 7175, second))


def cron_safe(net, host, port, how):
    before = how.get("before", ())
    if before[:1] == ("env",):
        # `env -i` takes the options of the JVM away, which make the server tell that it listens.
        before = (*before, f"RDMA4J_OPTS={net.options()}")
    return rping(net, host, port, before=before, **{name: value for name, value in how.items() if name != "before"})


@check(quick=True)
def a_second_user_goes_on_with_iwarp(net):
    """Where another user's process has the address, a server warns once, in one line that names the address, who holds it and
    what to do, and goes on with iWARP. A client that names no device is served within 3 s; one that wants RoCE is refused
    in one line."""
    a, b = net.pair()
    first = rping(net, a, 7174)
    second = rping(net, a, 7175, before=AS_SECOND_USER)
    one_warning(net, second, r"user|uid|process|0\b")
    net.ping(b, HOST, "roce")
    net.ping(b, HOST, words=("-p", "7175"), seconds=3)
    net.fails(net.tool(b, "rping", "-c", "-a", HOST, "-p", "7175", "-C", "2", device="roce"), r"refused|rejected", 3)
    net.lives(first)
    net.lives(second)


def one_warning(net, server, holder):
    """One line of the log is about the device that is not served by RoCE, with an address, who holds it and what to do."""
    lines = [line for line in server.logged() if "eth0" in line and not line.startswith("INFO")]
    net.expect(len(lines) == 1, f"the server warned {len(lines)} times of eth0: {server.logged()[:3]}")
    for what, pattern in (("address", rf"{HOST}|fe80:"), ("holder", holder), ("remedy", r"end |stop|use another|-D")):
        net.expect(re.search(pattern, lines[0]), f"the warning names no {what}: {lines[0]}")


@check(("address", "wildcard", "ipv6-wildcard"), quick=[("wildcard",)])
def a_foreign_program_holds_the_port(net, where):
    """Where a program that is none of rdma4j's holds UDP port 4791, a server warns once, in one line, and goes on with
    iWARP. A client that names no device is served within 8 s, on the same host as well."""
    a, b = net.pair()
    at = {"address": HOST, "wildcard": "0.0.0.0", "ipv6-wildcard": "::"}[where]
    holder = net.start(a, sys.executable, "-c", HOLD.format(address=at))
    net.says(holder, "held", 10)
    server = rping(net, a, 7174)
    one_warning(net, server, r"program|process|held|in use")
    net.ping(b, HOST, seconds=8)
    net.ping(a, HOST, seconds=8)
    net.lives(server)


@check(("address", "wildcard"), quick=[("wildcard",)])
def the_holder_of_the_port_ends(net, where):
    """When a foreign program that held UDP port 4791 ends, a server that went on with iWARP is served by RoCE within 2 s, says
    so in one line, and had said only once that it was not."""
    a, b = net.pair()
    at = {"address": HOST, "wildcard": "0.0.0.0"}[where]
    holder = net.start(a, sys.executable, "-c", HOLD.format(address=at))
    net.says(holder, "held", 10)
    server = rping(net, a, 7174)
    # Long enough for it to try again, and perhaps to say so.
    net.rest(4)
    one_warning(net, server, r"program|process|held|in use")
    holder.kill(signal.SIGKILL)
    net.ends(holder, 5)
    net.served_soon(holder.ended_at, b, HOST, "roce", what="port")
    net.expect(sum("roce_eth0 is listened on now" in line for line in server.logged()) == 1,
               f"the server does not say once that it listens: {server.logged()[-2:]}")


@check(("with", "without"), quick=[("with",)])
def a_process_without_native_access_beside_one_with_it(net, first):
    """The one that started first has RoCE. The other one warns once, in one line that names the address, who holds it and what to
    do, and goes on with iWARP: a client that names no device is served by both."""
    a, b = net.pair()
    ways = {"with": {}, "without": {"options": BACKENDS["portable"]}}
    holder = rping(net, a, 7174, **ways.pop(first))
    other = rping(net, a, 7175, **ways.popitem()[1])
    one_warning(net, other, r"process|program|held|in use")
    net.ping(b, HOST, "roce")
    net.ping(b, HOST, words=("-p", "7175"), seconds=8)
    net.expect(not holder.logged(), f"the first logged: {(holder.logged() or [''])[0]}")
    net.lives(holder)
    net.lives(other)


@check(("read-only", "full"), quick=[("full",)])
def nothing_can_be_written(net, memory):
    """With /dev/shm and /tmp read-only, or a /dev/shm that is full, a server starts, is served by RoCE and by iWARP,
    and `doctor` fails on nothing."""
    a, b = net.pair()
    before = {"read-only": READ_ONLY, "full": FULL}[memory]
    server = rping(net, a, 7174, before=before)
    for transport in ("roce", "iwarp"):
        net.ping(b, HOST, transport)
    net.lives(server)
    doctor = net.tool(a, "doctor", before=before)
    net.ends(doctor, 20)
    net.expect("failed" not in doctor.out.split("\n\n")[0].lower() and doctor.status == 0,
               f"doctor: {next((line for line in doctor.out.splitlines() if 'failed' in line), 'status 1')}")


@check(quick=True)
def the_first_of_an_address_is_killed(net):
    """Of three servers at one address the first is killed (SIGKILL). The others are served within 2 s, and a server that
    starts anew at its port, too."""
    a, b = net.pair()
    first, second, third = (rping(net, a, port) for port in (7174, 7175, 7176))
    first.kill(signal.SIGKILL)
    net.ends(first, 5)
    for port in (7175, 7176):
        net.ping(b, HOST, "roce", words=("-p", str(port)))
    rping(net, a, 7174)
    net.ping(b, HOST, "roce")
    net.lives(second)
    net.lives(third)


@check(("first", "last"), quick=[("first",)])
def one_of_an_address_is_stopped(net, which):
    """While one of two servers at an address is stopped (SIGSTOP), the other is served, a third starts and is served; the
    stopped one serves again when it goes on."""
    a, b = net.pair()
    servers = [rping(net, a, port) for port in (7174, 7175)]
    stopped = servers[0 if which == "first" else 1]
    other = "7175" if which == "first" else "7174"
    stopped.kill(signal.SIGSTOP)
    net.ping(b, HOST, "roce", words=("-p", other))
    rping(net, a, 7176)
    net.ping(b, HOST, "roce", words=("-p", "7176"))
    stopped.kill(signal.SIGCONT)
    net.ping(b, HOST, "roce", words=("-p", "7174" if which == "first" else "7175"))
    for server in servers:
        net.lives(server)


@check(("SIGKILL", "SIGSTOP"), limit=120)
def processes_are_ended_while_they_start(net, name):
    """A dozen servers are killed or stopped at different moments of their start. One that starts afterwards is served by
    RoCE, while the stopped ones still are there."""
    a, b = net.pair()
    started = []
    for at in range(12):
        victim = net.tool(a, "rping", "-s", "-P", "-p", str(7200 + at))
        started.append(victim)
        time.sleep(net.start_seconds * (at + 1) / 16)
        victim.kill(getattr(signal, name))
    server = rping(net, a, 7174)
    net.ping(b, HOST, "roce")
    net.ping(a, HOST, "roce")
    net.lives(server)
    for victim in started:
        victim.stop()
    net.ping(b, HOST, "roce")


@check(limit=120)
def containers_and_a_killed_owner(net):
    """Two containers and a login share an address. Whichever of them started first and is killed, the others are served,
    and one that comes in its place."""
    a, b = net.pair()
    ways = [{"before": container()}, {"before": container()}, login(net)]
    servers = [rping(net, a, 7174 + at, **how) for at, how in enumerate(ways)]
    servers[0].kill(signal.SIGKILL)
    net.ends(servers[0], 5)
    for at in (1, 2):
        net.ping(b, HOST, "roce", words=("-p", str(7174 + at)))
    rping(net, a, 7174, **ways[0])
    for at in range(3):
        net.ping(b, HOST, "roce", words=("-p", str(7174 + at)))


@check()
def two_network_namespaces_share_nothing(net):
    """Servers of one user in two network namespaces with the same address do not meet: each is served to its own peer, in
    either order of start."""
    a, b = net.pair()
    c, d = net.host("c"), net.host("d")
    net.cable(c, "eth0", d, "eth0")
    c.up("eth0", f"{HOST}/24")
    d.up("eth0", f"{NET4}.0.2/24")
    first, second = rping(net, a, 7174), rping(net, c, 7175)
    net.ping(b, HOST, "roce")
    net.ping(d, HOST, "roce", words=("-p", "7175"))
    net.fails(net.tool(d, "rping", "-c", "-a", HOST, "-C", "2", device="roce"), r"refused|rejected", 3)
    net.lives(first)
    net.lives(second)
