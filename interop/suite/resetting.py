# SPDX-License-Identifier: Apache-2.0
"""Finds out from the packets whether siw reset a connection whose program had ended well.

siw takes bytes for sent that TCP still has to send. A C program that closes directly after its last bytes ends with success; if
credits of its peer come while TCP is still sending, no socket is there any more, and Linux answers them with a reset. The rest is
lost. Seen with rstream's server on Linux 6.1, and between two C programs.
"""
from . import fpdus


def is_by_linux(file, own_addresses):
    """Whether the first end of the connection that the packets show is a reset by Linux, which had said nothing of an end."""
    for source, _, _, _, flags, _ in fpdus.segments(file):
        if flags & (fpdus.FIN | fpdus.RST):
            return bool(flags & fpdus.RST) and source[0] not in own_addresses
    return False
