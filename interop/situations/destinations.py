# SPDX-License-Identifier: Apache-2.0
"""Destinations that are no other host's address: each is served, or refused at once in the API's words."""
from .checks import BACKENDS, TRANSPORTS, check
from .namespaces import NET4

# Within how many seconds, and how it may be refused.
WHAT = {
    "0.0.0.0": (3, r"EADDRNOTAVAIL|EINVAL|wildcard|every"),
    "::": (3, r"EADDRNOTAVAIL|EINVAL|wildcard|every"),
    # The JVM takes an interface of its own choice for it, on a host that has one.
    "fe80::88": (5, r"EINVAL|scope|interface|EHOSTUNREACH|ENETUNREACH"),
    "broadcast": (3, r"EACCES|EADDRNOTAVAIL|EINVAL|ENETUNREACH|EHOSTUNREACH|broadcast"),
    "255.255.255.255": (3, r"EACCES|EADDRNOTAVAIL|EINVAL|ENETUNREACH|EHOSTUNREACH|broadcast"),
    "multicast": (3, r"EADDRNOTAVAIL|EINVAL|ENETUNREACH|multicast"),
    "ipv6-multicast": (3, r"EADDRNOTAVAIL|EINVAL|ENETUNREACH|multicast"),
    "unused": (5, r"EHOSTUNREACH"),
    "unused-loopback": (3, r"ECONNREFUSED|refused|no process|EHOSTUNREACH|EADDRNOTAVAIL"),
    "own": (3, r"$^"),
    "mapped": (3, r"$^"),
}
ADDRESSES = {"broadcast": f"{NET4}.0.255", "multicast": "239.88.0.1", "ipv6-multicast": "ff15::88", "unused": f"{NET4}.0.77",
             "unused-loopback": "127.9.9.9", "own": f"{NET4}.0.1", "mapped": f"::ffff:{NET4}.0.1"}
QUICK = [("0.0.0.0", "roce", "rping", "linux"), ("::", "iwarp", "client", "linux"), ("0.0.0.0", "iwarp", "rping", "portable"),
         ("fe80::88", "iwarp", "rping", "linux"), ("broadcast", "roce", "client", "linux"),
         ("255.255.255.255", "iwarp", "rping", "linux"), ("multicast", "roce", "rping", "portable")]


@check(tuple(WHAT), TRANSPORTS, ("rping", "client"), tuple(BACKENDS), quick=QUICK)
def a_destination_that_is_no_host(net, what, transport, tool, backend):
    """With a server at the wildcard of the same host, or of another one with the portable back-end, which does not share the
    port: served, or ended within 3 s (an unused address within 5 s: the kernel asks for it three times; to a link-local one
    it asks for 20 s by TCP) in one line that says what is wrong with it."""
    a, b = net.pair()
    seconds, words = WHAT[what]
    if what == "fe80::88" and (transport == "iwarp" or backend == "portable"):
        # To a link-local address Linux's TCP goes on asking, where to another it says soon that nobody answers; the portable
        # back-end knows by TCP as well whether somebody is there.
        seconds, words = 20, rf"{words}|ETIMEDOUT"
    address = ADDRESSES.get(what, what)
    host = a
    if backend == "portable":
        # Its own loopback and addresses have no server.
        host, words = b, rf"{words}|ECONNREFUSED|refused|no process"
    options = BACKENDS[backend]
    server = net.server(a, *(("rping", "-s", "-P") if tool == "rping" else ("server", "-p", "7999")), options=options)
    client = net.tool(host, *(("rping", "-c", "-a", address, "-C", "1") if tool == "rping" else ("client", address, "7999")),
                      device=transport, options=options)
    if net.ends(client, seconds) == 0:
        net.measured.append("served")
    else:
        net.fails(client, words, seconds)
    net.lives(server)


@check(TRANSPORTS, ("broadcast", "multicast", "fe80::88", "10.99.0.1", "fd88::77"), tuple(BACKENDS),
       quick=[("iwarp", "fe80::88", "linux")])
def a_server_at_an_address_it_cannot_have(net, transport, what, backend):
    """A server that is bound to such an address ends within 2 s, in one line with EADDRNOTAVAIL or EINVAL."""
    a, _ = net.pair()
    address = ADDRESSES.get(what, what)
    server = net.tool(a, "rping", "-s", "-a", address, device=transport, options=BACKENDS[backend])
    net.fails(server, r"EADDRNOTAVAIL|EINVAL|ENODEV", 2)
