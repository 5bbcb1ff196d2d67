# SPDX-License-Identifier: Apache-2.0
"""Links that fail for a second, routes of two ways, and many hosts each to each: what held, and must hold."""
import signal

from .checks import TRANSPORTS, check
from .namespaces import NET4

HOSTS = 8
LONG = ("-S", "10000", "-V")


def under_way(net, a, b, transport, address=f"{NET4}.0.1"):
    """A connection from b to a that goes on until it is stopped, with all bytes compared."""
    net.server(a, "rping", "-s", "-P", *LONG)
    client = net.tool(b, "rping", "-c", "-a", address, *LONG, device=transport)
    net.goes_on(b, seconds=10 + net.start_seconds, what="a connection that was just begun")
    return client


@check(("client", "server", "switch"), TRANSPORTS, quick=[("client", "roce"), ("switch", "iwarp")])
def a_link_fails_for_a_second(net, where, transport):
    """The connection goes on, and no byte is wrong."""
    switch, a, b = net.bridge(), net.host("a"), net.host("b")
    ports = [net.plug(host, "eth0", switch) for host in (a, b)]
    a.up("eth0", f"{NET4}.0.1/24")
    b.up("eth0", f"{NET4}.0.2/24")
    client = under_way(net, a, b, transport)
    host, link = {"client": (b, "eth0"), "server": (a, "eth0"), "switch": (switch, ports[0])}[where]
    for _ in range(2):
        host.ip(f"link set {link} down")
        net.rest(1)
        host.ip(f"link set {link} up")
        net.goes_on(b)
    net.lives(client)


@check(("to-server", "to-client"), TRANSPORTS, quick=[("to-client", "roce")])
def one_direction_is_blocked_for_a_second(net, way, transport):
    """The connection goes on, and no byte is wrong."""
    a, b = net.pair()
    client = under_way(net, a, b, transport)
    host = a if way == "to-server" else b
    host.drop("input", "meta l4proto { tcp, udp }")
    net.rest(1)
    host.drop_nothing()
    net.goes_on(b)
    net.lives(client)


@check(("client", "server"), TRANSPORTS)
def an_address_goes_and_comes_under_a_connection(net, where, transport):
    """The connection goes on after a second without the address of either side, and no byte is wrong."""
    a, b = net.pair()
    client = under_way(net, a, b, transport)
    host, address = (b, f"{NET4}.0.2/24") if where == "client" else (a, f"{NET4}.0.1/24")
    for _ in range(2):
        host.ip(f"addr del {address} dev eth0")
        net.rest(1)
        net.lives(client, "when the address was gone")
        host.ip(f"addr add {address} dev eth0")
        net.goes_on(b)
    net.lives(client)


@check(TRANSPORTS, quick=[("roce",)])
def routes_of_two_ways(net, transport):
    """Where requests come by one router and answers go by another, all tools' connections hold."""
    a, b, to, fro = net.host("a"), net.host("b"), net.router("to"), net.router("fro")
    for host, number in ((a, 1), (b, 2)):
        for port, router in ((0, to), (1, fro)):
            net.cable(host, f"eth{port}", router, f"eth{number}")
            host.up(f"eth{port}", f"{NET4}.{10 * number + port}.1/24")
            router.up(f"eth{number}", f"{NET4}.{10 * number + port}.254/24")
        host.sh("sysctl -qw net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.eth0.rp_filter=0 net.ipv4.conf.eth1.rp_filter=0")
    for router in (to, fro):
        router.sh("sysctl -qw net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.eth1.rp_filter=0 net.ipv4.conf.eth2.rp_filter=0")
    # To the server's eth0 by the one, back to the client's eth0 by the other.
    b.ip(f"route add {NET4}.10.0/24 via {NET4}.21.254 src {NET4}.20.1")
    a.ip(f"route add {NET4}.20.0/24 via {NET4}.10.254")
    fro.ip(f"route add {NET4}.10.0/24 via {NET4}.11.1")
    client = under_way(net, b, a, transport, f"{NET4}.20.1")
    net.goes_on(a)
    net.lives(client)


@check(TRANSPORTS, limit=240)
def eight_hosts_each_to_each(net, transport):
    """Eight servers, each called by the seven other hosts: all are served."""
    switch = net.bridge()
    hosts = [net.host(f"h{number}") for number in range(1, HOSTS + 1)]
    for number, host in enumerate(hosts, 1):
        net.plug(host, "eth0", switch)
        host.up("eth0", f"{NET4}.0.{number}/24")
    for host in hosts:
        net.server(host, "rping", "-s", "-P", "-V")
    for distance in range(1, HOSTS):
        clients = [net.tool(host, "rping", "-c", "-a", f"{NET4}.0.{(at + distance) % HOSTS + 1}", "-C", "20", "-V",
                            device=transport) for at, host in enumerate(hosts)]
        for client in clients:
            net.succeeds(client, 40)


@check(TRANSPORTS, limit=180)
def one_of_eight_hosts_is_killed(net, transport):
    """Of eight hosts in a ring, each a client of the next, one is lost with all its processes: its client ends in one
    line within 20 s, and the others go on."""
    switch = net.bridge()
    hosts = [net.host(f"h{number}") for number in range(1, HOSTS + 1)]
    for number, host in enumerate(hosts, 1):
        net.plug(host, "eth0", switch)
        host.up("eth0", f"{NET4}.0.{number}/24")
    servers = [net.server(host, "rping", "-s", "-P", *LONG) for host in hosts]
    clients = [net.tool(host, "rping", "-c", "-a", f"{NET4}.0.{(at + 1) % HOSTS + 1}", *LONG, device=transport)
               for at, host in enumerate(hosts)]
    for host in hosts:
        net.goes_on(host, seconds=40 + net.start_seconds)
    lost = 3
    servers[lost].kill(signal.SIGKILL)
    clients[lost].kill(signal.SIGKILL)
    hosts[lost].ip("link set eth0 down")
    of_the_lost = clients[lost - 1]
    net.ends(of_the_lost, 20)
    net.expect(of_the_lost.status != 0 and len(of_the_lost.errors()) == 1, f"it said: {of_the_lost.errors()}")
    for at, host in enumerate(hosts):
        if at not in (lost, lost - 1):
            net.goes_on(host)
            net.lives(clients[at], "when another host was lost")


@check(TRANSPORTS)
def a_client_behind_nat(net, transport):
    """A client behind a router that rewrites its address: iWARP is served; RoCE, whose connections name addresses, is served
    or ends within 20 s in one line."""
    a, router, b = net.routed()
    router.nft("add table ip nat; add chain ip nat post { type nat hook postrouting priority 100; }; "
               'add rule ip nat post oifname "eth1" masquerade')
    net.server(b, "rping", "-s", "-P")
    client = net.tool(a, "rping", "-c", "-a", f"{NET4}.2.1", "-C", "3", device=transport)
    if transport == "iwarp":
        net.succeeds(client)
    else:
        net.serves_or_fails(client, 20)
