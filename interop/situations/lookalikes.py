# SPDX-License-Identifier: Apache-2.0
"""Interfaces with one MAC address, with one link-local address, or in one subnet."""
import ipaddress

from .checks import BACKENDS, TRANSPORTS, Lacking, check
from .links import LONG, under_way
from .namespaces import NET4, NET6, NetworkError

MOST_ASIDE = 0.05


def twins(net):
    """Host a, whose eth0 and eth1 have the same MAC and link-local address, and the hosts b and c behind them."""
    a, b, c = net.host("a"), net.host("b"), net.host("c")
    net.cable(a, "eth0", b, "eth0")
    net.cable(a, "eth1", c, "eth0")
    for interface in ("eth0", "eth1"):
        a.ip(f"link set {interface} address 02:88:00:00:00:01")
    a.up("eth0", f"{NET4}.0.1/24", f"{NET6}::1/64")
    a.up("eth1", f"{NET4}.1.1/24", f"{NET6}:1::1/64")
    b.up("eth0", f"{NET4}.0.2/24", f"{NET6}::2/64")
    c.up("eth0", f"{NET4}.1.2/24", f"{NET6}:1::2/64")
    for interface in ("eth0", "eth1"):
        a.link_local(interface)
    return a, b, c


@check(TRANSPORTS, tuple(BACKENDS), quick=[("roce", "linux"), ("iwarp", "linux"), ("roce", "portable")])
def a_client_behind_the_second_of_two_equal_addresses(net, transport, backend):
    """A client reaches the link-local address of a peer behind either of two interfaces that have the same one."""
    a, b, c = twins(net)
    for peer in (b, c):
        net.server(peer, "rping", "-s", "-P", options=BACKENDS[backend])
    net.ping(a, f"{b.link_local('eth0')}%eth0", transport, options=BACKENDS[backend])
    net.ping(a, f"{c.link_local('eth0')}%eth1", transport, options=BACKENDS[backend])


@check(TRANSPORTS, ("eth0", "eth1", "wildcard"), tuple(BACKENDS),
       quick=[("roce", "eth1", "linux"), ("iwarp", "eth1", "linux")])
def a_server_at_one_of_two_equal_addresses(net, transport, where, backend):
    """A server at the link-local address of one interface is reached through it; one at the wildcard through both."""
    a, b, c = twins(net)
    own = a.link_local("eth0")
    bound = () if where == "wildcard" else ("-a", f"{own}%{where}")
    net.server(a, "rping", "-s", "-P", *bound, device=transport, options=BACKENDS[backend])
    for interface, peer in (("eth0", b), ("eth1", c)):
        if where in (interface, "wildcard"):
            net.ping(peer, f"{own}%eth0", transport, options=BACKENDS[backend])


@check(TRANSPORTS, tuple(BACKENDS))
def equal_peers_behind_two_interfaces(net, transport, backend):
    """Peers with the same link-local address behind two interfaces are told apart, at the same time; with the portable back-end,
    which does not share the host's addresses between processes, one after the other."""
    a, b, c = net.host("a"), net.host("b"), net.host("c")
    for number, peer in enumerate((b, c)):
        net.cable(a, f"eth{number}", peer, "eth0")
        peer.ip("link set eth0 address 02:88:00:00:00:02")
        peer.up("eth0", f"{NET4}.{number}.2/24")
        a.up(f"eth{number}", f"{NET4}.{number}.1/24")
    own = b.link_local("eth0")
    net.expect(own == c.link_local("eth0"), "the kernel gave them different addresses")
    for number, peer in enumerate((b, c)):
        a.link_local(f"eth{number}")
        net.server(peer, "rping", "-s", "-P", "-S", "5000", "-V", options=BACKENDS[backend])
    clients = []
    for number in (0, 1):
        clients.append(net.tool(a, "rping", "-c", "-a", f"{own}%eth{number}", "-C", "300", "-S", "5000", "-V", device=transport,
                                options=BACKENDS[backend]))
        if backend == "portable":
            net.succeeds(clients[-1])
    for client in clients:
        net.succeeds(client)


def below(net, kind):
    """Host a with an interface below another one, with the same MAC address where the kernel lets it."""
    a, b = net.pair()
    for host, number in ((a, 1), (b, 2)):
        try:
            if kind == "vlan":
                host.ip("link add link eth0 name eth0.5 type vlan id 5")
            else:
                host.ip("link add link eth0 name eth0.5 type macvlan mode bridge")
        except NetworkError as failure:
            raise Lacking(f"this kernel has no {kind}: {failure}")
        host.up("eth0.5", f"{NET4}.5.{number}/24", f"{NET6}:5::{number}/64")
        host.link_local("eth0.5")
    return a, b


@check(("vlan", "macvlan"), TRANSPORTS, quick=[("macvlan", "roce")])
def an_interface_on_another(net, kind, transport):
    """Servers are reached at each address of an interface and of one that lies on it, link-local ones too."""
    a, b = below(net, kind)
    net.server(a, "rping", "-s", "-P")
    for address in (f"{NET4}.0.1", f"{NET4}.5.1", f"{NET6}:5::1", f"{a.link_local('eth0')}%eth0",
                    f"{a.link_local('eth0.5')}%eth0.5"):
        net.ping(b, address, transport)


def parallel(net):
    """Hosts a and b with two interfaces each, all in one subnet, as two cables to a switch."""
    switch, a, b = net.bridge(), net.host("a"), net.host("b")
    for number, host in ((1, a), (2, b)):
        for port in (0, 1):
            net.plug(host, f"eth{port}", switch)
            host.up(f"eth{port}", f"{NET4}.0.{number + 10 * port}/24", f"{NET6}::{number + 10 * port}/64")
        # Each interface answers for its own address only, as several cards in one subnet are set up.
        host.sh("sysctl -qw net.ipv4.conf.all.arp_ignore=1 net.ipv4.conf.all.arp_announce=2")
    return a, b


@check(("iwarp_eth0", "iwarp_eth1"), ("-R",))
@check(("roce_eth0", "roce_eth1"), ("-x", "-R"), quick=[("roce_eth1", "-x")])
def two_interfaces_in_one_subnet(net, device, how):
    """What is sent by a RoCE device leaves by its interface: at least nineteen of twenty bytes. iWARP is served by each device,
    and its TCP leaves as the routing decides."""
    a, b = parallel(net)
    number = int(device[-1])
    words = ("-d", device, "-n", "200", *(("-R",) if how == "-R" else ()))
    target = f"{NET4}.0.{1 + 10 * number}"
    server = net.tool(a, "ib_write_bw", *words)
    if how == "-R":
        net.expect(server.wait_for("listening on ListenRequest", net.left(20)), "the server does not listen")
    else:
        net.await_port(a, 18515, server)
    before = [b.bytes_sent(f"eth{each}") for each in (0, 1)]
    net.succeeds(net.tool(b, "ib_write_bw", *words, target), 40)
    sent = [b.bytes_sent(f"eth{each}") - before[each] for each in (0, 1)]
    net.measured.append(f"{sent[0]:,} bytes by eth0, {sent[1]:,} by eth1")
    net.expect(device.startswith("iwarp") or sent[1 - number] <= MOST_ASIDE * sum(sent),
               f"{sent[0]:,} bytes left by eth0, {sent[1]:,} by eth1")


@check(TRANSPORTS)
def an_interface_of_a_failover_bond(net, transport):
    """Two cables to a switch are one interface, of which one is used (`active-backup`). A connection goes on when that one fails,
    and no byte is wrong; the next is served."""
    switch, a, b = net.bridge(), net.host("a"), net.host("b")
    net.plug(b, "eth0", switch)
    b.up("eth0", f"{NET4}.0.2/24", f"{NET6}::2/64")
    for port in (0, 1):
        net.plug(a, f"eth{port}", switch)
    try:
        a.ip("link add bond0 type bond mode active-backup miimon 50")
    except NetworkError as failure:
        raise Lacking(f"this kernel has no bonds: {failure}")
    a.ip("link set eth0 master bond0", "link set eth1 master bond0")
    a.up("bond0", f"{NET4}.0.1/24", f"{NET6}::1/64")
    client = under_way(net, a, b, transport)
    a.ip("link set eth0 down")
    net.rest(1)
    net.goes_on(b)
    net.lives(client)
    client.stop()
    net.ping(b, f"{a.link_local('bond0')}%eth0", transport, words=LONG)


@check(("ipv4", "ipv6"), quick=[("ipv4",)])
def gids_stand_in_the_order_of_their_arrival(net, family):
    """Of several addresses the one that came first stands first in `show_gids`, as in Linux."""
    a, _ = net.pair()
    v4 = family == "ipv4"
    own, later = (f"{NET4}.0.1", [f"{NET4}.9.9", f"{NET4}.0.33"]) if v4 else (f"{NET6}::1", [f"{NET6}:9::9", f"{NET6}::33"])
    for address in later:
        a.ip(f"addr add {address}/{24 if v4 else 64} dev eth0")
    shown = net.succeeds(net.tool(a, "show_gids", "roce_eth0"))
    at = [position(shown.out, address, v4) for address in (own, *later)]
    net.expect(all(each is not None for each in at), f"show_gids shows not all of {own} {later}")
    net.expect(at == sorted(at), f"the addresses {own} {' '.join(later)} stand at the indices {at}")


def position(shown, address, v4):
    wanted = address if v4 else ipaddress.ip_address(address).exploded
    for line in shown.splitlines():
        words = line.split()
        if wanted in words and words[2].isdigit():
            return int(words[2])
    return None


@check(TRANSPORTS)
def policy_routes_choose_the_interface(net, transport):
    """Where a rule sends what comes from an address through its own interface, a server at each address is reached."""
    a, b = parallel(net)
    for number in (0, 1):
        a.ip(f"route add {NET4}.0.0/24 dev eth{number} src {NET4}.0.{1 + 10 * number} table {100 + number}",
             f"rule add from {NET4}.0.{1 + 10 * number} table {100 + number}")
    net.server(a, "rping", "-s", "-P")
    for number in (0, 1):
        net.ping(b, f"{NET4}.0.{1 + 10 * number}", transport)
