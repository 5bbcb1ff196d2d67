# SPDX-License-Identifier: Apache-2.0
"""Many connections through a cable of little bandwidth with a small queue before it."""
import json
import shutil
import time
from pathlib import Path

from .checks import Lacking, check
from .namespaces import NET4

HUNDRED = "tbf rate 100mbit burst 32kb limit 64kb"
THOUSAND = "tbf rate 1gbit burst 128kb limit 512kb"
ADDRESS = f"{NET4}.0.1"
# Of TCP's rate, at least: where a JVM has just begun, and afterwards.
COLD, ALONE = 0.5, 0.75
LEAST_BESIDE, MOST_BESIDE = 0.25, 0.75
# Of the processors, for a share of a rate to say anything.
LEAST_IDLE = 0.5


def bottleneck(net, rate, both=False):
    a, b = net.pair()
    for host in (a, b) if both else (b,):
        host.sh(f"tc qdisc add dev eth0 root {rate}")
    return a, b


@check((1, 16, 64, 128, 256), quick=[(16,), (128,)], limit=120, alone=True)
def writes_of_many_queue_pairs(net, count):
    """`ib_write_bw -q` with 1 to 256 queue pairs through 100 Mbit/s and 64 KiB ends well. Cold, it has at least half
    the rate that as many TCP connections have (at most 128)."""
    a, b = bottleneck(net, HUNDRED)
    words = ("ib_write_bw", "-q", str(count), "-n", str(2000 // count), "--no-perform_warm_up")
    server = net.tool(a, *words)
    net.await_port(a, 18515, server)
    client = net.succeeds(net.tool(b, *words, ADDRESS), 90)
    net.succeeds(server, 20)
    keeps_up_with_tcp(net, a, b, average(client), min(count, 128), COLD)


@check(("ib_read_bw", "ib_send_bw"), (1, 64), limit=120, alone=True)
def reads_and_sends_of_many_queue_pairs(net, tool, count):
    """`ib_read_bw -q` and `ib_send_bw -q` through 100 Mbit/s and 64 KiB, on the way that the data takes, end well."""
    a, b = net.pair()
    (a if tool == "ib_read_bw" else b).sh(f"tc qdisc add dev eth0 root {HUNDRED}")
    words = (tool, "-q", str(count), "-n", str(1000 // count), "--no-perform_warm_up")
    server = net.tool(a, *words)
    net.await_port(a, 18515, server)
    client = net.succeeds(net.tool(b, *words, ADDRESS), 90)
    net.succeeds(server, 20)
    net.measured.append(f"{average(client):.1f} MiB/s")


@check(alone=True)
def acknowledgements_through_a_narrow_way(net):
    """Where what comes back has 1 Mbit/s, `ib_write_bw` ends well."""
    a, b = net.pair()
    a.sh("tc qdisc add dev eth0 root tbf rate 1mbit burst 32kb limit 64kb")
    server = net.tool(a, "ib_write_bw", "-n", "1000")
    net.await_port(a, 18515, server)
    client = net.succeeds(net.tool(b, "ib_write_bw", "-n", "1000", ADDRESS), 40)
    net.measured.append(f"{average(client):.1f} MiB/s")


def keeps_up_with_tcp(net, a, b, rate, count, part):
    """A rate in MiB/s must be a part of what so many TCP connections have the moment after."""
    tcp = received(net, net.start(b, *streams(net, a, "-t", "5", "-P", str(count))), 20)
    net.measured.append(f"{rate:.1f} MiB/s, TCP {tcp:.1f} MiB/s")
    if rate * net.slowness < tcp * part:
        require_idle()
    net.expect(rate * net.slowness >= tcp * part, f"only {rate:.1f} MiB/s, TCP {tcp:.1f} MiB/s")


def require_idle():
    """Whoever has to share the processors does not show what it makes of a cable."""
    before = processor_times()
    time.sleep(1)
    spent = [now - then for then, now in zip(before, processor_times())]
    # User, nice, system, idle, waiting for a disk.
    idle = (spent[3] + spent[4]) / sum(spent)
    if idle < LEAST_IDLE:
        raise Lacking(f"the machine is busy with other things: its processors are idle for {idle:.0%} of the time")


def processor_times():
    return [int(word) for word in Path("/proc/stat").read_text().split("\n")[0].split()[1:]]


def streams(net, host, *words):
    """Lets a host wait for TCP's measurement. Returns the command line of the other side."""
    if not shutil.which("iperf3"):
        raise Lacking("iperf3 is not installed")
    net.says(net.start(host, "iperf3", "-s", "-1", "--forceflush"), "listening", 5)
    return "iperf3", "-c", ADDRESS, "--json", *words


def received(net, client, seconds):
    """MiB/s that TCP carried."""
    net.succeeds(client, seconds)
    return json.loads(client.out)["end"]["sum_received"]["bits_per_second"] / 8 / 2**20


def average(client):
    """MiB/s, in the column of averages of the last line of numbers."""
    rows = [line.split() for line in client.out.splitlines()
            if line.split() and all(word.replace(".", "").isdigit() for word in line.split())]
    return float(rows[-1][3])


@check((20, 100), limit=150, alone=True)
def large_messages_of_many_connections(net, count):
    """`ucmatose -c 20` and `-c 100 -S 60000`, both ways through 100 Mbit/s and 64 KiB, end well."""
    a, b = bottleneck(net, HUNDRED, both=True)
    words = ("ucmatose", "-c", str(count), "-S", "60000")
    server = net.server(a, *words)
    client = net.succeeds(net.tool(b, *words, "-s", ADDRESS), 120)
    net.succeeds(server, 20)
    net.measured.append(f"{client.seconds():.0f} s")


@check(alone=True, limit=90)
def one_flow_of_a_gigabit(net):
    """`ib_write_bw` through 1 Gbit/s has at least 0.75 of the rate that one TCP connection has, on a machine that has nothing else
    to do."""
    require_idle()
    a, b = bottleneck(net, THOUSAND)
    server = net.tool(a, "ib_write_bw", "-n", "5000")
    net.await_port(a, 18515, server)
    client = net.succeeds(net.tool(b, "ib_write_bw", "-n", "5000", ADDRESS), 60)
    net.succeeds(server, 20)
    keeps_up_with_tcp(net, a, b, average(client), 1, ALONE)


@check(alone=True, limit=120)
def beside_tcp(net):
    """Beside one TCP flow through 1 Gbit/s, in the seconds of that flow, `ib_write_bw` has from 0.25 to 0.75 of what passes, and
    both together at least 0.75 of what TCP has alone, on a machine that has nothing else to do."""
    require_idle()
    a, b = bottleneck(net, THOUSAND)
    alone = received(net, net.start(b, *streams(net, a, "-t", "4")), 20)
    words = streams(net, a, "-t", "6")
    server = net.tool(a, "ib_write_bw", "-D", "16")
    net.await_port(a, 18515, server)
    measuring = net.tool(b, "ib_write_bw", "-D", "16", ADDRESS)
    net.goes_on(b, seconds=10 + net.start_seconds, what="ib_write_bw")
    net.rest(2)
    before, begun = b.bytes_sent("eth0"), time.monotonic()
    tcp = received(net, net.start(b, *words), 20)
    all_of_it = (b.bytes_sent("eth0") - before) / 2**20 / (time.monotonic() - begun)
    net.lives(measuring, "before TCP did")
    net.succeeds(measuring, 40)
    share = 1 - tcp / all_of_it
    net.measured.append(f"TCP alone {alone:.0f} MiB/s; together {all_of_it:.0f} MiB/s on the cable, of these TCP {tcp:.0f}: "
                        f"the share of WRITE {share:.2f}")
    if not LEAST_BESIDE <= share <= MOST_BESIDE:
        require_idle()
    net.expect(LEAST_BESIDE <= share <= MOST_BESIDE, f"WRITE had {share:.2f} of {all_of_it:.0f} MiB/s")
    net.expect(all_of_it * net.slowness >= ALONE * alone, f"both had {all_of_it:.0f} MiB/s, TCP alone {alone:.0f}")
