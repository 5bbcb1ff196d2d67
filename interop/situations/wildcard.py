# SPDX-License-Identifier: Apache-2.0
"""A server that was told no address, on a host whose interfaces and addresses come, go and come back."""
import time

from .checks import TRANSPORTS, Unexpected, check
from .namespaces import NET4, NET6

RPING = ("rping", "-s", "-P")
GROUPS = {"ipv4": "239.88.0.5", "ipv6": "ff15::85"}
OWN = {"ipv4": (f"{NET4}.0.1", f"{NET4}.0.2"), "ipv6": (f"{NET6}::1", f"{NET6}::2")}
PREFIX = {"ipv4": 24, "ipv6": 64}
# Of what tells of an address or an interface.
TOLD_SECONDS = 2
GONE = r"remov|gone|delet|no longer"


@check(TRANSPORTS, quick=True)
def a_server_starts_while_addresses_are_tried_out(net, transport):
    """The server listens at once and stays. A client of the IPv6 address is served 2 s after it became usable. The log
    names the address that is not served, and again when it is."""
    a, b = net.host("a"), net.host("b")
    a.sh("sysctl -qw net.ipv6.conf.all.accept_dad=1 net.ipv6.conf.default.accept_dad=1 "
         "net.ipv6.conf.default.dad_transmits=6")
    net.cable(a, "eth0", b, "eth0")
    b.up("eth0", f"{NET4}.0.2/24", f"{NET6}::2/64")
    a.up("eth0", f"{NET4}.0.1/24", f"{NET6}::1/64")
    server = net.tool(a, *RPING)
    net.says(server, r"listening on ListenRequest", 5 + net.start_seconds)
    if f" {NET6}::1/" in a.sh("ip -o addr show -tentative"):
        raise Unexpected("the address was usable before the server listened: the machine is too slow for this check")
    net.ping(b, f"{NET4}.0.1", transport)
    net.lives(server)
    usable = a.await_usable(f"{NET6}::1")
    net.served_soon(usable, b, f"{NET6}::1", transport)
    lines = [line for line in server.logged() if f"{NET6}:" in line]
    net.expect(len(lines) >= 2, f"the log names the address {len(lines)} times, not when it is left out and when it is served")


@check(TRANSPORTS, quick=[("iwarp",)])
def a_server_lives_with_a_duplicate_address(net, transport):
    """The server starts, serves its other addresses, and each of its devices logs one line that names the duplicate."""
    a, b = net.host("a"), net.host("b")
    a.sh("sysctl -qw net.ipv6.conf.all.accept_dad=1 net.ipv6.conf.default.accept_dad=1")
    net.cable(a, "eth0", b, "eth0")
    b.up("eth0", f"{NET4}.0.2/24", f"{NET6}::2/64", f"{NET6}::5/64")
    a.up("eth0", f"{NET4}.0.1/24", f"{NET6}::1/64", f"{NET6}::5/64")
    net.until(lambda: "dadfailed" in a.sh("ip -6 -o addr show dev eth0"), 10, "the kernel found the duplicate")
    a.await_usable(f"{NET6}::1")
    server = net.server(a, *RPING)
    net.ping(b, f"{NET6}::1", transport)
    net.ping(b, f"{NET4}.0.1", transport)
    net.lives(server)
    lines = [line for line in server.logged() if f"{NET6}:" in line and ("::5" in line or ":0:5" in line)]
    net.expect(1 <= len(lines) <= len(TRANSPORTS), f"the log has {len(lines)} lines about the duplicate address")


@check(TRANSPORTS, quick=[("iwarp",)])
def a_server_starts_where_loopback_has_no_ipv4_address(net, transport):
    """The server listens at once, and serves the other addresses."""
    a, b = net.pair()
    a.ip("addr del 127.0.0.1/8 dev lo")
    server = net.server(a, *RPING)
    net.ping(b, f"{NET4}.0.1", transport)
    net.lives(server)


@check(TRANSPORTS, quick=[("roce",)])
def a_server_starts_before_its_interface_exists(net, transport):
    """A client is served 2 s after the address came."""
    a, b = net.host("a"), net.host("b")
    server = net.server(a, *RPING)
    net.cable(a, "eth0", b, "eth0")
    b.up("eth0", f"{NET4}.0.2/24")
    a.up("eth0", f"{NET4}.0.1/24")
    net.served_soon(time.monotonic(), b, f"{NET4}.0.1", transport)
    net.lives(server)


@check(TRANSPORTS, quick=[("iwarp",)])
def a_server_starts_before_its_interface_is_up(net, transport):
    """A client is served 2 s after the interface was up and had its address."""
    a, b = net.host("a"), net.host("b")
    net.cable(a, "eth0", b, "eth0")
    server = net.server(a, *RPING)
    b.up("eth0", f"{NET4}.0.2/24", f"{NET6}::2/64")
    a.up("eth0", f"{NET4}.0.1/24", f"{NET6}::1/64")
    net.served_soon(time.monotonic(), b, f"{NET4}.0.1", transport)
    net.ping(b, f"{NET6}::1", transport)
    net.lives(server)


@check(TRANSPORTS, quick=True)
def an_interface_is_deleted_and_made_again(net, transport):
    """The server stays. A client is served 2 s after the interface is back with its address, and over IPv6, too."""
    a, b = net.pair()
    server = net.server(a, *RPING)
    net.ping(b, f"{NET4}.0.1", transport)
    for _ in range(2):
        a.ip("link del eth0")
        net.rest(1.5)
        net.lives(server, "when its interface was deleted")
        net.cable(a, "eth0", b, "eth0")
        b.up("eth0", f"{NET4}.0.2/24", f"{NET6}::2/64")
        a.up("eth0", f"{NET4}.0.1/24", f"{NET6}::1/64")
        net.served_soon(time.monotonic(), b, f"{NET4}.0.1", transport)
        net.ping(b, f"{NET6}::1", transport)
    net.lives(server)


@check(TRANSPORTS, quick=[("roce",)])
def an_interface_is_added(net, transport):
    """A client behind the new interface is served 2 s after it had its address; the old one is served as before."""
    a, b = net.pair()
    c = net.host("c")
    server = net.server(a, *RPING)
    net.cable(a, "eth1", c, "eth0")
    c.up("eth0", f"{NET4}.1.2/24", f"{NET6}:1::2/64")
    a.up("eth1", f"{NET4}.1.1/24", f"{NET6}:1::1/64")
    net.served_soon(time.monotonic(), c, f"{NET4}.1.1", transport)
    net.ping(c, f"{NET6}:1::1", transport)
    net.ping(b, f"{NET4}.0.1", transport)
    net.lives(server)


@check(TRANSPORTS)
def an_interface_changes_its_name(net, transport):
    """Renamed as udev does at boot, the interface is served under its new name 2 s after it is up again."""
    a, b = net.pair()
    server = net.server(a, *RPING)
    a.ip("link set eth0 down", "link set eth0 name enp1s0")
    a.up("enp1s0", f"{NET6}::1/64")
    net.served_soon(time.monotonic(), b, f"{NET4}.0.1", transport)
    net.ping(b, f"{NET6}::1", transport)
    net.lives(server)


@check(TRANSPORTS)
def an_address_goes_and_comes_back(net, transport):
    """A client is served 2 s after the address is back, and at another one that came meanwhile."""
    a, b = net.pair()
    server = net.server(a, *RPING)
    a.ip(f"addr del {NET4}.0.1/24 dev eth0", f"addr add {NET4}.0.7/24 dev eth0")
    net.served_soon(time.monotonic(), b, f"{NET4}.0.7", transport)
    a.ip(f"addr add {NET4}.0.1/24 dev eth0")
    net.served_soon(time.monotonic(), b, f"{NET4}.0.1", transport)
    net.lives(server)


@check(("ucmatose", "udaddy", "server"), quick=[("udaddy",)])
def every_servers_tool_follows_its_host(net, tool):
    """`ucmatose`, `udaddy` and `server`, started before the interface exists, serve a client 2 s after its address came."""
    a, b = net.host("a"), net.host("b")
    port = ("-p", "7000") if tool == "server" else ()
    server = net.server(a, tool, *port)
    net.cable(a, "eth0", b, "eth0")
    b.up("eth0", f"{NET4}.0.2/24")
    a.up("eth0", f"{NET4}.0.1/24")
    net.rest(2)
    client = ("client", f"{NET4}.0.1", "7000") if tool == "server" else (tool, "-s", f"{NET4}.0.1")
    net.succeeds(net.tool(b, *client))
    if tool != "server":
        net.succeeds(server)


@check(quick=True)
def a_server_of_datagrams_outlives_an_interface(net):
    """`udpong`, told no address, serves clients of one interface while another is deleted, and those of that one 2 s after it
    is back with its address."""
    a, b = net.pair()
    c = net.host("c")
    net.cable(a, "eth1", c, "eth0")
    c.up("eth0", f"{NET4}.1.2/24")
    a.up("eth1", f"{NET4}.1.1/24")
    server = net.server(a, "udpong", "-T", "blocking", ready=r"waiting for datagrams")

    def serves(client, address):
        net.succeeds(net.tool(client, "udpong", "-s", address, "-S", "64", "-C", "100", "-T", "blocking"))

    serves(b, f"{NET4}.0.1")
    serves(c, f"{NET4}.1.1")
    for _ in range(2):
        a.ip("link del eth0")
        net.rest(1.5)
        net.lives(server, "when its interface was deleted")
        serves(c, f"{NET4}.1.1")
        net.cable(a, "eth0", b, "eth0")
        b.up("eth0", f"{NET4}.0.2/24")
        a.up("eth0", f"{NET4}.0.1/24")
        net.rest(2)
        serves(b, f"{NET4}.0.1")
    net.lives(server)


def member_of_a_group(net, host, family):
    return net.server(host, "mckey", "-m", GROUPS[family], "-b", OWN[family][0], "--patience", "40", ready=r"joined dgid")


def route_to_groups(host, family):
    if family == "ipv4":
        host.ip("route replace 239.0.0.0/8 dev eth0")


@check(("ipv4", "ipv6"), ("link-down", "address-goes"), quick=[("ipv4", "link-down")])
def a_member_of_a_group_outlives_its_link(net, family, what):
    """A member of a multicast group whose interface was down for a while, or whose address was gone, gets what is sent to the
    group 2 s after it is back."""
    a, b = net.pair()
    for host in (a, b):
        route_to_groups(host, family)
    member = member_of_a_group(net, a, family)
    address = f"{OWN[family][0]}/{PREFIX[family]}"
    if what == "link-down":
        a.ip("link set eth0 down")
    else:
        a.ip(f"addr del {address} dev eth0")
    net.rest(1.5)
    net.lives(member, f"when it had {what.replace('-', ' ')}")
    # The kernel takes an interface's IPv6 addresses away with its link.
    a.ip("link set eth0 up", f"addr replace {address} dev eth0")
    route_to_groups(a, family)
    net.rest(2)
    net.succeeds(net.tool(b, "mckey", "-s", "-m", GROUPS[family], "-b", OWN[family][1]))
    net.succeeds(member)


@check(("ipv4", "ipv6"), quick=[("ipv4",)])
def a_member_of_a_group_is_told_that_its_interface_is_gone(net, family):
    """A member of a multicast group whose interface is deleted ends within 2 s, in one line that says that the device is gone."""
    a, b = net.pair()
    for host in (a, b):
        route_to_groups(host, family)
    member = member_of_a_group(net, a, family)
    deleted = time.monotonic()
    a.ip("link del eth0")
    net.fails(member, GONE, TOLD_SECONDS, deleted)


@check(("roce", "iwarp"), quick=[("roce",)])
def what_changes_is_told(net, transport):
    """`ibv_asyncwatch` tells within 2 s that the port's link went and came, that addresses changed, and that the device
    is gone with its interface; then it ends, in one line."""
    a, b = net.pair()
    watch = net.tool(a, "ibv_asyncwatch", "-d", f"{transport}_eth0")
    net.says(watch, r"roce_eth0|iwarp_eth0|async", 5 + net.start_seconds, what="its start")
    b.ip("link set eth0 down")
    net.says(watch, r"PORT_ERR", TOLD_SECONDS, what="the loss of the link")
    b.ip("link set eth0 up")
    net.says(watch, r"PORT_ACTIVE", TOLD_SECONDS, what="the link's return")
    a.ip(f"addr add {NET4}.0.9/24 dev eth0")
    net.says(watch, r"GID_CHANGE", TOLD_SECONDS, what="a new address")
    a.ip("link del eth0")
    deleted = time.monotonic()
    net.says(watch, r"DEVICE_FATAL", TOLD_SECONDS, what="the deletion")
    net.fails(watch, GONE, TOLD_SECONDS, deleted)


@check(TRANSPORTS)
def a_server_bound_to_an_address_that_goes_is_told(net, transport):
    """A server bound to the address of an interface that is deleted ends within 2 s, in one line that says that the device is
    gone."""
    a, _ = net.pair()
    server = net.server(a, *RPING, "-a", f"{NET4}.0.1", device=transport)
    deleted = time.monotonic()
    a.ip("link del eth0")
    net.fails(server, GONE, TOLD_SECONDS, deleted)


@check(TRANSPORTS)
def ids_of_a_deleted_interface_end(net, transport):
    """A client whose interface is deleted under its connection ends within 3 s, in one line that says so."""
    a, b = net.pair()
    net.server(a, *RPING)
    client = net.tool(b, "rping", "-c", "-a", f"{NET4}.0.1", "-v", device=transport)
    net.says(client, "ping data", 5 + net.start_seconds)
    deleted = time.monotonic()
    b.ip("link del eth0")
    net.ends(client, 3)
    net.expect(client.status != 0 and len(client.errors()) == 1, f"it did not end in one line: {client.errors()}")
    net.expect(any(word in client.errors()[0].lower() for word in ("remov", "gone", "delet")),
               f"it said: {client.errors()[0]}")
    net.measured.append(f"{client.ended_at - deleted:.1f} s")


@check(quick=True)
def addresses_that_never_come_to_rest_do_no_harm(net):
    """While an address comes and goes fifty times in five seconds, clients of another address are served, and no line of
    the log is repeated more than once a second."""
    a, b = net.pair()
    server = net.server(a, *RPING)
    a.sh(f"""
        (for i in $(seq 50); do
            ip addr add {NET4}.0.77/24 dev eth0; sleep 0.05; ip addr del {NET4}.0.77/24 dev eth0; sleep 0.05
        done) >/dev/null 2>&1 &""")
    for transport in TRANSPORTS:
        net.ping(b, f"{NET4}.0.1", transport)
    net.rest(3)
    net.ping(b, f"{NET4}.0.1")
    lines = [line for line in server.logged() if f"{NET4}.0.77" in line]
    net.expect(len(lines) <= 30, f"the log has {len(lines)} lines about the address")
