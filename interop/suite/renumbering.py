# SPDX-License-Identifier: Apache-2.0
"""Finds out from the packets whether Linux has given one packet sequence number to two requests.

`rdma_rxe` sends again from where it thinks that its peer stands, and counts the numbers of what it sends again anew. When an
acknowledgement comes meanwhile it begins with a number too small: the first packet of a message has the number of another
one's last. A peer that waits for a last packet has to refuse the first one of a message, as an invalid request (IBTA 9.9.3).
Seen once in thousands of runs with packet loss, with Linux 6.1.
"""
from . import stall, wire

INVALID_REQUEST = 0x61


def is_fault_of_linux(file, own_addresses):
    """Whether Java has refused a request as invalid after Linux sent requests of different kinds under one number."""
    kinds = {}
    is_numbered_twice = False
    for packet in wire.reliable_packets(file):
        if packet.source not in own_addresses and packet.opcode in stall.RC_REQUESTS:
            kind = kinds.setdefault((packet.queue_pair, packet.psn), packet.opcode)
            is_numbered_twice |= kind != packet.opcode
        elif (is_numbered_twice and packet.source in own_addresses and packet.opcode == stall.ACKNOWLEDGE
              and packet.syndrome == INVALID_REQUEST):
            return True
    return False
