# SPDX-License-Identifier: Apache-2.0
"""System calls and options of sockets that a sandbox, or an old kernel, refuses.

Which these are is read from the source of the code that makes them, so that a call that is added is tried as well.
"""
import os
import platform
import re
import signal
import sys
import time
from pathlib import Path

from .checks import TRANSPORTS, Lacking, Unexpected, check, said, typed
from .lookalikes import parallel
from .namespaces import NET4, NET6
from .programs import LISTENS, ROOT
from .refusing import numbers

FOLDER = ROOT / "rdma4j-softnic" / "src" / "main" / "java"
# Has the options' values.
OPTIONS = "SocketOption"
REFUSING = Path(__file__).resolve().parent / "refusing.py"
# A function of the C library, and the system calls behind it.
BEHIND = {"recv": ["recvfrom"], "send": ["sendto"], "pread": ["pread64"], "pwrite": ["pwrite64"], "eventfd": ["eventfd2"],
          "epoll_wait": ["epoll_wait", "epoll_pwait"], "poll": ["poll", "ppoll"], "accept": ["accept", "accept4"],
          # By its number, for older C libraries have no function for it.
          "syscall": ["pidfd_open"]}
# Without them no JVM starts, or they are no system calls, or they are refused one option or command at a time.
NOT_WHOLE = {"read", "write", "open", "close", "mmap", "munmap", "getpagesize", "fcntl", "setsockopt", "getsockopt"}
# As the code calls them, where the JVM, the shell before it or their loader cannot do without: the length of a file, a number in
# one, a pipe of which no end blocks or is inherited.
NARROWED = {"lseek": "lseek:0:2", "pread64": "pread64::8", "pipe2": f"pipe2:{os.O_NONBLOCK | os.O_CLOEXEC}"}
# The methods that take a level and an option, and the call that they make; control messages have both as well, but no call.
METHODS = {"set": "setsockopt", "trySet": "setsockopt", "setOption": "setsockopt", "setsockopt": "setsockopt",
           "get": "getsockopt", "option": "getsockopt", "write": None, "writeShort": None, "begin": None, "value": None,
           "find": None}
WITH_OPTION = re.compile(r"(\w+)\((?:[^;{}()]|\([^()]*\))*?\b(SOL_SOCKET|IPPROTO_\w+),\s*((?:SO|IP|IPV6|TCP|UDP)_\w+)")
# Sources of iWARP alone, and of both transports; the others are RoCE's.
OF_STREAMS = re.compile(r"^(Tcp|LinuxStream)")
OF_BOTH = re.compile(r"^(LinuxCalls|SocketCalls|SocketAddress|AddressSpace|Route)")
# What only processes do that meet others at their address: options of this source, and these calls.
OF_MEETING, ON_MEETING = "UnixSocket", {"F_GET_SEALS", "pread64"}
# What only a process does that is connected to another one of its host.
ON_CONNECTING = {"pidfd_open"}
# Called only where a connection is given up, which none of these trials does.
NOT_CALLED = {"SO_LINGER"}
# Called only for memory that a device allocates itself, as perftest's tools have it.
OF_LENT_MEMORY = {"fallocate"}
# Set for members of a group only.
OF_GROUPS = re.compile(r"^(IP|IPV6)_(ADD_MEMBERSHIP|MULTICAST_ALL)$")
GROUPS = {"ipv4": "239.88.0.9", "ipv6": "ff15::89"}
# What a process is served with in spite of a refusal, but by the portable back-end, or without sharing its address: which it
# says once, in one line of its log.
WAITING = {"epoll_create1", "epoll_ctl", "epoll_wait", "eventfd2"}
TOLD = {"roce": WAITING | {"sendmsg", "recvmsg", "UDP_SEGMENT", "UDP_GRO", "IP_MTU_DISCOVER", "SO_REUSEPORT",
                           "SO_ATTACH_REUSEPORT_CBPF", "memfd_create", "ftruncate", "F_ADD_SEALS", "F_OFD_SETLK",
                           "F_OFD_GETLK", "AF_UNIX"},
        "iwarp": WAITING | {"accept4", "recvfrom", "sendto", "getsockname", "getpeername"}}
INSTEAD = re.compile(r" use the network portable|shares no address with other processes")
UNSERVED = re.compile(r"is not listened on|is not used|does not serve|nobody can connect to|roce_lo is at 127|"
                      r"does not tell its network interfaces|packets to multicast groups may leave by another interface")
# A host has five addresses, three of eth0 and two of lo, and two devices of a transport.
MOST_UNSERVED = 7
SECONDS = 10
# What a tool says last, unlike the shell, the loader or the JVM before it.
OF_A_TOOL = re.compile(r"^(rping|mckey): ")


def sources():
    """The name of each source file of the software devices, and its text."""
    return {file.stem: file.read_text() for file in sorted(FOLDER.rglob("*.java"))}


TEXTS = sources()


def found(pattern):
    """What a pattern finds in the source: its name, a value if it has a second group, and the files that have it."""
    names = {}
    for stem, text in TEXTS.items():
        for match in re.finditer(pattern, text):
            names.setdefault(match[1], (match[match.lastindex], set()))[1].add(stem)
    return names


def functions():
    """The names of functions that the software devices take from the C library."""
    return found(r'CFunction\.of(?:Int|Long)\("([a-z_0-9]+)"\)')


def calls():
    """The system calls behind these functions."""
    behind = {}
    for function, (_, files) in functions().items():
        for name in BEHIND.get(function, [function]):
            if function not in NOT_WHOLE and name in numbers():
                behind.setdefault(name, (NARROWED.get(name, name), set()))[1].update(files)
    return behind


def uses_of_options():
    """Where an option of sockets stands in the source beside its level: file, method, option."""
    return [(stem, method, option) for stem, text in TEXTS.items() if stem != OPTIONS
            for method, _, option in WITH_OPTION.findall(text)]


def options():
    """The options of sockets that are set or asked for."""
    constants = dict(re.findall(r"static final int (\w+) = (\d+);", TEXTS[OPTIONS]))
    named = {}
    for stem, method, option in uses_of_options():
        call, family = METHODS.get(method), option.split("_")[0]
        level = constants["SOL_SOCKET" if family == "SO" else f"IPPROTO_{family}"]
        if call and option in constants:
            named.setdefault(option, (f"{call}:{level}:{constants[option]}", set()))[1].add(stem)
    return named


def commands():
    """The commands of fcntl(2); F_SEAL_ and its like are their values."""
    return {name: (f"fcntl:{number}", files)
            for name, (number, files) in found(r"static final int (F_(?!SEAL_)\w+) = (\d+);").items()}


def families():
    """The families of sockets."""
    return {name: (f"socket:{number}", files)
            for name, (number, files) in found(r"static final int (AF_\w+) = (\d+);").items()}


WITH_FILES = {**calls(), **options(), **commands(), **families()}
REFUSALS = {name: call for name, (call, _) in WITH_FILES.items()}


def refused_of(transport):
    """What is refused of a transport, but for what only processes do that meet others."""
    def is_of(name, files):
        if name in ON_MEETING | ON_CONNECTING | NOT_CALLED or name.startswith("SO_") and files == {OF_MEETING}:
            return False
        if transport == "iwarp":
            # Its connections have no messages, and its processes share nothing.
            return name not in {"sendmsg", "recvmsg", "pwrite64"} and any(OF_STREAMS.search(stem) or OF_BOTH.search(stem) for stem in files)
        # RoCE accepts nobody but other processes.
        return name != "accept4" and not all(OF_STREAMS.search(stem) for stem in files)
    return tuple(name for name, (_, files) in WITH_FILES.items() if is_of(name, files))


ROCE, IWARP = refused_of("roce"), refused_of("iwarp")
SIDES = ("both", "server", "client")
QUICK = [("fallocate", "roce", "both"), ("sendmsg", "roce", "both"), ("recvmsg", "roce", "both"), ("accept4", "iwarp", "both"),
         ("epoll_create1", "roce", "both"),
         ("SO_ATTACH_REUSEPORT_CBPF", "roce", "both"), ("F_OFD_SETLK", "roce", "both"), ("AF_NETLINK", "iwarp", "both")]
OLD = ("memfd_create", "sendmmsg", "accept4", "epoll_create1", "ppoll", "pipe2", "eventfd2", "SO_REUSEPORT",
       "SO_ATTACH_REUSEPORT_CBPF", "UDP_SEGMENT", "UDP_GRO", "IP_MULTICAST_ALL", "IP_UNICAST_IF", "F_OFD_SETLK")
# What a process may need to meet one that was there before: it does not listen, and there are no options of packets.
MEETING = tuple(name for name in REFUSALS
                if (name in ROCE or name not in IWARP) and name not in {"listen", "accept4", "SO_REUSEADDR", *NOT_CALLED, *OF_LENT_MEMORY, *ON_CONNECTING}
                and not name.startswith(("IP_", "IPV6_", "UDP_")))


def error_of(what):
    """As systemd answers where RestrictAddressFamilies= does not name a family, and sandboxes otherwise."""
    return "EAFNOSUPPORT" if what.startswith("AF_") else "EPERM"


class Refused:
    """A refusal, and for each process whether it met it."""

    def __init__(self, net, what, error):
        if not numbers():
            raise Lacking(f"the numbers of the system calls of {platform.machine()} are not known here")
        self._net, self._words = net, (sys.executable, str(REFUSING), error, REFUSALS[what])
        self._files, self.programs = [], []

    def tool(self, host, *words, is_refused, **how):
        if not is_refused:
            return self._net.tool(host, *words, **how)
        file = self._net.scratch / f"met{len(self._files)}"
        program = self._net.tool(host, *words, before=(*self._words, str(file), "--"), **how)
        self._files.append(file)
        self.programs.append(program)
        return program

    def require_met(self):
        if not any(file.exists() for file in self._files):
            raise Lacking("nobody makes this call here")


def trial(net, what, transport, error, side):
    refused = Refused(net, what, error)
    is_group = OF_GROUPS.search(what) or (what, transport) == ("SO_REUSEADDR", "roce")
    how = serve_group if is_group else serve_large if what in OF_LENT_MEMORY else serve
    served = how(net, refused, what, transport, side)
    refused.require_met()
    for program in refused.programs:
        warns(net, program, is_due=served and what in TOLD[transport])


def warns(net, program, is_due):
    """A program says once what it uses instead, if it is due; and of each device or address that it does not serve, once."""
    warnings = [line for line in program.logged() if line.startswith("WARNING")]
    instead = [line for line in warnings if INSTEAD.search(line)]
    others = [line for line in warnings if not INSTEAD.search(line)]
    net.expect(len(instead) == 1 or not instead and not is_due,
               f"{typed(program)} said {len(instead)} times what it uses: {warnings}")
    net.expect(len(others) <= MOST_UNSERVED and len(set(others)) == len(others) and all(UNSERVED.search(line) for line in others),
               f"{typed(program)} warned of something else: {others}")


def serve(net, refused, what, transport, side):
    """A server and a client, over the network that has a use for what is refused. Whether they are served."""
    number = 6 if what.startswith("IPV6_") else 4
    if what.endswith("_UNICAST_IF"):
        # It is named only where the system would take another interface.
        a, b = parallel(net)
        address, own = {4: (f"{NET4}.0.11", f"{NET4}.0.12"), 6: (f"{NET6}::11", f"{NET6}::12")}[number]
        words = ("-a", address, "-I", own)
    else:
        a, b = net.pair()
        words = ("-a", {4: f"{NET4}.0.1", 6: f"{NET6}::1"}[number])
    server = refused.tool(a, "rping", "-s", "-P", device=transport, is_refused=side != "client")
    if not begins(net, server, LISTENS):
        return False
    client = refused.tool(b, "rping", "-c", *words, "-C", "3", device=transport, is_refused=side != "server")
    is_served = ends_in_words(net, client, "client")
    if server.status is None:
        server.kill(signal.SIGTERM)
        stopped = time.monotonic()
        net.until(lambda: server.status is not None, 5, "the server's end on SIGTERM")
        net.measured.append(f"server ended {server.ended_at - stopped:.1f} s after SIGTERM")
    return is_served


def serve_large(net, refused, what, transport, side):
    """Large messages, whose memory is another where the device can not allocate what it would lend."""
    a, b = net.pair()
    words = ("ib_write_bw", "-s", "1048576", "-n", "20", "--no-perform_warm_up")
    server = refused.tool(a, *words, device=transport, is_refused=side != "client")
    net.await_port(a, 18515, server)
    client = refused.tool(b, *words, f"{NET4}.0.1", device=transport, is_refused=side != "server")
    net.succeeds(client, SECONDS)
    net.succeeds(server, SECONDS)
    return True


def serve_group(net, refused, what, transport, side):
    """A member of a group, and one who sends to it."""
    family = "ipv6" if what.startswith("IPV6_") else "ipv4"
    a, b = net.pair()
    at, to = {"ipv4": (f"{NET4}.0.1", f"{NET4}.0.2"), "ipv6": (f"{NET6}::1", f"{NET6}::2")}[family]
    words = ("mckey", "-m", GROUPS[family], "--patience", "5", "-b")
    member = refused.tool(a, *words, at, is_refused=side != "client")
    if not begins(net, member, r"joined dgid"):
        return False
    sender = refused.tool(b, *words, to, "-s", is_refused=side != "server")
    return ends_in_words(net, sender, "sender") and ends_in_words(net, member, "member")


def begins(net, server, pattern):
    """Whether a server began to serve; otherwise it must have ended in one line."""
    if server.wait_for(pattern, net.left(SECONDS + net.start_seconds)):
        return True
    if server.status is None:
        raise Unexpected(f"the server neither listened nor ended within {SECONDS} s{said(server)}")
    one_line(net, server)
    net.measured.append(f"server: {server.errors()[0]}")
    return False


def ends_in_words(net, program, name):
    """Whether a program ended well; otherwise it must have ended in one line."""
    if net.ends(program, SECONDS) == 0:
        net.measured.append(f"{name} served")
        return True
    one_line(net, program)
    net.measured.append(f"{name}: {program.errors()[0]}")
    return False


def one_line(net, program):
    net.expect(len(program.errors()) == 1 and OF_A_TOOL.search(program.errors()[0]),
               f"{typed(program)} ended with status {program.status} and said: {program.errors()[:3]}")


@check(quick=True)
def every_call_can_be_refused(net):
    """Each function that the source takes from the C library, and each option of sockets, is known here, so that the checks below
    try all of them."""
    if not numbers():
        raise Lacking(f"the numbers of the system calls of {platform.machine()} are not known here")
    unknown = [function for function in sorted(set(functions()) - NOT_WHOLE)
               if not any(name in numbers() for name in BEHIND.get(function, [function]))]
    net.expect(not unknown, f"no number is known here of {', '.join(unknown)}")
    methods = sorted({f"{stem}: {method} {option}" for stem, method, option in uses_of_options() if method not in METHODS})
    net.expect(not methods, f"it is not known here what these methods do: {', '.join(methods)}")
    net.expect(not set(TOLD["roce"] | TOLD["iwarp"]) - set(REFUSALS) - set(BEHIND),
               f"the source has none of {set(TOLD['roce'] | TOLD['iwarp']) - set(REFUSALS)}")
    net.measured.append(f"{len(calls())} calls, {len(options())} options, {len(commands())} commands of fcntl, "
                        f"{len(families())} families")


@check(ROCE, ("roce",), SIDES, quick=QUICK)
@check(IWARP, ("iwarp",), SIDES, quick=QUICK)
def a_call_is_refused(net, what, transport, side):
    """Each call, option, command and family that the code itself has, refused on both sides or on one: within 10 s the client is
    served, by a fall-back, or each side has ended in one line; a server that goes on ends on SIGTERM. A process that goes on with
    another back-end, or shares no address any more, warns of it in exactly one line, and of a device or address that it does not
    serve in one; none warns of anything else."""
    trial(net, what, transport, error_of(what), side)


@check(tuple(name for name in OLD if name in ROCE), ("roce",), quick=[("memfd_create", "roce")])
@check(tuple(name for name in OLD if name in IWARP), ("iwarp",))
def an_old_kernel_has_no_such_call(net, what, transport):
    """The same on both sides as kernels answer that have no such call (ENOSYS), option (ENOPROTOOPT) or command (EINVAL)."""
    call = REFUSALS[what].partition(":")[0]
    trial(net, what, transport, {"setsockopt": "ENOPROTOOPT", "fcntl": "EINVAL"}.get(call, "ENOSYS"), "both")


@check(MEETING, quick=[("AF_UNIX",)])
def a_call_is_refused_beside_another_process(net, what):
    """Each call refused to a server that starts beside another one of the same user and address: within 10 s it is served at the
    same address, or at another device in one line, or has ended in one line. The other one is served as before."""
    a, b = net.pair()
    refused = Refused(net, what, error_of(what))
    net.server(a, "rping", "-s", "-P", "-p", "7999", device="roce")
    server = refused.tool(a, "rping", "-s", "-P", device="roce", is_refused=True)
    if begins(net, server, LISTENS):
        ends_in_words(net, net.tool(b, "rping", "-c", "-a", f"{NET4}.0.1", "-C", "3", device="roce"), "client")
    net.ping(b, f"{NET4}.0.1", "roce", words=("-p", "7999"))
    refused.require_met()
    warns(net, server, is_due=False)


@check(("EPERM", "ENOSYS"), quick=[("ENOSYS",)])
def the_end_of_the_peers_process_is_not_to_be_seen(net, error):
    """A client that must not watch the process of its server on the same host, in a sandbox or on a kernel before 5.3: it is served."""
    a, _ = net.pair()
    (what,) = ON_CONNECTING
    refused = Refused(net, what, error)
    net.server(a, "rping", "-s", "-P", device="roce")
    client = refused.tool(a, "rping", "-c", "-a", f"{NET4}.0.1", "-C", "3", device="roce", is_refused=True)
    net.succeeds(client, SECONDS)
    refused.require_met()
    warns(net, client, is_due=False)


@check(("listen", "accept4", "bind", "sendmsg", "recvmsg", "pwrite64", "F_OFD_SETLK", "SO_REUSEPORT", "AF_UNIX"))
def a_call_is_refused_to_the_first_of_two_processes(net, what):
    """The same where the server that starts first is refused what others need of it: both are served, or say in one line that they
    are not; it goes on as before when the other one has come."""
    a, b = net.pair()
    refused = Refused(net, what, error_of(what))
    first = refused.tool(a, "rping", "-s", "-P", device="roce", is_refused=True)
    if not begins(net, first, LISTENS):
        return
    to_first = ("rping", "-c", "-a", f"{NET4}.0.1", "-C", "3")
    before = ends_in_words(net, net.tool(b, *to_first, device="roce"), "client of the first")
    second = net.tool(a, "rping", "-s", "-P", "-p", "7999", device="roce")
    if begins(net, second, LISTENS):
        ends_in_words(net, net.tool(b, *to_first, "-p", "7999", device="roce"), "client of the second")
    if before:
        net.succeeds(net.tool(b, *to_first, device="roce"), SECONDS)
    net.lives(first)
    refused.require_met()
    for server in (first, second):
        warns(net, server, is_due=False)


# Without IPV6_MULTICAST_HOPS the JDK itself has no datagram sockets of IPv6.
@check(("IP_TTL", "IP_MULTICAST_TTL", "IP_MULTICAST_IF", "IPV6_MTU_DISCOVER", "IPV6_UNICAST_HOPS", "IPV6_MULTICAST_IF"),
       ("ENOPROTOOPT", "EPERM"), quick=[("IPV6_UNICAST_HOPS", "ENOPROTOOPT")])
def an_option_that_only_refines(net, what, error):
    """Each option of sockets without which packets of IPv4 pass just as well, refused on both sides: RoCE serves all the
    same, if need be by the other back-end."""
    trial(net, what, "roce", error, "both")
    net.expect("client served" in net.measured, f"not served: {net.measured}")


@check(("recvfrom", "ppoll"), quick=[("recvfrom",)])
def a_server_before_its_interface_that_is_told_of_no_change(net, what):
    """A server that the system tells nothing about its interfaces looks by itself: one that comes later is served within 3 s."""
    refused = Refused(net, what, "EPERM")
    a, b = net.pair()
    a.ip("link set eth0 down")
    server = refused.tool(a, "rping", "-s", "-P", is_refused=True)
    net.rest(net.start_seconds + 2)
    net.lives(server)
    a.ip("link set eth0 up")
    net.rest(3)
    client = net.tool(b, "rping", "-c", "-a", f"{NET4}.0.1", "-C", "3", device="roce")
    net.expect(net.ends(client, SECONDS) == 0, f"the client said {client.errors()}")
    refused.require_met()


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
