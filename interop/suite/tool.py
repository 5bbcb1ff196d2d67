# SPDX-License-Identifier: Apache-2.0
"""What a tool of the suite is."""
from dataclasses import dataclass
from typing import Callable


@dataclass(frozen=True)
class End:
    """What one end of a run needs to know about itself and the other end."""
    own: str
    peer: str
    peer4: str
    device: str
    gid: int


@dataclass(frozen=True)
class Ready:
    """How to recognize that a server is ready: a TCP port or a service that listens, or a text that it prints."""
    tcp: int | None = None
    cm: int | None = None
    java_prints: str | None = None
    c_prints: str | None = None


@dataclass(frozen=True)
class Tool:
    """A tool: the sizes it allows at a path MTU and its arguments.

    `arguments(cell, end, is_server)` are for either implementation, as a user would give them. A server
    that stays serves until it is stopped; a silent one sends no packet.
    """
    name: str
    sizes: Callable
    arguments: Callable
    ready: Ready
    is_reliable: bool = True
    # The states of the network by which it may lose a message; Linux drops a UC message one of whose packets
    # comes late or twice.
    may_lose: tuple = ()
    usual: int | None = None
    server_stays: bool = False
    server_is_silent: bool = False
    # How long Java waits for an unreliable message that was lost. The side channel loses segments, too, and repeats the
    # first behind a connection that was repeated itself after three seconds.
    patience_seconds: int = 5
    families: tuple = ("ipv4", "ipv6")
    # The network conditions to run it in, if not all.
    nets: tuple | None = None
    # With so much to move that an emulated machine which is busy takes minutes, and seconds to prepare its memory.
    is_long: bool = False
    # How long it may take, if not the usual time.
    most_seconds: int | None = None
    is_in_quick: bool = True
    # Where the same program is several tools.
    program_name: str | None = None
    # The devices of Linux that it is run on.
    driver: str = "rxe"
    # What Java plays.
    roles: tuple = ("server", "client")
    # Whether Java has the option that says how long it waits for its peer.
    has_patience: bool = True

    def call(self, cell, end, is_server, is_java):
        """The program of one side, and its arguments."""
        return self.program, self.arguments(cell, end, is_server)

    def prepare(self, cell, serving):
        """Called before a run."""

    def check(self, cell, serving):
        """What is wrong with what a run has left where the server was; empty if nothing is."""
        return ""

    @property
    def program(self):
        return self.program_name or self.name

    def usual_size(self, mtu):
        """The most revealing size: several packets if the tool allows it."""
        return self.usual if self.usual is not None else self.sizes(mtu)[-1]
