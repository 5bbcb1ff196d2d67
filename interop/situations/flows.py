"""Many connections through a cable of little bandwidth with a small queue before it."""
import json
import shutil

from .checks import Lacking, check
from .namespaces import NET4

HUNDRED = "tbf rate 100mbit burst 32kb limit 64kb"
THOUSAND = "tbf rate 1gbit burst 128kb limit 512kb"
ADDRESS = f"{NET4}.0.1"


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
    keeps_up_with_tcp(net, a, b, average(client), min(count, 128))


def keeps_up_with_tcp(net, a, b, rate, count):
    """A rate in MiB/s must be half of what so many TCP connections have the moment after."""
    tcp = received(net, net.start(b, *streams(net, a, "-t", "5", "-P", str(count))), 20)
    net.measured.append(f"{rate:.1f} MiB/s, TCP {tcp:.1f} MiB/s")
    net.expect(rate * net.slowness >= tcp / 2, f"only {rate:.1f} MiB/s, TCP {tcp:.1f} MiB/s")


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
    """`ib_write_bw` through 1 Gbit/s has at least half the rate that one TCP connection has."""
    a, b = bottleneck(net, THOUSAND)
    server = net.tool(a, "ib_write_bw", "-n", "5000")
    net.await_port(a, 18515, server)
    client = net.succeeds(net.tool(b, "ib_write_bw", "-n", "5000", ADDRESS), 60)
    net.succeeds(server, 20)
    keeps_up_with_tcp(net, a, b, average(client), 1)


@check(alone=True, limit=90)
def beside_tcp(net):
    """Beside one TCP flow through 1 Gbit/s each has at least a quarter of the rate."""
    a, b = bottleneck(net, THOUSAND)
    tcp_words = streams(net, a, "-t", "6")
    server = net.tool(a, "ib_write_bw", "-D", "12")
    net.await_port(a, 18515, server)
    measuring = net.tool(b, "ib_write_bw", "-D", "12", ADDRESS)
    net.rest(net.start_seconds + 4)
    share = received(net, net.start(b, *tcp_words), 20)
    net.succeeds(measuring, 40)
    net.measured.append(f"TCP {share:.0f} MiB/s, WRITE {average(measuring):.0f} MiB/s on average of it all")
    net.expect(28 <= share <= 85, f"TCP had {share:.0f} MiB/s of 113")
    net.expect(average(measuring) * net.slowness >= 28, f"WRITE had {average(measuring):.0f} MiB/s")
