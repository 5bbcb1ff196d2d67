# SPDX-License-Identifier: Apache-2.0
"""Hosts that lack something that others have, and JVMs that are started in other ways."""
from .checks import TRANSPORTS, check
from .namespaces import NET4, NET6

# What is lacking, and the words before a command that take it away.
LACKING = {
    "no-sys": ("unshare", "--mount", "sh", "-ec", 'mount -t tmpfs -o ro tmpfs /sys; exec "$0" "$@"'),
    "64-open-files": ("sh", "-ec", 'ulimit -n 64; exec "$0" "$@"'),
    "no-ipv6": (),
    "lo-down": (),
    "no-environment": ("env", "-i", "PATH=/usr/bin:/bin"),
}


def take_away(host, what):
    if what == "no-ipv6":
        host.sh("sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1")
    elif what == "lo-down":
        host.ip("link set lo down")


def words_before(net, what, transport):
    """`env -i` takes the JVM's options away as well, which choose the device."""
    given = net.options(f"-Drdma4j.device={transport}")
    return (*LACKING[what], f"RDMA4J_OPTS={given}") if what == "no-environment" else LACKING[what]


@check(tuple(LACKING), TRANSPORTS, quick=[("64-open-files", "roce"), ("no-ipv6", "iwarp")])
def a_host_lacks_something(net, what, transport):
    """Where both sides lack it, a client is served at once, and nobody warns."""
    a, b = net.pair()
    for host in (a, b):
        take_away(host, what)
    before = words_before(net, what, transport)
    server = net.server(a, "rping", "-s", "-P", device=transport, before=before)
    client = net.ping(b, f"{NET4}.0.1", transport, before=before)
    if what != "no-ipv6":
        net.ping(b, f"{NET6}::1", transport, before=before)
    for program in (server, client):
        net.expect(not program.logged(), f"{program.name} logged: {(program.logged() or [''])[0]}")
    net.lives(server)


JVMS = {
    "interpreted": "-Xint",
    "small-heap": "-Xmx16m",
    "one-processor": "-XX:ActiveProcessorCount=1",
    "many-processors": "-XX:ActiveProcessorCount=64",
    "zgc": "-XX:+UseZGC",
    "turkish": "-Duser.language=tr -Duser.country=TR",
    "ipv4-only": "-Djava.net.preferIPv4Stack=true",
    "ipv6-first": "-Djava.net.preferIPv6Addresses=true",
    "checked-calls": "-Xcheck:jni",
}


@check(tuple(JVMS), TRANSPORTS)
def a_jvm_is_started_otherwise(net, how, transport):
    """With such options of the JVM on both sides a client is served, and nobody warns."""
    a, b = net.pair()
    server = net.server(a, "rping", "-s", "-P", device=transport, options=JVMS[how])
    client = net.ping(b, f"{NET4}.0.1", transport, options=JVMS[how], seconds=15)
    for program in (server, client):
        net.expect(not program.logged(), f"{program.name} logged: {(program.logged() or [''])[0]}")
    net.lives(server)
