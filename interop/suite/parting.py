# SPDX-License-Identifier: Apache-2.0
"""Finds out from the packets whether Linux ended and its disconnect message was lost.

A program that disconnects and at once destroys its id has its kernel send one request to disconnect and no second:
rdma_cm stops repeating it. If that one is lost, its peer hears nothing, and waits. Seen with rping's client on
Linux 6.1.
"""
from . import stall, wire


def is_unheard(file, own_addresses):
    """Whether all requests of both sides are acknowledged, no request to disconnect came from Linux, and it was its
    turn: Java has sent the last message."""
    java, linux = stall.ways(file, own_addresses)
    is_told = any(source not in own_addresses and attribute == wire.DISCONNECT_REQUEST
                  for source, attribute, _ in wire.connection_messages(file))
    return (not is_told and java.newest is not None and java.is_done() and linux.is_done()
            and java.newest_at > linux.newest_at)
