# SPDX-License-Identifier: Apache-2.0
"""The tools that have a peer: their options for one cell, and how to recognize that a server is ready."""
from . import sockets
from .tool import Ready, Tool

KIB, MIB = 1 << 10, 1 << 20
SIDE_CHANNEL_PORT = 18515
# Messages of a test of perftest, by its own rule.
FEWEST = 5
RPING_PORT = 7174
CM_PORT = 7471
MULTICAST = "239.77.0.5"
JAVA_LISTENS = r"listening on ListenRequest"
JOINED = r"joined dgid"


def any_size(mtu):
    return [0, *any_size_but_none(mtu)]


def any_size_but_none(mtu):
    # The C ping-pongs register as many bytes as they send, and Linux registers no region of 0.
    return [1, mtu - 1, mtu, mtu + 1, 64 * KIB, MIB]


def up_to_mtu(mtu):
    return [0, 1, mtu - 1, mtu]


def up_to_mtu_but_none(mtu):
    # With 0 mckey sends nothing.
    return [1, mtu - 1, mtu]


def whole_mtu(mtu):
    return [mtu]


def rping_sizes(mtu):
    # At least its text and at most 64 KiB - 1, by its own rule.
    return [24, mtu - 1, mtu, mtu + 1, 64 * KIB - 1]


def one_packet_or_many(mtu):
    return [1, mtu + 1, 64 * KIB]


def longer_than_a_packet(mtu):
    return [mtu + 1]


def no_size(_):
    return [None]


def exchanges(cell):
    """Fewer of the long ones."""
    if cell.size is None or cell.size <= 8 * KIB:
        return 40
    return 16 if cell.size < MIB else 3


def fewest(_):
    return FEWEST


def ping_pong(takes_mtu=True, extra=()):
    def arguments(cell, end, is_server):
        words = ["-d", end.device, "-g", str(end.gid), "-p", str(SIDE_CHANNEL_PORT), "-n", str(exchanges(cell)), *extra]
        if cell.size is not None:
            words += ["-s", str(cell.size), "-c"]
        if takes_mtu:
            words += ["-m", str(cell.mtu)]
        return words if is_server else [*words, end.peer4]
    return arguments


def rping(cell, end, is_server):
    words = ["-S", str(cell.size), "-p", str(RPING_PORT), "-V"]
    return (["-s", "-a", end.own, *words] if is_server
            else ["-c", "-a", end.peer, "-C", str(exchanges(cell)), *words])


def by_connection_manager(has_port):
    def arguments(cell, end, is_server):
        words = ["-c", "2", "-C", str(exchanges(cell) // 2 + 1), "-S", str(cell.size), "-b", end.own]
        if has_port:
            words += ["-p", str(CM_PORT)]
        return words if is_server else [*words, "-s", end.peer]
    return arguments


def rsocket(*modes, extra=()):
    def arguments(cell, end, is_server):
        words = [*extra, "-p", str(CM_PORT), "-b", end.own, "-I", "2", "-C", str(exchanges(cell) // 2 + 1), "-S", str(cell.size)]
        words += [word for mode in ("v", *modes) for word in ("-T", mode)]
        return words if is_server else [*words, "-s", end.peer]
    return arguments


def stream_sizes(mtu):
    return [1, mtu + 1, 64 * KIB, MIB]


def mapped_sizes(mtu):
    # The last byte of a transfer is no data.
    return [2, mtu + 1, 64 * KIB]


def mckey(cell, end, is_server):
    words = ["-m", MULTICAST, "-b", end.own, "-C", "20", "-S", str(cell.size)]
    return words if is_server else ["-s", *words]


def cmtime(_, end, is_server):
    words = ["-p", str(CM_PORT), "-b", end.own]
    return words if is_server else [*words, "-c", "20", "-s", end.peer]


def perftest(extra=(), count=exchanges):
    def arguments(cell, end, is_server):
        # Without -F it complains about the CPU frequency governor.
        words = ["-F", "-d", end.device, "-x", str(end.gid), "-p", str(SIDE_CHANNEL_PORT), "-m", str(cell.mtu),
                 "-n",
                 str(max(FEWEST, count(cell))), *extra]
        if cell.size is not None:
            words += ["-s", str(cell.size)]
        return words if is_server else [*words, end.peer4]
    return arguments


def measuring(name, sizes=one_packet_or_many, is_in_quick=False):
    # Each takes seconds to begin, and what an IP version changes the ping-pongs show.
    return Tool(name, sizes, perftest(), SIDE_CHANNEL, families=("ipv4",), is_in_quick=is_in_quick)


def measuring_managed(program, sizes=one_packet_or_many, is_in_quick=False, count=exchanges):
    """The tools with queue pairs that the connection manager connects."""
    return Tool(f"{program}-R", sizes, perftest(("-R",), count), Ready(cm=SIDE_CHANNEL_PORT, java_prints=JAVA_LISTENS),
                families=("ipv4",), is_in_quick=is_in_quick, program_name=program)


def variant(program, *options, sizes=longer_than_a_packet, nets=("clean", "loss 1%"), count=exchanges,
            is_long=False, is_in_quick=False):
    """With options whose code is not that of the usual ones."""
    return Tool(program + "".join(options), sizes, perftest(options, count), SIDE_CHANNEL, families=("ipv4",), nets=nets,
                is_long=is_long, is_in_quick=is_in_quick, program_name=program)


LOSSES = ("loss 1%", "loss 5%")
SIDE_CHANNEL = Ready(tcp=SIDE_CHANNEL_PORT)
SERVICE = Ready(cm=CM_PORT, java_prints=JAVA_LISTENS)

ALL = [
    Tool("ibv_rc_pingpong", any_size_but_none, ping_pong(), SIDE_CHANNEL, usual=64 * KIB),
    Tool("ibv_uc_pingpong", any_size_but_none, ping_pong(), SIDE_CHANNEL, is_reliable=False,
         may_lose=(*LOSSES, "reorder", "duplicate"), usual=64 * KIB),
    # A duplicated datagram counts twice, in C as in Java, so that one side finishes before the other.
    Tool("ibv_ud_pingpong", up_to_mtu, ping_pong(takes_mtu=False), SIDE_CHANNEL, is_reliable=False,
         may_lose=(*LOSSES, "duplicate")),
    Tool("ibv_srq_pingpong", any_size_but_none, ping_pong(extra=("-q", "4")), SIDE_CHANNEL, usual=64 * KIB),
    Tool("rping", rping_sizes, rping, Ready(cm=RPING_PORT, java_prints=JAVA_LISTENS)),
    Tool("ucmatose", any_size, by_connection_manager(has_port=True), SERVICE, usual=64 * KIB),
    Tool("udaddy", up_to_mtu, by_connection_manager(has_port=False),
         Ready(cm=RPING_PORT, java_prints=JAVA_LISTENS), is_reliable=False, may_lose=LOSSES,
         # Its connections are made by datagrams as well, which are repeated after a second, and a busy guest takes its
         # time to answer: one was seen to take three.
         patience_seconds=7),
    Tool("mckey", up_to_mtu_but_none, mckey, Ready(java_prints=JOINED, c_prints=JOINED), is_reliable=False,
         may_lose=LOSSES,
         # The C sender waits 3 s before it begins.
         server_is_silent=True, patience_seconds=7,
         # Linux has no IPv6 multicast over RoCEv2: its join fails with ENOTSUPP.
         families=("ipv4",)),
    Tool("cmtime", no_size, cmtime, SERVICE, server_stays=True),
    Tool("rstream", stream_sizes, rsocket(), SERVICE, usual=64 * KIB),
    *(Tool(f"rstream-T{mode}", stream_sizes, rsocket(mode), SERVICE, usual=64 * KIB, nets=("clean",), is_in_quick=False,
           program_name="rstream") for mode in ("async", "block", "resolve")),
    Tool("rstream-k", stream_sizes, rsocket(extra=("-k", "1", "-f", "ip")), SERVICE, usual=64 * KIB, nets=("clean",),
         is_in_quick=False, program_name="rstream"),
    Tool("riostream", mapped_sizes, rsocket(), SERVICE, usual=64 * KIB),
    Tool("atomic_pingpong", no_size, ping_pong(takes_mtu=False), SIDE_CHANNEL),
    measuring("ib_write_bw", is_in_quick=True),
    measuring("ib_read_bw"),
    measuring("ib_send_bw"),
    measuring("ib_atomic_bw", no_size),
    measuring("ib_write_lat"),
    measuring("ib_read_lat"),
    measuring("ib_send_lat", is_in_quick=True),
    measuring("ib_atomic_lat", no_size),
    measuring_managed("ib_write_bw", is_in_quick=True),
    # Of a response that was overtaken rdma_rxe takes no more, and asks anew after its time-out: 2.1 s, as the connection
    # manager sets it. A READ of 64 KiB in packets that leave one by one was seen to take 12 to 25 s so.
    measuring_managed("ib_read_lat", count=fewest),
    measuring_managed("ib_send_bw"),
    measuring_managed("ib_atomic_bw", no_size),
    # No powers of two: rdma_rxe has the next one under way. On bad networks each is to be answered again.
    variant("ib_read_bw", "-o", "3", nets=None),
    variant("ib_read_bw", "-o", "5", nets=None, is_in_quick=True),
    variant("ib_read_bw", "-o", "7", "-b", nets=None),
    variant("ib_atomic_bw", "-o", "3", sizes=no_size, nets=None),
    variant("ib_atomic_bw", "-o", "5", sizes=no_size, nets=None),
    variant("ib_atomic_bw", "-o", "7", "-b", sizes=no_size, nets=None),
    *(variant(program, "-a", sizes=no_size, nets=("clean",), count=fewest, is_long=True)
      for program in ("ib_write_bw", "ib_read_bw", "ib_send_bw", "ib_write_lat", "ib_read_lat", "ib_send_lat")),
    *(variant(program, "-q", "16", sizes=no_size if program == "ib_atomic_bw" else longer_than_a_packet)
      for program in ("ib_write_bw", "ib_read_bw", "ib_send_bw", "ib_atomic_bw")),
    *(variant(program, "-b") for program in ("ib_write_bw", "ib_read_bw", "ib_send_bw")),
    *(variant(program, "-e") for program in ("ib_read_bw", "ib_send_bw", "ib_read_lat")),
    # Between two C programs it also waited without end in five of seven runs at 1 % loss.
    variant("ib_send_lat", "-e", nets=("clean",)),
    # Whose server learns by a first datagram where to answer.
    Tool("ib_send_lat-R-UD", whole_mtu, perftest(("-R", "-c", "UD")),
         Ready(cm=SIDE_CHANNEL_PORT, java_prints=JAVA_LISTENS), is_reliable=False, may_lose=(*LOSSES, "duplicate"),
         patience_seconds=7, families=("ipv4",), program_name="ib_send_lat"),
    *sockets.tools("rxe"),
]


# ---------------------------------------------------------------- iWARP

# The largest segment of TCP on a link that carries a path MTU: Linux sends a time stamp in each.
SEGMENT = {1024: 1448, 4096: 4148}
IPV6_MORE = 20
# Around the payload of a unit: with its length and CRC.
TAGGED, UNTAGGED = 20, 24


def around_a_segment(mtu):
    """What fits one segment and what does not, in a WRITE, in a SEND, and over IPv6."""
    segment = SEGMENT[mtu]
    return [1, segment - IPV6_MORE - UNTAGGED, segment - UNTAGGED, segment - UNTAGGED + 1, segment - TAGGED,
            segment - TAGGED + 1, 64 * KIB]


def rping_around_a_segment(mtu):
    return [24, *around_a_segment(mtu)[1:-1], 64 * KIB - 1]


def perftest_by_manager(options):
    def arguments(cell, end, is_server):
        words = ["-F", "-R", "-d", end.device, "-p", str(SIDE_CHANNEL_PORT), "-n", str(max(FEWEST, exchanges(cell))),
                 *options, "-s", str(cell.size)]
        return words if is_server else [*words, end.peer4]
    return arguments


def measuring_over_iwarp(program, *options, is_in_quick=False):
    return Tool(program + "".join(options), around_a_segment, perftest_by_manager(options),
                Ready(cm=SIDE_CHANNEL_PORT, java_prints=JAVA_LISTENS), families=("ipv4",), nets=TCP_NETS,
                is_in_quick=is_in_quick, program_name=program, driver="siw")


TCP_NETS = ("clean", "loss 1%", "reorder")
IWARP = [
    Tool("rping", rping_around_a_segment, rping, Ready(cm=RPING_PORT, java_prints=JAVA_LISTENS), nets=TCP_NETS, driver="siw"),
    Tool("ucmatose", around_a_segment, by_connection_manager(has_port=True), SERVICE, nets=TCP_NETS, driver="siw"),
    Tool("cmtime", no_size, cmtime, SERVICE, server_stays=True, nets=TCP_NETS, driver="siw"),
    Tool("rstream", stream_sizes, rsocket(), SERVICE, nets=TCP_NETS, usual=64 * KIB, driver="siw"),
    *(Tool(f"rstream-T{mode}", stream_sizes, rsocket(mode), SERVICE, usual=64 * KIB, nets=("clean",), is_in_quick=False,
           program_name="rstream", driver="siw") for mode in ("async", "block")),
    Tool("riostream", mapped_sizes, rsocket(), SERVICE, nets=TCP_NETS, usual=64 * KIB, driver="siw"),
    measuring_over_iwarp("ib_write_bw", is_in_quick=True),
    measuring_over_iwarp("ib_read_bw", is_in_quick=True),
    measuring_over_iwarp("ib_send_bw"),
    measuring_over_iwarp("ib_write_lat"),
    measuring_over_iwarp("ib_read_lat"),
    measuring_over_iwarp("ib_send_lat", is_in_quick=True),
    measuring_over_iwarp("ib_write_bw", "-b"),
    measuring_over_iwarp("ib_read_bw", "-q", "4"),
    *sockets.tools("siw"),
]
OF_DRIVER = {"rxe": ALL, "siw": IWARP}


# ---------------------------------------------------------------- on the kernel's devices

def plainly_named(all_tools, *names):
    return [tool for name in names for tool in all_tools if tool.name == name]


# What Java in a guest drives the kernel's devices with.
NATIVE = {
    "rxe": plainly_named(ALL, "ibv_rc_pingpong", "ibv_uc_pingpong", "ibv_ud_pingpong", "ibv_srq_pingpong", "rping",
                         "ucmatose", "udaddy", "mckey", "cmtime", "ib_write_bw", "ib_read_bw", "ib_send_bw", "ib_atomic_bw",
                         "ib_write_lat", "ib_read_lat", "ib_send_lat", "ib_atomic_lat", "ib_write_bw-R", "rstream",
                         "riostream", "iperf", "http", "rcopy"),
    "siw": plainly_named(IWARP, "rping", "ucmatose", "cmtime", "ib_write_bw", "ib_read_bw", "ib_send_bw", "ib_write_lat",
                         "ib_read_lat", "ib_send_lat", "rstream", "riostream", "iperf", "http", "rcopy"),
}
# Tool, peer, role.
QUICK_NATIVE = {
    "rxe": {("ibv_rc_pingpong", "c", "client"), ("rping", "c", "server"), ("ib_write_bw", "soft", "server"),
            ("udaddy", "soft", "client")},
    "siw": {("rping", "c", "client"), ("ib_send_lat", "soft", "server")},
}


def native_sizes(tool):
    """The smallest that the tool allows and one of two packets: a guest takes long to look at each byte, and how the driver
    cuts messages the matrix shows. Of programs that know nothing of RDMA the usual one."""
    if isinstance(tool, sockets.Programs):
        return [tool.usual]
    sizes = [size for size in tool.sizes(4096) if size is None or size <= 8 * KIB]
    return sizes[:1] if len(sizes) == 1 else [sizes[0], sizes[-1]]


def of(cell):
    """The tool of a cell."""
    return named(cell.tool, cell.driver)


def named(name, driver="rxe"):
    return next(tool for tool in OF_DRIVER[driver] if tool.name == name)
