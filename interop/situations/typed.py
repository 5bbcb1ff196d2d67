# SPDX-License-Identifier: Apache-2.0
"""Two machines, each with a tool as its manual shows it: on one its name alone, on the other the name and the host."""
from .checks import BACKENDS, Unexpected, check
from .namespaces import NET4, NET6, Topology

SIDE_CHANNEL_PORT = 18515
GROUP = "239.88.0.7"
BY_HAND = ("ibv_rc_pingpong", "ibv_uc_pingpong", "ibv_ud_pingpong", "ibv_srq_pingpong", "ib_write_bw", "ib_read_bw",
           "ib_send_bw", "ib_atomic_bw", "ib_write_lat", "ib_read_lat", "ib_send_lat", "ib_atomic_lat")
MANAGED = ("rping", "ucmatose", "udaddy", "cmtime")
PLACES = ("cable-ipv4", "cable-ipv6", "cable-link-local", "cable-name", "wireless-ipv4", "several-ipv4", "several-ipv6",
          "routed-ipv4", "routed-ipv6")
QUICK = [("ibv_rc_pingpong", "cable-ipv4"), ("ibv_rc_pingpong", "several-ipv6"), ("ibv_uc_pingpong", "wireless-ipv4"),
         ("ibv_ud_pingpong", "several-ipv4"), ("ibv_srq_pingpong", "cable-link-local"), ("ib_write_bw", "cable-name"),
         ("ib_send_lat", "several-ipv4"), ("ib_read_bw", "cable-ipv6")]
# Accepted while the tool has no option for it; what a test of bandwidth moves by itself takes a slow machine longer.
SECONDS = 40


def place(net, name):
    """Hosts a and b as the place has them, and the word by which b types a."""
    where, _, how = name.partition("-")
    if where == "routed":
        a, _, b = net.routed()
        return a, b, {"ipv4": f"{NET4}.1.1", "ipv6": f"{NET6}:1::1"}[how]
    if where == "cable":
        a, b = net.pair()
    elif where == "wireless":
        a, b = behind_loopback(net)
    else:
        a, b = several(net)
    b.knows({"alpha": f"{NET4}.0.1"})
    words = {"ipv4": f"{NET4}.0.1", "ipv6": f"{NET6}::1", "name": "alpha"}
    return a, b, words[how] if how in words else f"{a.link_local('eth0')}%eth0"


def behind_loopback(net):
    """The name of the interface stands behind that of loopback."""
    a, b = net.host("a"), net.host("b")
    Topology.cable(a, "wlan0", b, "wlan0")
    for number, host in ((1, a), (2, b)):
        host.up("wlan0", f"{NET4}.0.{number}/24", f"{NET6}::{number}/64")
    for host in (a, b):
        host.link_local("wlan0")
    return a, b


def several(net):
    """Each host has a first interface that leads elsewhere, and the second, with the other, is the third in order of its
    addresses."""
    a, b = net.host("a"), net.host("b")
    for number, host in ((1, a), (2, b)):
        aside = net.host(f"aside{number}")
        Topology.cable(host, "aaa0", aside, "eth0")
        host.up("aaa0", f"{NET4}.{100 + number}.1/24", f"{NET6}:{100 + number}::1/64")
        aside.up("eth0", f"{NET4}.{100 + number}.2/24")
    Topology.cable(a, "eth0", b, "eth0")
    a.up("eth0", f"{NET4}.150.1/24", f"{NET4}.0.1/24", f"{NET6}:150::1/64", f"{NET6}::1/64")
    b.up("eth0", f"{NET4}.160.1/24", f"{NET4}.0.2/24", f"{NET6}:160::1/64", f"{NET6}::2/64")
    return a, b


def serves_by_hand(net, host, *words):
    server = net.tool(host, *words)
    net.await_port(host, SIDE_CHANNEL_PORT, server)
    return server


@check(BY_HAND, PLACES, quick=QUICK, limit=90)
def a_tool_that_connects_by_hand(net, tool, where):
    """The tool alone on one machine, the tool and the host's address or name on the other: both end well."""
    a, b, word = place(net, where)
    server = serves_by_hand(net, a, tool)
    net.succeeds(net.tool(b, tool, word), SECONDS)
    net.succeeds(server, SECONDS)


@check(MANAGED, PLACES, quick=[("rping", "cable-link-local"), ("rping", "several-ipv6"), ("udaddy", "several-ipv4"),
                               ("ucmatose", "cable-name")], limit=90)
def a_tool_of_the_connection_manager(net, tool, where):
    """The server as its manual shows it, the client with the host's address or name: both end well, but for the server of
    cmtime, which stays."""
    a, b, word = place(net, where)
    option = {"rping": ("-s",)}.get(tool, ())
    server = net.server(a, tool, *option)
    client = (tool, "-c", "-a", word, "-C", "3") if tool == "rping" else (tool, "-s", word)
    net.succeeds(net.tool(b, *client), SECONDS)
    if tool == "cmtime":
        # It serves until it is stopped.
        net.lives(server)
    else:
        net.succeeds(server, SECONDS)


@check(("cable-ipv4", "several-ipv4", "cable-ipv6"), tuple(BACKENDS), quick=[("several-ipv4", "linux")])
def members_of_a_group(net, where, backend):
    """`mckey -m` on one machine, `mckey -s -m` on the other, without `-b` where the route leads: both end well."""
    a, b, _ = place(net, where)
    group = "ff15::88" if where.endswith("ipv6") else GROUP
    for host in (a, b):
        if where.endswith("ipv6"):
            host.ip("-6 route add ff15::/16 dev eth0 table local metric 1")
        else:
            host.ip("route add 239.0.0.0/8 dev eth0")
    member = net.server(a, "mckey", "-m", group, ready=r"joined dgid", options=BACKENDS[backend])
    net.succeeds(net.tool(b, "mckey", "-s", "-m", group, options=BACKENDS[backend]))
    net.succeeds(member)


@check(("239.88.0.7", "224.0.0.77", "ff12::88", "ff15::88"))
def three_members_of_a_group(net, group):
    """Three members on two hosts, behind a switch that passes a group's packets on to its members alone, all get what a third
    host sends to the group."""
    switch = net.bridge()
    switch.ip("link set br0 type bridge mcast_snooping 1 mcast_querier 1")
    hosts = [net.host(f"h{number}") for number in (1, 2, 3)]
    for number, host in enumerate(hosts, 1):
        net.plug(host, "eth0", switch)
        host.up("eth0", f"{NET4}.0.{number}/24", f"{NET6}::{number}/64")
    own = (lambda number: f"{NET6}::{number}") if ":" in group else (lambda number: f"{NET4}.0.{number}")
    members = [net.server(hosts[number - 1], "mckey", "-m", group, "-b", own(number), "--patience", "30", ready=r"joined dgid")
               for number in (1, 1, 2)]
    net.succeeds(net.tool(hosts[2], "mckey", "-s", "-m", group, "-b", own(3)))
    for member in members:
        net.succeeds(member)


@check(("ib_write_bw", "ib_send_lat"), ("cable-ipv4", "several-ipv6"), quick=[("ib_write_bw", "several-ipv6")])
def a_tool_of_perftest_with_the_connection_manager(net, tool, where):
    """The same with `-R` on both sides."""
    a, b, word = place(net, where)
    server = net.server(a, tool, "-R")
    net.succeeds(net.tool(b, tool, "-R", word), SECONDS)
    net.succeeds(server, SECONDS)


@check(("server", "client"), quick=True)
def a_loopback_gid_leads_to_no_other_host(net, side):
    """With `-d roce_lo` towards another host both sides end within 3 s, the one that chose it in one line that says so."""
    a, b = net.pair()
    words = {side: ("-d", "roce_lo")}
    server = serves_by_hand(net, a, "ibv_rc_pingpong", *words.get("server", ()))
    client = net.tool(b, "ibv_rc_pingpong", *words.get("client", ()), f"{NET4}.0.1")
    own, other = (client, server) if side == "client" else (server, client)
    net.fails(own, r"loopback|127\.0\.0\.1|roce_lo", 3)
    if net.ends(other, 3) == 0:
        raise Unexpected("the other side did not fail")
    net.expect(len(other.errors()) == 1, f"the other side said: {other.errors()}")


@check(("ipv4", "ipv6"), quick=[("ipv4",)])
def both_on_one_machine(net, family):
    """As the manuals' first example has it: server and client on one machine, without a host's other interface."""
    a = net.host("a")
    server = serves_by_hand(net, a, "ibv_rc_pingpong")
    net.succeeds(net.tool(a, "ibv_rc_pingpong", {"ipv4": "127.0.0.1", "ipv6": "::1"}[family]), SECONDS)
    net.succeeds(server, SECONDS)


@check(quick=True)
def one_machine_by_the_address_of_its_card(net):
    """Server and client on one machine, the client with the address of an interface: both end well."""
    a, _ = net.pair()
    server = serves_by_hand(net, a, "ibv_rc_pingpong")
    net.succeeds(net.tool(a, "ibv_rc_pingpong", f"{NET4}.0.1"), SECONDS)
    net.succeeds(server, SECONDS)


@check(("ibv_rc_pingpong", "ib_write_bw"), quick=[("ibv_rc_pingpong",)])
def nobody_serves_by_hand(net, tool):
    """Without a server the client ends within 1 s, in one line that says that the connection was refused."""
    _, b = net.pair()
    net.fails(net.tool(b, tool, f"{NET4}.0.1"), r"refused", 1)
