# SPDX-License-Identifier: Apache-2.0
"""Finds out from the packets of a failed run whether a known fault of Linux, or of its C programs, is the cause.

Each question has its fault above it. All were seen with Linux 6.1.
"""
import select
from dataclasses import dataclass

from . import fpdus, wire

# SEND, WRITE, READ, atomics, SEND with invalidation.
RC_REQUESTS = (*range(0x00, 0x0D), 0x13, 0x14, 0x16, 0x17)
LARGEST_POSITIVE = 0x1F
INVALID_REQUEST = 0x61
# The first and middle packets of SEND and WRITE: more of the message must follow.
UNFINISHED = (0x00, 0x01, 0x06, 0x07)
PSN_MASK = 0xFFFFFF
# Of the C ping-pongs the time-out is 67 ms: who has sent again earlier was not waiting for Java.
PROMPT_SECONDS = 0.05
# In a message of the connection manager, after the sender's own identifier.
PEERS_IDENTIFIER = slice(4, 8)
# Of the reply to a look-up: the identifier of the request, and the queue pair behind a word of status.
REQUEST_IDENTIFIER = slice(0, 4)
STATUS, FOUND = 4, 0
QUEUE_PAIR = slice(8, 11)


@dataclass
class Direction:
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


def directions(file, own_addresses):
    """That of Java and that of Linux."""
    java, linux = Direction(), Direction()
    for at, packet in enumerate(wire.reliable_packets(file)):
        is_java = packet.source in own_addresses
        sender, asker = (java, linux) if is_java else (linux, java)
        if packet.opcode in RC_REQUESTS:
            sender.request(packet.psn, at, packet.time)
        elif is_acknowledgement(packet):
            asker.acknowledge(packet.psn, at, packet.time)
    return java, linux


def is_acknowledgement(packet):
    return packet.opcode == wire.ACKNOWLEDGE and packet.syndrome <= LARGEST_POSITIVE


# When the acknowledgement of a message's last packet arrives while rdma_rxe is sending that message again, it notes that
# everything is acknowledged but does not complete the request; it does so when another acknowledgement of the same packet follows.
# If that one is lost, or comes while the message is still being sent, the request never completes: nothing is left to be sent
# again. Its program waits for ever.
def misses_acknowledgement(file, own_addresses, is_network_clean):
    """Whether all requests of both sides are acknowledged, Linux sent again what was acknowledged already, and it is
    its turn: Java has answered its last message, or only Linux sends. Where nothing is lost on the way, Java must have
    acknowledged at once, too."""
    java, linux = directions(file, own_addresses)
    is_turn_of_linux = java.newest is None or java.newest_at > linux.newest_at
    return (linux.newest is not None and linux.is_done() and java.is_done() and linux.is_sent_again_behind
            and is_turn_of_linux and (linux.is_prompt or not is_network_clean))


# One that needs no loss: rdma_rxe stops in the middle of a message although all that it sent of it is acknowledged. It waits for
# packets to leave the host before it makes more, and misses that the last of them has left while it was about to say that it waits
# (need_req_skb). Seen once.
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


# rdma_rxe sends again from where it thinks that its peer stands, and counts the numbers of what it sends again anew. When an
# acknowledgement comes meanwhile it begins with a number too small: the first packet of a message has the number of another one's
# last. A peer that waits for a last packet has to refuse the first one of a message, as an invalid request (IBTA 9.9.3). Seen once in
# thousands of runs with packet loss.
def numbers_twice(file, own_addresses):
    """Whether Java has refused a request as invalid after Linux sent requests of different kinds under one number."""
    kinds = {}
    is_numbered_twice = False
    for packet in wire.reliable_packets(file):
        if packet.source not in own_addresses and packet.opcode in RC_REQUESTS:
            kind = kinds.setdefault((packet.queue_pair, packet.psn), packet.opcode)
            is_numbered_twice |= kind != packet.opcode
        elif (is_numbered_twice and packet.source in own_addresses and packet.opcode == wire.ACKNOWLEDGE
              and packet.syndrome == INVALID_REQUEST):
            return True
    return False


# A program that disconnects and at once destroys its id has its kernel send one request to disconnect and no second: rdma_cm stops
# repeating it. If that one is lost, its peer learns nothing, and waits. Seen with rping's client.
def leaves_without_disconnect(file, own_addresses):
    """Whether all requests of both sides are acknowledged, no request to disconnect came from Linux, and it was its
    turn: Java has sent the last message."""
    java, linux = directions(file, own_addresses)
    has_disconnected = any(source not in own_addresses and attribute == wire.DISCONNECT_REQUEST
                           for source, attribute, _ in wire.connection_messages(file))
    return (not has_disconnected and java.newest is not None and java.is_done() and linux.is_done()
            and java.newest_at > linux.newest_at)


# A C program of perftest with `-R` listens for its queue pairs only after it has told its peer to connect. If a request arrives twice at
# that moment, the first copy finds no listener and the second one does. The requester gets the refusal; the C program treats the
# connection as failed, and stops listening.
def refuses_and_accepts(file, own_addresses):
    """Whether Linux has sent a rejection and a reply with the identifier of one request."""
    answers = {wire.CONNECT_REJECT: set(), wire.CONNECT_REPLY: set()}
    for source, attribute, data in wire.connection_messages(file):
        if source not in own_addresses and attribute in answers:
            answers[attribute].add(bytes(data[PEERS_IDENTIFIER]))
    return bool(answers[wire.CONNECT_REJECT] & answers[wire.CONNECT_REPLY])


# udaddy's server takes a look-up that came twice for two.
def answers_look_up_twice(file, own_addresses):
    """Whether Linux has answered one look-up with two queue pairs."""
    found = {}
    for source, attribute, data in wire.connection_messages(file):
        if source not in own_addresses and attribute == wire.LOOK_UP_REPLY and data[STATUS] == FOUND:
            found.setdefault(bytes(data[REQUEST_IDENTIFIER]), set()).add(bytes(data[QUEUE_PAIR]))
    return any(len(queue_pairs) > 1 for queue_pairs in found.values())


# C's udpong does not get over an answer that was lost. It waits a millisecond for each and then sends again, as it is written, but over
# RoCE it never does so. Between two C programs in guests three of three runs with 5 % loss ended so.
def waits_for_lost_answer(file, own_addresses):
    """Whether Java has answered, and Linux has said nothing since."""
    last = None
    for source, _, _ in wire.packets(file):
        last = source
    return last is not None and last in own_addresses


# siw takes bytes for sent that TCP still has to send. A C program that closes directly after its last bytes ends with success; if
# credits of its peer come while TCP is still sending, no socket is there any more, and Linux answers them with a reset. The rest is
# lost. Seen with rstream's server, an HTTP server, and between two C programs. On a network that loses or delays packets in 4 of 6
# runs of rstream with 64 KiB and Java as client; of 6 runs of two C programs one did not end there.
def resets_before_the_end(file, own_addresses):
    """Whether the first end of the connection that the packets show is a reset by Linux, which had said nothing of an end."""
    for source, _, _, _, flags, _ in fpdus.segments(file):
        if flags & (fpdus.FIN | fpdus.RST):
            return bool(flags & fpdus.RST) and source[0] not in own_addresses
    return False


# With -T async, C's rstream asks poll(2) before each receive, and ends with what that says beside "readable". A server of rsockets that
# ends its connection right after its last bytes (C's, too: there is no other end than a DISCONNECT) makes the client readable and hung
# up at once, and the rest is not read. Between two C programs in guests 7 of 16 runs ended so.
def takes_end_for_failure(client):
    """Whether a C rstream has ended with poll's POLLHUP for its status, and said nothing, as it does of no other failure."""
    return client.status == select.POLLHUP and not client.err.strip()


def has_all_acknowledged(file, own_addresses):
    """Whether Linux has acknowledged all that Java has sent."""
    java, _ = directions(file, own_addresses)
    return java.is_done()
