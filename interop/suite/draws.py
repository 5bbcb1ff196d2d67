# SPDX-License-Identifier: Apache-2.0
"""Random combinations of options for each tool; the same seed gives the same combinations.

An option is drawn for both sides where they must agree, else for each side alone. Options that Linux's rdma_rxe does
not support, or that only rdma4j has, are drawn only for Java's side. Combinations that C's rules do not allow are drawn
as well: the C programs, which run first, show that.
"""
import random
from dataclasses import dataclass, field

from . import tools
from .cells import FAMILIES
from .tools import KIB, MIB

PATH_MTUS = (256, 512, 1024, 2048, 4096)
MOST_BYTES = 8 * MIB
LARGEST = 8 * MIB
SERVER, CLIENT = "server", "client"
SIDES = (SERVER, CLIENT)
BASE_PROBABILITY = 1 / 3


@dataclass
class Drawn:
    """A drawn combination for one tool."""
    tool: str
    seed: int
    number: int
    family: str = "ipv4"
    is_managed: bool = False
    is_reliable: bool = True
    server_stays: bool = False
    server_is_silent: bool = False
    # With minutes' work for an emulated machine.
    is_long: bool = False
    both: list = field(default_factory=list)
    own: dict = field(default_factory=lambda: {side: [] for side in SIDES})
    of_java: dict = field(default_factory=lambda: {side: [] for side in SIDES})

    def __str__(self):
        return f"{self.tool}/seed{self.seed}/{self.number:03}"

    def words(self, side, is_java):
        return [*self.both, *self.own[side], *(self.of_java[side] if is_java else [])]

    def told(self):
        """The options, for a reader."""
        parts = [*([self.family] if self.family != "ipv4" else []), *self.both]
        for side in SIDES:
            if self.own[side]:
                parts.append(f"{side}: {' '.join(self.own[side])}")
            if self.of_java[side]:
                parts.append(f"{side} if Java: {' '.join(self.of_java[side])}")
        return " ".join(parts)


class Draw:
    """Draws for one tool."""

    def __init__(self, tool, seed, number):
        # Seeded by name and number, so that the draws of one tool do not change those of another.
        self.random = random.Random(f"{tool} {seed} {number}")
        self.drawn = Drawn(tool, seed, number)

    def is_drawn(self, probability=BASE_PROBABILITY):
        return self.random.random() < probability

    def one_of(self, *values):
        return self.random.choice(values)

    def number(self, least, most):
        """Small numbers as often as large ones."""
        low, high = max(1, least), most + 1
        return max(least, min(most, int(low * (high / low) ** self.random.random())))

    def size(self, least, most):
        """A boundary value in half of the draws."""
        edges = [edge for edge in (1, 2, 8, 63, 64, *(mtu + by for mtu in PATH_MTUS for by in (-1, 0, 1)),
                                   64 * KIB - 1, 64 * KIB, 64 * KIB + 1, MIB, least, most) if least <= edge <= most]
        return self.one_of(*edges) if self.is_drawn(0.5) else self.number(least, most)

    def both(self, *words):
        self.drawn.both += map(str, words)

    def each(self, name, values=None, probability=BASE_PROBABILITY, sides=SIDES):
        """For each side alone: whether it takes the option, and with what value."""
        for side in sides:
            if self.is_drawn(probability):
                self.drawn.own[side] += [name, *([str(values())] if values else [])]

    def java_has(self, *words, sides=SIDES):
        for side in sides:
            if self.is_drawn(0.1):
                self.drawn.of_java[side] += words


# ---------------------------------------------------------------- ping-pongs

def ping_pong(largest=MIB, takes_mtu=True, queue_pairs=1, extra=()):
    def draw(by):
        most = largest
        queues = by.number(1, queue_pairs) if queue_pairs > 1 else 1
        size = by.size(1, most)
        by.both("-s", size, "-n", by.number(1, max(1, min(300, MOST_BYTES // size // queues))))
        if takes_mtu and by.is_drawn(0.5):
            by.both("-m", by.one_of(*PATH_MTUS))
        if queue_pairs > 1:
            by.both("-q", queues)
        if by.is_drawn(0.5):
            # Who looks for a pattern must be sent it.
            by.both("-c")
        by.each("-e")
        by.each("-r", lambda: by.number(queues, 1000))
        by.each("-l", lambda: by.random.randrange(16), 0.1)
        by.each("-i", lambda: 1, 0.1)
        for option in extra:
            by.each(option)
    return draw


def rc_ping_pong(by):
    ping_pong(extra=("-N",))(by)
    by.java_has(*by.one_of(("-t",), ("-j",), ("-o",), ("-o", "-P")))


def srq_ping_pong(by):
    ping_pong(queue_pairs=20)(by)
    by.java_has("-o")


def atomic_ping_pong(by):
    by.both("-n", by.number(1, 100))
    by.java_has("-e")


# ---------------------------------------------------------------- connection manager

def rping(by):
    size = by.size(24, 64 * KIB - 1)
    by.both("-S", size)
    by.drawn.own[CLIENT] += ["-C", str(by.number(1, 60))]
    by.each("-V", probability=0.7)
    by.each("-v", probability=0.2)
    by.each("-q")
    if by.is_drawn(0.2):
        by.drawn.own[SERVER].append("-P")
        by.drawn.server_stays = True


def several(by, largest, most_connections):
    """Connections, messages and their size."""
    size = by.one_of(0, by.size(1, largest), by.size(1, largest))
    connections = by.number(1, most_connections)
    messages = by.number(0, max(1, min(60, MOST_BYTES // 4 // max(1, size) // connections)))
    by.both("-c", connections, "-C", messages, "-S", size)


def ucmatose(by):
    several(by, 128 * KIB, 24)
    if by.is_drawn():
        by.both("-P", by.one_of("tcp", "ib"))
    by.each("-m")
    by.each("-a", lambda: by.number(16, 21), 0.2)
    by.each("-t", lambda: by.random.randrange(0, 256, 4), 0.2, [CLIENT])
    by.each("-f", lambda: by.one_of("ip", "name"), 0.2, [CLIENT])


def udaddy(by):
    several(by, 4096, 12)
    by.drawn.is_reliable = False
    if by.is_drawn(0.2):
        by.both(*by.one_of(("-P", "udp"), ("-p", "0x111")))
    by.each("-t", lambda: by.random.randrange(0, 256, 4), 0.2, [CLIENT])


def mckey(by):
    by.drawn.is_reliable = False
    by.drawn.server_is_silent = True
    by.both("-c", by.number(1, 3), "-C", by.number(1, 40), "-S", by.size(1, 4096))
    by.each("-p", lambda: "0x111", 0.1)
    by.each("-o", sides=[CLIENT])
    # rdma_rxe joins no group so.
    by.java_has("-l")


def cmtime(by):
    by.drawn.server_stays = True
    by.drawn.own[CLIENT] += ["-c", str(by.number(1, 60))]
    by.each("-r", lambda: by.number(1, 7))
    by.each("-t", lambda: by.number(1000, 9000))


# ---------------------------------------------------------------- perftest

def perftest(verb, is_latency):
    def draw(by):
        services = {"write": ("RC", "UC"), "send": ("RC", "UC", "UD")}.get(verb, ("RC",))
        service = by.one_of(*services) if by.is_drawn() else "RC"
        by.drawn.is_reliable = service == "RC"
        if service != "UC" and by.is_drawn(0.25):
            # Neither UC nor, in C without more options, IPv6.
            by.drawn.is_managed = True
            by.drawn.family = "ipv4"
            by.both("-R")
        if service != "RC" or by.is_drawn(0.1):
            by.both("-c", service)
        mtu = by.one_of(*PATH_MTUS) if by.is_drawn(0.5) else 4096
        if mtu != 4096:
            by.both("-m", mtu)
        queues = 1 if is_latency or not by.is_drawn() else by.one_of(2, 3, 4, 7, 8, 16, 17)
        if queues > 1:
            by.both("-q", queues)
        how_much(by, verb, is_latency, mtu if service == "UD" else LARGEST, queues)
        if verb == "atomic" and by.is_drawn(0.5):
            by.both("-A", by.one_of("CMP_AND_SWAP", "FETCH_AND_ADD"))
        if not is_latency and by.is_drawn(0.4):
            by.both("-b")
        rest(by, verb, is_latency)
    return draw


def how_much(by, verb, is_latency, largest, queues):
    """The sizes of messages, and how many or how long."""
    size = 8
    if verb != "atomic":
        if by.is_drawn(0.07):
            by.both("-a", "-n", by.number(tools.FEWEST, 10))
            by.drawn.is_long = True
            return
        size = by.size(1, largest)
        by.both("-s", size)
    if by.is_drawn(0.15):
        by.both("-D", by.one_of(2, 3, 4))
        if by.is_drawn(0.5):
            by.both("-f", by.one_of(0, 1))
        return
    most = max(tools.FEWEST, min(400, 2 * MOST_BYTES // size // queues))
    post_list = by.one_of(2, 3, 4, 8) if not is_latency and by.is_drawn(0.2) else 1
    count = by.number(tools.FEWEST, most)
    by.both("-n", -(-count // post_list) * post_list)
    if post_list > 1:
        by.both("-l", post_list)
        if by.is_drawn():
            by.both("-Q", by.one_of(1, post_list))
        if by.is_drawn():
            by.both("-t", post_list * by.number(1, 32))


def rest(by, verb, is_latency):
    """The options that a side chooses independently."""
    if verb in ("read", "atomic"):
        by.each("-o", lambda: by.one_of(1, 2, 3, 5, 6, 7, 8, 9, 11, 15, 16, 17, 31, 33, 64, 100, 127, 128), 0.6)
    elif verb == "write" or verb == "send":
        by.each("-I", lambda: by.number(1, 400))
    if verb == "send":
        by.each("-r", lambda: by.number(1, 1024))
    if verb != "write":
        by.each("-e")
    if not is_latency and "-l" not in by.drawn.both:
        by.each("-t", lambda: by.number(1, 512))
        by.each("-Q", lambda: by.number(1, 128))
    by.each("-u", lambda: by.number(16, 21), 0.2)
    by.each("-S", lambda: by.random.randrange(8), 0.1)
    if is_latency:
        by.each("-H", probability=0.2)
        by.each("-U", probability=0.1)
    else:
        by.each("-N", probability=0.2)
        by.each("--report_gbits", probability=0.2)
    by.each("--out_json", probability=0.1)


DRAWS = {
    "ibv_rc_pingpong": rc_ping_pong,
    "ibv_uc_pingpong": ping_pong(),
    "ibv_ud_pingpong": ping_pong(largest=4096, takes_mtu=False),
    "ibv_srq_pingpong": srq_ping_pong,
    "atomic_pingpong": atomic_ping_pong,
    "rping": rping,
    "ucmatose": ucmatose,
    "udaddy": udaddy,
    "mckey": mckey,
    "cmtime": cmtime,
    **{f"ib_{verb}_{what}": perftest(verb, what == "lat")
       for what in ("bw", "lat") for verb in ("write", "read", "send", "atomic")},
}


def drawn(tool, seed, number):
    """The options that a seed gives a tool under a number."""
    by = Draw(tool, seed, number)
    if tool != "mckey" and by.is_drawn(0.25):
        by.drawn.family = by.one_of(*FAMILIES)
    DRAWS[tool](by)
    if tool in ("ibv_uc_pingpong", "ibv_ud_pingpong"):
        by.drawn.is_reliable = False
    return by.drawn


def all_drawn(count, seed):
    """The tools in turn, so that an aborted run has tried them all."""
    return [drawn(tool, seed, number) for number in range(count) for tool in DRAWS]


# ---------------------------------------------------------------- how to run them

def ready(choice):
    """How to recognize that its server is ready."""
    if choice.is_managed:
        return tools.Ready(cm=tools.SIDE_CHANNEL_PORT, java_prints=tools.JAVA_LISTENS)
    return tools.named(choice.tool).ready


def arguments(choice, end, side, is_java):
    """All arguments of one side."""
    words = [*connecting(choice.tool, end, side), *choice.words(side, is_java)]
    takes_host = choice.tool.startswith("ib") or choice.tool == "atomic_pingpong"
    if not takes_host or side == SERVER:
        return words
    # The side channel of what the connection manager connects goes the same way.
    return [*words, end.peer if choice.is_managed else end.peer4]


def connecting(tool, end, side):
    """The arguments that name the peer."""
    if tool.startswith("ib_"):
        return ["-F", "-d", end.device, "-x", str(end.gid), "-p", str(tools.SIDE_CHANNEL_PORT)]
    if tool.endswith("_pingpong"):
        return ["-d", end.device, "-g", str(end.gid), "-p", str(tools.SIDE_CHANNEL_PORT)]
    if tool == "rping":
        address = ["-s", "-a", end.own] if side == SERVER else ["-c", "-a", end.peer]
        return [*address, "-p", str(tools.RPING_PORT)]
    if tool == "mckey":
        return [*(["-s"] if side == CLIENT else []), "-m", tools.MULTICAST, "-b", end.own]
    port = ["-p", str(tools.CM_PORT)] if tool != "udaddy" else []
    return ["-b", end.own, *port, *(["-s", end.peer] if side == CLIENT else [])]
