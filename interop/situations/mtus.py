# SPDX-License-Identifier: Apache-2.0
"""MTUs that differ: of interfaces, of a route, of a hop on the way."""
import re

from .checks import TRANSPORTS, check
from .namespaces import NET4, NET6

LARGE, SMALL = 9000, 1500
# Of 60,000 bytes, compared.
PINGS = ("-S", "60000", "-V")


@check(("9000-to-1500", "1500-to-9000"), TRANSPORTS, quick=[("9000-to-1500", "roce")])
def interfaces_with_different_mtus(net, way, transport):
    """Connected at once with what both can; messages of 60,000 bytes go both ways, over IPv4 and IPv6."""
    a, b = net.pair()
    own, peer = (SMALL, LARGE) if way == "9000-to-1500" else (LARGE, SMALL)
    a.ip(f"link set eth0 mtu {own}")
    b.ip(f"link set eth0 mtu {peer}")
    net.server(a, "rping", "-s", "-P", *PINGS)
    for address in (f"{NET4}.0.1", f"{NET6}::1"):
        net.ping(b, address, transport, words=PINGS)


@check(("ib_write_bw", "ib_send_bw"), ("-R", "by-hand"), quick=[("ib_write_bw", "-R")])
def tools_between_different_mtus(net, tool, how):
    """As typed from a host of MTU 9000 to one of 1500, with the connection manager and by hand: both end well."""
    a, b = net.pair()
    b.ip(f"link set eth0 mtu {LARGE}")
    words = (tool, "-R") if how == "-R" else (tool,)
    server = net.server(a, *words) if how == "-R" else net.tool(a, *words)
    if how != "-R":
        net.await_port(a, 18515, server)
    net.succeeds(net.tool(b, *words, f"{NET4}.0.1"), 40)
    net.succeeds(server, 40)


def hop(net, mtu):
    """Hosts a and b of MTU 9000, with two routers between them whose cable to each other carries less."""
    a, near, far, b = net.host("a"), net.router("near"), net.router("far"), net.host("b")
    net.cable(a, "eth0", near, "eth0")
    net.cable(near, "eth1", far, "eth1")
    net.cable(far, "eth0", b, "eth0")
    for host, router, number in ((a, near, 1), (b, far, 2)):
        host.up("eth0", f"{NET4}.{number}.1/24", f"{NET6}:{number}::1/64", mtu=LARGE)
        router.up("eth0", f"{NET4}.{number}.254/24", f"{NET6}:{number}::fe/64", mtu=LARGE)
        router.up("eth1", f"{NET4}.3.{number}/24", f"{NET6}:3::{number}/64", mtu=mtu)
        host.ip(f"route add default via {NET4}.{number}.254", f"-6 route add default via {NET6}:{number}::fe")
        router.ip(f"route add {NET4}.{3 - number}.0/24 via {NET4}.3.{3 - number}",
                  f"-6 route add {NET6}:{3 - number}::/64 via {NET6}:3::{3 - number}")
    return a, near, far, b


def silence(*routers):
    """Routers that drop what is too large for the next cable, and do not say so."""
    for router in routers:
        router.drop("output", "meta l4proto { icmp, icmpv6 }")
        # But neighbours must be found over IPv6.
        router.nft("insert rule inet rdma4j output icmpv6 type { nd-neighbor-solicit, nd-neighbor-advert } accept")


PEER = {"ipv4": f"{NET4}.2.1", "ipv6": f"{NET6}:2::1"}


@check(("ipv4", "ipv6"), TRANSPORTS, quick=[("ipv4", "roce")])
def a_route_with_an_mtu(net, family, transport):
    """Where the routes of hosts of 9000 have `mtu 1400`, and routers drop more in silence, messages of 60,000 bytes go both
    ways."""
    a, near, far, b = hop(net, 1400)
    silence(near, far)
    for host, number in ((a, 1), (b, 2)):
        host.ip(f"route replace default via {NET4}.{number}.254 mtu 1400",
                f"-6 route replace default via {NET6}:{number}::fe mtu 1400")
    net.server(b, "rping", "-s", "-P", *PINGS)
    net.ping(a, PEER[family], transport, words=PINGS)


@check(("ipv4", "ipv6"), TRANSPORTS, quick=[("ipv4", "roce")])
def a_hop_of_less_that_says_so(net, family, transport):
    """Where routers between hosts of 9000 have a cable of 1500 and say so by ICMP, messages of 60,000 bytes go both ways, or
    both sides end within 10 s in one line each, one of which speaks of the MTU."""
    a, _, _, b = hop(net, SMALL)
    small_hop(net, a, b, family, transport, 10)


@check(("ipv4", "ipv6"), TRANSPORTS, quick=[("ipv4", "roce")])
def a_hop_of_less_that_is_silent(net, family, transport):
    """The same where no ICMP comes. Over iWARP, whose TCP finds it out by itself only where the system is told to probe,
    within 20 s."""
    a, near, far, b = hop(net, SMALL)
    silence(near, far)
    if transport == "iwarp":
        for host in (a, b):
            host.sh("sysctl -qw net.ipv4.tcp_mtu_probing=1")
    small_hop(net, a, b, family, transport, 10 if transport == "roce" else 20)


def small_hop(net, a, b, family, transport, seconds):
    server = net.server(b, "rping", "-s", *PINGS)
    client = net.tool(a, "rping", "-c", "-a", PEER[family], "-C", "2", *PINGS, device=transport)
    if net.ends(client, seconds) == 0:
        net.measured.append("served")
        return
    # The server reads and writes, so it is the one that hears of what does not arrive.
    net.ends(server, seconds)
    lines = [*client.errors(), *server.errors()]
    net.expect(any(re.search(r"\bMTU\b", line) for line in lines), f"neither side spoke of the MTU: {lines}")
    net.expect(len(client.errors()) == 1 and len(server.errors()) == 1, f"they did not end in one line each: {lines}")


@check(("ib_write_bw", "ib_write_bw -R", "ibv_rc_pingpong"), quick=[("ib_write_bw -R",)])
def a_small_path_mtu_that_is_asked_for(net, tool):
    """With `-m 1024` on both sides, between hosts of 9000 with a silent hop of 1500, a tool ends well."""
    a, near, far, b = hop(net, SMALL)
    silence(near, far)
    words = (*tool.split(), "-m", "1024")
    if "-R" in words:
        server = net.server(b, *words)
    else:
        server = net.tool(b, *words)
        net.await_port(b, 18515, server)
    net.succeeds(net.tool(a, *words, PEER["ipv4"]), 40)
    net.succeeds(server, 20)


@check(("own-interface", "route", "peer"))
def a_large_path_mtu_that_is_asked_for(net, where):
    """`ib_write_bw -R -m 4096` of a client whose interface, or route, has 1500 ends within 3 s, in one line that names the path MTU
    that would do. Where the peer's interface has 1500, which the tools tell each other, both take the smaller one and end well."""
    a, b = net.pair(mtu=LARGE)
    small = {"own-interface": b, "peer": a}.get(where)
    if small:
        small.ip(f"link set eth0 mtu {SMALL}")
    else:
        b.ip(f"route replace {NET4}.0.0/24 dev eth0 src {NET4}.0.2 mtu {SMALL}")
    server = net.server(a, "ib_write_bw", "-R")
    client = net.tool(b, "ib_write_bw", "-R", "-m", "4096", f"{NET4}.0.1")
    if where == "peer":
        net.succeeds(client, 40)
        net.expect(re.search(r"Mtu\s+: 1024\[B\]", client.out), "the path MTU is not 1024")
        net.succeeds(server, 20)
    else:
        net.fails(client, r"MTU is 1024|those of 1024 do", 3)
        net.expect(len(server.errors()) <= 1, f"the server said: {server.errors()}")


@check((4176, 4180, 2128, 2132, 1104, 1500), ("ipv4", "ipv6"), quick=[(4176, "ipv6"), (2128, "ipv6")])
def the_largest_header_fits(net, mtu, family):
    """A WRITE with immediate of exactly one path MTU arrives, whose header is the largest: 84 bytes over IPv6."""
    a, b = net.pair()
    for host in (a, b):
        host.ip(f"link set eth0 mtu {max(mtu, 1280)}")
    server = net.source(a, "WritesImmediate.java", "7900")
    if not server.wait_for("listening on ListenRequest", net.left(20)):
        net.lives(server, "before it listened")
    client = net.source(b, "WritesImmediate.java", "7900", {"ipv4": f"{NET4}.0.1", "ipv6": f"{NET6}::1"}[family])
    net.succeeds(client, 15)
    net.succeeds(server, 5)


@check(TRANSPORTS)
def an_mtu_that_changes_under_a_connection(net, transport):
    """Where the MTU of both interfaces falls from 9000 to 1500 under a connection, it goes on, or ends within 10 s in one
    line; the next one is served."""
    a, b = net.pair(mtu=LARGE)
    net.server(a, "rping", "-s", "-P", *PINGS)
    client = net.tool(b, "rping", "-c", "-a", f"{NET4}.0.1", "-C", "30000", *PINGS, device=transport)
    net.rest(net.start_seconds + 1)
    net.lives(client)
    for host in (a, b):
        host.ip(f"link set eth0 mtu {SMALL}")
    net.rest(10)
    if client.status is not None:
        net.serves_or_fails(client, 1)
    client.stop()
    net.ping(b, f"{NET4}.0.1", transport, words=PINGS)
