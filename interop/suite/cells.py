# SPDX-License-Identifier: Apache-2.0
"""The matrix: every tool, Java in both roles, sizes, path MTUs, network conditions, IP versions."""
from dataclasses import dataclass

from . import tools

ROLES = ("server", "client")
LINK_MTU = {1024: 1500, 4096: 4200}
PATH_MTUS = (1024, 4096)
FAMILIES = ("ipv4", "ipv6")
NETS = {
    "clean": "",
    "loss 1%": "loss 1%",
    "loss 5%": "loss 5%",
    "reorder": "delay 3ms reorder 30% 50%",
    "duplicate": "duplicate 10%",
}


@dataclass(frozen=True)
class Cell:
    """One run of a tool: Java on one side, the C program of the same name on the other."""
    tool: str
    role: str
    size: int | None
    mtu: int
    net: str
    family: str
    # Of Linux: its RoCE, or its iWARP.
    driver: str = "rxe"
    # Where Java runs on the kernel's device: whom it plays with. None where it runs on a device of its own.
    peer: str | None = None

    def __str__(self):
        size = "" if self.size is None else f"/{self.size}"
        peer = "" if self.peer is None else f"with-{self.peer}/"
        driver = "" if self.driver == "rxe" else f"{self.driver}/"
        return f"{peer}{driver}{self.tool}/java-{self.role}{size}/mtu{self.mtu}/{self.net.replace(' ', '-')}/{self.family}"


def full(driver="rxe"):
    """All cells, grouped by link and network."""
    return [Cell(tool.name, role, size, mtu, net, family, driver)
            for mtu in PATH_MTUS for net in NETS for family in FAMILIES
            for tool in tools.OF_DRIVER[driver] if family in tool.families and (tool.nets is None or net in tool.nets)
            for size in tool.sizes(mtu) for role in tool.roles]


def iwarp(network_backend):
    """Those of iWARP."""
    return [cell for cell in full("siw") if is_iwarp_on(network_backend, cell)]


def is_iwarp_on(network_backend, cell):
    """Whether a cell of iWARP is run: on the portable back-end, whose TCP is the kernel's, too, only those of one set of
    sizes and without impairment, which TCP hides from it."""
    return network_backend != "portable" or (cell.net == "clean" and cell.mtu == PATH_MTUS[0])


def quick():
    """A cross-section that takes about two minutes."""
    chosen = [Cell(tool.name, role, tool.usual_size(1024), 1024, "clean", "ipv4")
              for tool in tools.ALL if tool.is_in_quick for role in tool.roles]
    chosen += [Cell(tool, role, tools.named(tool).usual_size(1024), 1024, "clean", "ipv6")
               for tool in ("ibv_rc_pingpong", "rping") for role in ROLES]
    chosen += [Cell("ibv_rc_pingpong", role, 65536, 1024, "loss 5%", "ipv4") for role in ROLES]
    return chosen


def quick_iwarp():
    """The same for iWARP."""
    return [Cell(tool.name, role, tool.usual_size(1024), 1024, "clean", "ipv4", "siw")
            for tool in tools.IWARP if tool.is_in_quick for role in tool.roles]


# Whom Java on the kernel's device plays with: the C program on another guest's device of the same driver, and Java on
# the software device of the same transport.
PEERS = ("c", "soft")


def native(driver="rxe"):
    """The cells with Java on the kernel's device, grouped by peer."""
    return [Cell(tool.name, role, size, 4096, "clean", family, driver, peer)
            for peer in PEERS for tool in tools.NATIVE[driver]
            for family, sizes in ((tool.families[0], tools.native_sizes(tool)),
                                  *((other, [tools.native_sizes(tool)[-1]]) for other in tool.families[1:]))
            for size in sizes for role in ROLES]


def quick_native(driver="rxe"):
    """A cross-section: each role with each peer, a tool of each kind."""
    return [cell for cell in native(driver)
            if cell.family == "ipv4" and cell.size in (None, tools.native_sizes(tools.of(cell))[-1])
            and (cell.tool, cell.peer, cell.role) in tools.QUICK_NATIVE[driver]]


def between_guests():
    """With Java in one guest and the kernel's driver in another."""
    return [Cell(tool, role, tools.named(tool).usual_size(4096), 4096, "clean", "ipv4")
            for tool in ("ibv_rc_pingpong", "rping") for role in ROLES]
