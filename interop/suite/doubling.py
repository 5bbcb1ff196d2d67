# SPDX-License-Identifier: Apache-2.0
"""Finds out from the packets whether Linux has both refused and accepted a request that the network has duplicated.

A C program of perftest with `-R` listens for its queue pairs only after it has told its peer to connect. If a request
arrives twice at that moment, the first copy finds no listener and the second one does. The requester gets the refusal;
the C program treats the connection as failed, and stops listening.
"""
from . import wire

# After the sender's own identifier.
PEERS_IDENTIFIER = slice(4, 8)
# Of the reply to a look-up: the identifier of the request, and the queue pair behind a word of status.
REQUEST_IDENTIFIER = slice(0, 4)
STATUS, FOUND = 4, 0
QUEUE_PAIR = slice(8, 11)


def is_refused_and_accepted(file, own_addresses):
    """Whether Linux has sent a rejection and a reply with the identifier of one request."""
    answers = {wire.CONNECT_REJECT: set(), wire.CONNECT_REPLY: set()}
    for source, attribute, data in wire.connection_messages(file):
        if source not in own_addresses and attribute in answers:
            answers[attribute].add(data[PEERS_IDENTIFIER])
    return bool(answers[wire.CONNECT_REJECT] & answers[wire.CONNECT_REPLY])


def is_taken_for_two(file, own_addresses):
    """Whether Linux has answered one look-up with two queue pairs."""
    found = {}
    for source, attribute, data in wire.connection_messages(file):
        if source not in own_addresses and attribute == wire.LOOK_UP_REPLY and data[STATUS] == FOUND:
            found.setdefault(bytes(data[REQUEST_IDENTIFIER]), set()).add(bytes(data[QUEUE_PAIR]))
    return any(len(queue_pairs) > 1 for queue_pairs in found.values())
