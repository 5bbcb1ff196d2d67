"""System calls and options of sockets that a sandbox, or an old kernel, refuses.

Which these are is read from the source of the code that makes them, so that a call that is added is tried as well.
"""
import platform
import re
import signal
import sys
import time
from pathlib import Path

from .checks import TRANSPORTS, Lacking, Unexpected, check, said
from .namespaces import NET4
from .programs import LISTENS, ROOT
from .refusing import numbers

SOURCES = ROOT / "rdma4j-softnic" / "src" / "main" / "java"
OPTIONS = SOURCES / "io/rdma4j/softnic/network/linux/SocketOption.java"
REFUSING = Path(__file__).resolve().parent / "refusing.py"
# A function of the C library, and the system calls behind it.
BEHIND = {"recv": ["recvfrom"], "send": ["sendto"], "pread": ["pread64"], "pwrite": ["pwrite64"], "eventfd": ["eventfd2"],
          "epoll_wait": ["epoll_wait", "epoll_pwait"], "poll": ["poll", "ppoll"], "accept": ["accept", "accept4"]}
# Without them no JVM starts, or they are no system calls.
OF_THE_JVM = {"read", "write", "open", "close", "mmap", "munmap", "madvise", "lseek", "fcntl", "getpagesize", "ioctl", "setsockopt",
              "getsockopt", "errno", "strlen", "strerror", "getpid", "gettid", "sysconf", "msync", "syscall"}
OPEN_FILE_LOCKS = "fcntl:37,fcntl:38"
LEVELS = {"SO": 1, "IP": 0, "IPV6": 41, "TCP": 6, "UDP": 17}
# Options that are only asked for, or no options but values.
NOT_SET = {"SO_ERROR", "IP_PMTUDISC_DO"}
SECONDS = 10


def functions():
    """The names of functions that the software devices take from the C library."""
    found = set()
    for file in SOURCES.rglob("*.java"):
        found.update(re.findall(r'CFunction\.of(?:Int|Long)\("([a-z_0-9]+)"\)', file.read_text()))
    return found


def calls():
    """The system calls behind these functions."""
    behind = {name for function in functions() - OF_THE_JVM for name in BEHIND.get(function, [function])}
    return sorted(name for name in behind if name in numbers())


def options():
    """The options of sockets that they set, by name."""
    found = {}
    for name, value in re.findall(r"static final int (\w+) = (\d+);", OPTIONS.read_text()):
        level = LEVELS.get(name.split("_")[0])
        if level is not None and name not in NOT_SET:
            found[name] = f"setsockopt:{level}:{value}"
    return found


def refusals():
    """What is refused, by name: calls, options of sockets, locks."""
    named = {name: name for name in calls()}
    named.update(options())
    named["F_OFD_SETLK"] = OPEN_FILE_LOCKS
    return named


REFUSALS = refusals()
QUICK = [("sendmsg", "roce", "EPERM", "both"), ("recvmsg", "roce", "EPERM", "both"), ("accept4", "iwarp", "EPERM", "both"),
         ("epoll_create1", "roce", "EPERM", "both"), ("SO_ATTACH_REUSEPORT_CBPF", "roce", "EPERM", "both"),
         ("F_OFD_SETLK", "roce", "EPERM", "both"), ("memfd_create", "roce", "ENOSYS", "both"),
         ("IP_MTU_DISCOVER", "roce", "EPERM", "both")]


def trial(net, what, transport, error, side):
    if not numbers():
        raise Lacking(f"the numbers of the system calls of {platform.machine()} are not known here")
    a, b = net.pair()
    before = (sys.executable, str(REFUSING), error, REFUSALS[what], "--")
    server = net.tool(a, "rping", "-s", "-P", device=transport, before=before if side in ("server", "both") else ())
    if not server.wait_for(LISTENS, net.left(SECONDS + net.start_seconds)):
        if server.status is None:
            raise Unexpected(f"the server neither listened nor ended within {SECONDS} s{said(server)}")
        one_line(net, server)
        net.measured.append(f"server: {server.errors()[0]}")
        return
    client = net.tool(b, "rping", "-c", "-a", f"{NET4}.0.1", "-C", "3", device=transport,
                      before=before if side in ("client", "both") else ())
    net.ends(client, SECONDS)
    if client.status == 0:
        net.measured.append("served")
    else:
        one_line(net, client)
        net.measured.append(f"client: {client.errors()[0]}")
    if server.status is None:
        server.kill(signal.SIGTERM)
        stopped = time.monotonic()
        net.until(lambda: server.status is not None, 5, "the server's end on SIGTERM")
        net.measured.append(f"server ended {server.ended_at - stopped:.1f} s after SIGTERM")


def one_line(net, program):
    net.expect(len(program.errors()) == 1, f"{program.words[-3:]} ended with status {program.status} and said: {program.errors()}")


@check(quick=True)
def every_call_can_be_refused(net):
    """Each function that the source takes from the C library is known here, so that the checks below try all of them."""
    if not numbers():
        raise Lacking(f"the numbers of the system calls of {platform.machine()} are not known here")
    unknown = [function for function in sorted(functions() - OF_THE_JVM)
               if not any(name in numbers() for name in BEHIND.get(function, [function]))]
    net.expect(not unknown, f"no number is known here of {', '.join(unknown)}")
    net.measured.append(f"{len(calls())} calls, {len(options())} options")


@check(tuple(REFUSALS), TRANSPORTS, ("EPERM",), ("both",), quick=QUICK)
def a_call_is_refused(net, what, transport, error, side):
    """Each call and option that the code itself has, refused on both sides: within 10 s the client is served, by a
    fall-back, or each side has ended in one line; a server that goes on ends on SIGTERM."""
    trial(net, what, transport, error, side)


@check(tuple(calls()), TRANSPORTS, ("EPERM",), ("server", "client"))
def a_call_is_refused_on_one_side(net, what, transport, error, side):
    """The same where only one side's call is refused."""
    trial(net, what, transport, error, side)


@check(("memfd_create", "sendmmsg", "accept4", "epoll_create1", "ppoll", "pipe2", "eventfd2", "SO_REUSEPORT", "SO_ATTACH_REUSEPORT_CBPF",
        "UDP_SEGMENT", "UDP_GRO", "IP_MULTICAST_ALL"), TRANSPORTS, ("old",), ("both",), quick=[("memfd_create", "roce", "old", "both")])
def an_old_kernel_has_no_such_call(net, what, transport, error, side):
    """The same as kernels answer that have no such call (ENOSYS) or option (ENOPROTOOPT)."""
    if what not in REFUSALS:
        raise Lacking(f"the code has no {what}")
    trial(net, what, transport, "ENOPROTOOPT" if REFUSALS[what].startswith("setsockopt") else "ENOSYS", side)


@check(("IP_TTL", "IP_MULTICAST_TTL", "IP_MULTICAST_IF", "IPV6_MTU_DISCOVER", "IPV6_UNICAST_HOPS", "IPV6_MULTICAST_HOPS",
        "IPV6_MULTICAST_IF"), ("ENOPROTOOPT", "EPERM"), quick=[("IPV6_UNICAST_HOPS", "ENOPROTOOPT")])
def an_option_that_only_refines(net, what, error):
    """Each option of sockets without which packets of IPv4 pass just as well, refused on both sides: RoCE serves all the
    same, if need be by the other back-end."""
    trial(net, what, "roce", error, "both")
    net.expect("served" in net.measured, f"not served: {net.measured}")


@check(("recvfrom", "ppoll"), quick=[("recvfrom",)])
def a_server_before_its_interface_that_is_told_of_no_change(net, what):
    """A server that the system tells nothing about its interfaces looks by itself: one that comes later is served within 3 s."""
    if not numbers():
        raise Lacking(f"the numbers of the system calls of {platform.machine()} are not known here")
    a, b = net.pair()
    a.ip("link set eth0 down")
    server = net.tool(a, "rping", "-s", "-P", before=(sys.executable, str(REFUSING), "EPERM", what, "--"))
    net.rest(net.start_seconds + 2)
    net.lives(server)
    a.ip("link set eth0 up")
    net.rest(3)
    client = net.tool(b, "rping", "-c", "-a", f"{NET4}.0.1", "-C", "3", device="roce")
    net.expect(net.ends(client, SECONDS) == 0, f"the client said {client.errors()}")


@check(TRANSPORTS, quick=[("iwarp",)])
def little_memory_outside_the_heap(net, transport):
    """With `-XX:MaxDirectMemorySize=1m` both sides are served, or end in one line that names what to raise."""
    a, b = net.pair()
    option = "-XX:MaxDirectMemorySize=1m"
    server = net.tool(a, "rping", "-s", "-P", device=transport, options=option)
    if not server.wait_for(LISTENS, net.left(SECONDS + net.start_seconds)):
        net.fails(server, r"ENOMEM|MaxDirectMemorySize", SECONDS)
        return
    client = net.tool(b, "rping", "-c", "-a", f"{NET4}.0.1", "-C", "3", device=transport, options=option)
    if net.ends(client, SECONDS) != 0:
        net.fails(client, r"ENOMEM|MaxDirectMemorySize", SECONDS)
