# SPDX-License-Identifier: Apache-2.0
"""Finds out from the packets whether a run stalled because of a defect of Linux's rdma_rxe.

When the acknowledgement of a message's last packet arrives while rdma_rxe is sending that message again, it notes
that everything is acknowledged but does not complete the request; it does so when another acknowledgement of the
same packet follows. If that one is lost, or comes while the message is still being sent, the request never completes:
nothing is left to be sent again. Its program waits for ever. Seen with Linux 6.1.

And one that needs no loss: it stops in the middle of a message although all that it sent of it is acknowledged. It
waits for packets to leave the host before it makes more, and misses that the last of them has left while it was
about to say that it waits (`need_req_skb` of rdma_rxe). Seen once, with Linux 6.1.
"""
from dataclasses import dataclass

from . import wire

# SEND, WRITE, READ, atomics, SEND with invalidation.
RC_REQUESTS = (*range(0x00, 0x0D), 0x13, 0x14, 0x16, 0x17)
ACKNOWLEDGE = 0x11
LARGEST_POSITIVE = 0x1F
# The first and middle packets of SEND and WRITE: more of the message must follow.
UNFINISHED = (0x00, 0x01, 0x06, 0x07)
PSN_MASK = 0xFFFFFF
# Of the C ping-pongs the time-out is 67 ms: who has sent again earlier was not waiting for Java.
PROMPT_SECONDS = 0.05


@dataclass
class Way:
    """Requests of one side, and what the other acknowledged of them."""
    newest: int | None = None
    newest_at: int = -1
    acknowledged: int | None = None
    acknowledged_at: int = -1
    is_sent_again_behind: bool = False
    newest_time: float = 0
    is_prompt: bool = False

    def request(self, psn, at, time):
        if self.newest is None or is_before(self.newest, psn):
            self.newest, self.newest_at, self.newest_time = psn, at, time
        elif self.acknowledged == self.newest:
            self.is_sent_again_behind = True

    def acknowledge(self, psn, at, time):
        if self.acknowledged is None or is_before(self.acknowledged, psn):
            self.acknowledged, self.acknowledged_at = psn, at
            self.is_prompt = time - self.newest_time <= PROMPT_SECONDS
            self.is_sent_again_behind = False

    def is_done(self):
        return self.newest == self.acknowledged


def is_before(psn, other):
    return 0 < (other - psn & PSN_MASK) < 1 << 23


def ways(file, own_addresses):
    """That of Java and that of Linux."""
    java, linux = Way(), Way()
    for at, packet in enumerate(wire.reliable_packets(file)):
        is_java = packet.source in own_addresses
        sender, asker = (java, linux) if is_java else (linux, java)
        if packet.opcode in RC_REQUESTS:
            sender.request(packet.psn, at, packet.time)
        elif is_acknowledgement(packet):
            asker.acknowledge(packet.psn, at, packet.time)
    return java, linux


def is_acknowledgement(packet):
    return packet.opcode == ACKNOWLEDGE and packet.syndrome <= LARGEST_POSITIVE


def is_fault_of_linux(file, own_addresses, is_network_clean):
    """Whether all requests of both sides are acknowledged, Linux sent again what was acknowledged already, and it is
    its turn: Java has answered its last message, or only Linux sends. Where nothing is lost on the way, Java must have
    acknowledged at once, too."""
    java, linux = ways(file, own_addresses)
    is_turn_of_linux = java.newest is None or java.newest_at > linux.newest_at
    return (linux.newest is not None and linux.is_done() and java.is_done() and linux.is_sent_again_behind
            and is_turn_of_linux and (linux.is_prompt or not is_network_clean))


def stops_inside_message(file, own_addresses):
    """Whether Linux has sent the first part of a message, and nothing more although Java has acknowledged all of it at
    once."""
    last, acknowledged = {}, {}
    for packet in wire.reliable_packets(file):
        if packet.source in own_addresses:
            if is_acknowledgement(packet):
                acknowledged[packet.psn] = packet.time
        elif packet.opcode in RC_REQUESTS:
            last[packet.queue_pair] = packet
    return any(packet.opcode in UNFINISHED
               and 0 <= acknowledged.get(packet.psn, 0) - packet.time <= PROMPT_SECONDS for packet in last.values())
