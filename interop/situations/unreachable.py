# SPDX-License-Identifier: Apache-2.0
"""Peers that cannot be reached: how soon a program knows it, and in which words."""
import re
import signal
import time

from .checks import TRANSPORTS, Unexpected, check
from .namespaces import NET4, NET6
from .typed import SIDE_CHANNEL_PORT

SERVICE = "7174"
# Whom to call, within how many seconds it must be known that nothing comes of it, and what must be said.
WHO = {
    "a-host-without-process": (f"{NET4}.0.2", 2, r"ECONNREFUSED|refused|no process"),
    "a-port-without-server": (f"{NET4}.0.2", 2, r"ECONNREFUSED|refused|no process"),
    "an-address-nobody-has": (f"{NET4}.0.77", 5, r"EHOSTUNREACH|no host answers"),
    "an-ipv6-address-nobody-has": (f"{NET6}::77", 5, r"EHOSTUNREACH|no host answers"),
    "no-route": ("10.99.0.1", 1, r"ENETUNREACH"),
    "no-ipv6-route": ("fd99::1", 1, r"ENETUNREACH"),
    "a-route-that-is-unreachable": (f"{NET4}.9.1", 2, r"EHOSTUNREACH|ENETUNREACH"),
    "the-own-firewall": (f"{NET4}.0.2", 4, r"EPERM|firewall|not permitted"),
    "the-peers-firewall-rejects": (f"{NET4}.0.2", 4, r"ECONNREFUSED|EHOSTUNREACH|refused|unreachable"),
    "the-peers-firewall-drops": (f"{NET4}.0.2", 20, r"ETIMEDOUT|did not answer|nothing came"),
}
TOOLS = ("rping", "rping -I", "client", "ucmatose", "udaddy")
# Times out, or takes a table of the kernel that no other check needs.
QUICK = [("a-host-without-process", "roce", "rping"), ("a-host-without-process", "roce", "client"),
         ("a-host-without-process", "iwarp", "rping -I"), ("a-port-without-server", "roce", "ucmatose"),
         ("an-address-nobody-has", "roce", "rping"), ("an-address-nobody-has", "iwarp", "rping"),
         ("no-route", "roce", "rping -I"), ("no-route", "iwarp", "rping -I"), ("no-ipv6-route", "roce", "rping -I"),
         ("the-own-firewall", "roce", "rping"), ("the-peers-firewall-rejects", "roce", "rping"),
         ("a-route-that-is-unreachable", "roce", "rping")]


def called(net, host, tool, address, transport):
    """A client as typed; the name of the tool may have the option that binds it to the own address."""
    own = f"{NET6}::1" if ":" in address else f"{NET4}.0.1"
    words = {"rping": ("rping", "-c", "-a", address, "-C", "1"),
             "rping -I": ("rping", "-c", "-a", address, "-I", own, "-C", "1"),
             "client": ("client", address, SERVICE),
             "ucmatose": ("ucmatose", "-s", address),
             "udaddy": ("udaddy", "-s", address)}[tool]
    return net.tool(host, *words, device=transport)


@check(tuple(WHO), TRANSPORTS, TOOLS, quick=QUICK)
def what_is_said_of_whom(net, who, transport, tool):
    """The client ends in one line: refused by a host without a server within 2 s; EHOSTUNREACH for an address that nobody has
    within 5 s; ENETUNREACH without a route at once; that the own firewall refuses within 4 s; and a peer that says nothing
    within 20 s."""
    if tool == "udaddy" and transport == "iwarp":
        # iWARP has no datagrams.
        transport = "roce"
    a, b = net.pair()
    address, seconds, words = WHO[who]
    port = "udp dport 4791" if transport == "roce" else "tcp dport { 7174, 7471 }"
    if who == "a-port-without-server":
        net.server(b, "rping", "-s", "-P", "-p", "7999")
    elif who == "the-own-firewall":
        if transport == "iwarp":
            # The kernel says nothing of a request for a connection that its own firewall drops.
            seconds, words = 20, r"ETIMEDOUT|did not answer|nothing came|EPERM|firewall"
        a.drop("output", port)
    elif who == "the-peers-firewall-drops":
        b.drop("input", port)
    elif who == "the-peers-firewall-rejects":
        b.nft("add table inet rdma4j; add chain inet rdma4j input { type filter hook input priority 0; }; "
              f"add rule inet rdma4j input {port} reject with icmpx admin-prohibited")
    elif who == "a-route-that-is-unreachable":
        a.ip(f"route add unreachable {NET4}.9.0/24")
    net.fails(called(net, a, tool, address, transport), words, seconds)


BY_HAND = ("ibv_rc_pingpong", "ibv_uc_pingpong", "ibv_ud_pingpong", "ib_write_bw", "ib_send_bw -c UD")


@check(("the-own-firewall", "the-peers-firewall-drops"), BY_HAND,
       quick=[("the-own-firewall", "ibv_ud_pingpong")])
def what_a_tool_that_connects_by_hand_says_of_a_firewall(net, who, tool):
    """Both tools exchange their addresses by TCP, and RoCE gets no further: the client ends in one line within its patience,
    and names the own firewall if it is that."""
    a, b = net.pair()
    if who == "the-own-firewall":
        a.drop("output", "udp dport 4791")
    else:
        b.drop("input", "udp dport 4791")
    patience = ("--patience", "5")
    tool = tool.split()
    server = net.tool(b, *tool, *patience, device="roce")
    net.await_port(b, SIDE_CHANNEL_PORT, server)
    words = r"EPERM|firewall|not permitted" if who == "the-own-firewall" else WHO[who][2] + r"|acknowledge"
    net.fails(net.tool(a, *tool, f"{NET4}.0.2", *patience, device="roce"), words, 15)


@check(("unused", "unused-ipv6"), quick=[("unused",)])
def an_address_nobody_has_on_the_jdks_channels(net, what):
    """Without native access the system says nothing of hosts to sockets for datagrams: the client asks it by TCP, and
    ends within 10 s with EHOSTUNREACH."""
    a, _ = net.pair()
    address = f"{NET4}.0.77" if what == "unused" else f"{NET6}::77"
    client = net.tool(a, "rping", "-c", "-a", address, "-C", "1", device="roce", options="-Drdma4j.network=portable")
    net.fails(client, r"EHOSTUNREACH|no host answers", 10)


@check(TRANSPORTS, quick=[("roce",)])
def a_router_says_that_nobody_is_there(net, transport):
    """Where a router answers that a host cannot be reached, the client ends within 5 s with EHOSTUNREACH; where it has no
    route, with ENETUNREACH."""
    a, router, _ = net.routed()
    router.sh("sysctl -qw net.ipv4.icmp_ratelimit=0")
    client = net.tool(a, "rping", "-c", "-a", f"{NET4}.2.77", "-C", "1", device=transport)
    net.fails(client, r"EHOSTUNREACH", 6)
    router.ip("route add unreachable 10.77.0.0/16")
    client = net.tool(a, "rping", "-c", "-a", "10.77.0.1", "-C", "1", device=transport)
    net.fails(client, r"EHOSTUNREACH|ENETUNREACH", 2)


@check(TRANSPORTS, quick=True)
def a_server_is_killed_between_request_and_answer(net, transport):
    """A client whose request the server has, and which is killed before it answers, ends within 10 s in one line."""
    a, b = net.pair()
    server = net.source(a, "NeverAccepts.java", SERVICE)
    if not server.wait_for("listening on ListenRequest", net.left(20)):
        raise Unexpected(f"the server does not listen: {server.err.strip()}")
    client = net.tool(b, "rping", "-c", "-a", f"{NET4}.0.1", "-C", "1", device=transport)
    net.says(server, "CONNECT_REQUEST", 10 + net.start_seconds, what="the client's start")
    net.rest(1)
    net.lives(client)
    killed = time.monotonic()
    server.kill(signal.SIGKILL)
    net.fails(client, r"refused|no process|died|gone|reset|did not answer|ended", 10, killed)


@check(TRANSPORTS, quick=[("roce",)])
def a_host_is_cut_off_between_request_and_answer(net, transport):
    """The same where the server's host is cut off and nothing says so: the client, which has `--patience 20`, ends within 30 s in
    one line."""
    a, b = net.pair()
    server = net.source(a, "NeverAccepts.java", SERVICE)
    if not server.wait_for("listening on ListenRequest", net.left(20)):
        raise Unexpected(f"the server does not listen: {server.err.strip()}")
    client = net.tool(b, "rping", "-c", "-a", f"{NET4}.0.1", "-C", "1", "--patience", "20", device=transport)
    net.says(server, "CONNECT_REQUEST", 10 + net.start_seconds, what="the client's start")
    a.drop("output", "meta l4proto { tcp, udp }")
    net.fails(client, r"did not answer|nothing came|ETIMEDOUT|not acknowledged", 30)


@check(("ib_write_bw", "ibv_devinfo", "demo", "ibv_rc_pingpong"), quick=[("ib_write_bw",)])
def a_device_whose_interface_is_down(net, tool):
    """A tool that is told the device of an interface that is down says, in one line, that it is down."""
    a, _ = net.pair()
    a.ip("link set eth0 down")
    words = {"ib_write_bw": (f"{NET4}.0.2",), "ibv_rc_pingpong": (f"{NET4}.0.2",)}.get(tool, ())
    net.fails(net.tool(a, tool, "-d", "roce_eth0", *words), r"\bdown\b", 3)


@check(("demo", "ib_write_bw", "ibv_devinfo"), quick=[("ib_write_bw",)])
def a_device_that_does_not_exist(net, tool):
    """A device's name that no interface has ends a tool in one line, each of ten times."""
    a, _ = net.pair()
    words = (f"{NET4}.0.2",) if tool == "ib_write_bw" else ()
    for _ in range(10):
        net.fails(net.tool(a, tool, "-d", "nosuch", *words), r"nosuch", 3)


@check(("lo-down", "eth0-down"), quick=[("lo-down",)])
def doctor_says_what_is_down(net, what):
    """`doctor` names the interface that is down."""
    a, _ = net.pair()
    interface = what.removesuffix("-down")
    a.ip(f"link set {interface} down")
    doctor = net.tool(a, "doctor")
    net.ends(doctor, 20)
    net.expect(any(interface in line and "down" in line for line in doctor.out.splitlines()),
               f"doctor does not say that {interface} is down")


# What `doctor HOST` says in its lines of failures, and what it says is well.
BETWEEN = {
    "good": ((), (r"RoCE packets to", r"RoCE packets from", r"RoCE: connected", r"iWARP: connected")),
    "udp-dropped": ((r"^RoCE packets to .*none arrives.*UDP port 4791",), (r"RoCE packets from", r"iWARP: connected")),
    "answers-dropped": ((r"^RoCE packets from .*none arrives.*UDP port 4791",), (r"RoCE packets to", r"iWARP: connected")),
    "tcp-dropped": ((r"^iWARP to port \d+: .*firewall.* TCP port",),
                    (r"RoCE packets to", r"RoCE packets from", r"RoCE: connected")),
    "small-hop": ((r"^RoCE packets to .*path MTU 1024 arrive.*MTU smaller",
                   r"^RoCE packets from .*path MTU 1024 arrive.*MTU smaller"), (r"iWARP: connected",)),
    "all-dropped": ((r"^TCP port 18514 .*gives no answer.*firewall",), ()),
    "no-server": ((r"refused: start 'doctor -s' there",), ()),
}


@check(tuple(BETWEEN), quick=[("good",), ("udp-dropped",)])
def doctor_of_another_host(net, what):
    """`doctor HOST` tries RoCE, iWARP and the path's MTU to another host's `doctor -s`, and says what stands between: which
    transport is blocked, which MTU the path has."""
    if what == "small-hop":
        a, _, b = net.routed(mtu=9000, hop_mtu=1500)
        address = f"{NET4}.1.1"
    else:
        a, b = net.pair()
        address = f"{NET4}.0.1"
    if what != "no-server":
        server = net.tool(a, "doctor", "-s")
        net.says(server, r"listen|wait|serv|port", 10 + net.start_seconds, what="its start")
    if what == "udp-dropped":
        a.drop("input", "udp dport 4791")
    elif what == "tcp-dropped":
        a.drop("input", "tcp dport 18515")
    elif what == "answers-dropped":
        b.drop("input", "udp dport 4791")
    elif what == "all-dropped":
        a.drop("input", "meta l4proto { tcp, udp }")
    doctor = net.tool(b, "doctor", address)
    net.ends(doctor, 40)
    said = doctor.out + doctor.err
    failed = re.findall(r"^\s+failed\s+(.*)", said, re.MULTILINE)
    net.expect((doctor.status == 0) == (what == "good"), f"doctor ended with status {doctor.status}: {failed}")
    # What fails, each in one line that names what stands between; and what passes all the same.
    fails, passes = BETWEEN[what]
    net.expect(len(failed) == len(fails) and all(re.search(*pair) for pair in zip(fails, failed)),
               f"doctor did not say {fails} but {failed}")
    for pattern in passes:
        net.expect(re.search(rf"^\s+ok\s+{pattern}", said, re.MULTILINE), f"doctor did not say that {pattern} is ok")


@check(TRANSPORTS, quick=[("roce",)])
def nothing_that_is_sent_is_acknowledged(net, transport):
    """A `ucmatose` whose peer's answers are all lost ends within 20 s, in one line; over RoCE it says that what it sends is not
    acknowledged, which over iWARP only the system's TCP knows."""
    a, b = net.pair()
    # What the client sends lasts long enough to be cut off.
    words = ("ucmatose", "-C", "2000", "-S", "60000")
    b.sh("tc qdisc add dev eth0 root tbf rate 100mbit burst 64kb limit 8mb")
    server = net.server(a, *words)
    client = net.tool(b, *words, "-s", f"{NET4}.0.1", device=transport)
    net.says(client, "sending replies", 20 + net.start_seconds, what="its start")
    net.lives(client)
    net.lives(server)
    b.drop("input", "meta l4proto { tcp, udp }")
    cut = time.monotonic()
    net.fails(client, r"acknowledge" if transport == "roce" else r"acknowledge|nothing came", 20, cut)


@check(TRANSPORTS, ("server", "client"), quick=[("roce", "server")])
def a_peer_dies(net, transport, who):
    """When one side is killed under a connection, the other ends within 10 s: a client in one line, a server without any or
    with one, as the end of a stream is no error for it."""
    a, b = net.pair()
    server = net.server(a, "rping", "-s")
    client = net.tool(b, "rping", "-c", "-a", f"{NET4}.0.1", "-v", device=transport)
    net.says(client, "ping data", 10 + net.start_seconds, what="its start")
    victim, other = (server, client) if who == "server" else (client, server)
    killed = time.monotonic()
    victim.kill(signal.SIGKILL)
    net.ends(other, 10)
    lines = other.errors()
    net.expect(len(lines) == 1 and other.status != 0 or who == "client" and not lines, f"it did not end in one line: {lines}")
    net.measured.append(f"{other.ended_at - killed:.1f} s")


@check(TRANSPORTS)
def an_interface_is_deleted_under_a_connection(net, transport):
    """Both sides end: the host of the interface within 3 s, in one line that says that the device is gone; the other within
    20 s, in one line."""
    a, b = net.pair()
    server = net.server(a, "rping", "-s")
    client = net.tool(b, "rping", "-c", "-a", f"{NET4}.0.1", "-v", device=transport)
    net.says(client, "ping data", 10 + net.start_seconds, what="its start")
    deleted = time.monotonic()
    # Its cable's other end goes with it, so both lose their interface.
    b.ip("link del eth0")
    for side in (client, server):
        net.fails(side, r"remov|gone|delet", 3, deleted)
