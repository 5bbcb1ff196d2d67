# SPDX-License-Identifier: Apache-2.0
"""The contents of an iWARP capture: the frames that set connections up, and the check of each unit after them.

Written from RFC 5044 (MPA), 5041 (DDP), 5040 (RDMAP) and 6581, and from nothing of the project's: it is what Java is judged by.
"""
import bisect
import ipaddress
import struct
from dataclasses import dataclass

from . import wire

TCP = 6
FIN, SYN, RST, ACK = 1, 2, 4, 16
REQUEST, REPLY = b"MPA ID Req Frame", b"MPA ID Rep Frame"
FRAME_HEADER = 20
MARKERS, WITH_CRC, REJECTED, ENHANCED = 0x80, 0x40, 0x20, 0x10
# In the first word of an enhanced frame: the initiator promises to send first.
PEER_TO_PEER = 0x8000
# The length at the start of a unit and the CRC at its end.
LENGTH, CRC = 2, 4
TAGGED, LAST, RESERVED, DDP_VERSION = 0x80, 0x40, 0x3C, 0x01
TAGGED_HEADER, UNTAGGED_HEADER = 14, 18
RDMAP_VERSION, RDMAP_RESERVED = 0x40, 0x30
WRITE, READ_REQUEST, READ_RESPONSE, SENDS, TERMINATE = 0, 1, 2, (3, 4, 5, 6), 7
QUEUE_OF = {READ_REQUEST: 1, TERMINATE: 2, **{send: 0 for send in SENDS}}
READ_REQUEST_LENGTH = 28


def crc_table():
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return table


TABLE = crc_table()


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ TABLE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


class Direction:
    """The bytes that one side of a connection has sent, in order and once each."""

    def __init__(self, start=None):
        # The number of its SYN.
        self.start = start
        self._next = None
        self._early = {}
        self.bytes = bytearray()
        # How many bytes had come by when.
        self._ends, self._times = [], []

    def add(self, time, sequence, flags, payload):
        if flags & SYN:
            self._next = sequence + 1 & 0xFFFFFFFF
            return
        if self._next is None or not payload:
            return
        self._early[sequence] = max(self._early.get(sequence, b""), payload, key=len)
        is_moving = True
        while is_moving:
            is_moving = False
            for start in sorted(self._early):
                known = self._next - start & 0xFFFFFFFF
                if known >= 1 << 31:
                    # It lies ahead.
                    continue
                part = self._early.pop(start)
                if known < len(part):
                    self.bytes += part[known:]
                    self._next = self._next + len(part) - known & 0xFFFFFFFF
                    is_moving = True
                    self._ends.append(len(self.bytes))
                    self._times.append(time)

    def time_of(self, length):
        """When so many bytes had come, in seconds; None if that many never did."""
        at = bisect.bisect_left(self._ends, length)
        return self._times[at] if at < len(self._ends) else None

    @property
    def unread(self):
        """How many segments came after one that the capture lacks."""
        return len(self._early)


def segments(file):
    """The segments of TCP in a capture: both ends, the time in seconds, sequence number, flags, payload."""
    for record in wire.records(file):
        seconds, microseconds = struct.unpack_from("<II", record)
        frame = record[wire.RECORD_HEADER:]
        kind = struct.unpack_from(">H", frame, 12)[0] if len(frame) >= 14 else 0
        if kind == wire.IPV4 and frame[23] == TCP:
            start = 14 + (frame[14] & 15) * 4
            end = 14 + struct.unpack_from(">H", frame, 16)[0]
            addresses = bytes(frame[26:30]), bytes(frame[30:34])
        elif kind == wire.IPV6 and frame[20] == TCP:
            start = 14 + 40
            end = start + struct.unpack_from(">H", frame, 18)[0]
            addresses = bytes(frame[22:38]), bytes(frame[38:54])
        else:
            continue
        source_port, destination_port, sequence = struct.unpack_from(">HHI", frame, start)
        payload = bytes(frame[start + (frame[start + 12] >> 4) * 4:end])
        yield ((addresses[0], source_port), (addresses[1], destination_port), seconds + microseconds / 1e6, sequence,
               frame[start + 13], payload)


def connections(file):
    """Each connection: its ends and both directions, that of the initiator first. Ends may have several, one after the
    other, for a client's port is used again."""
    found, latest = [], {}
    for source, destination, time, sequence, flags, payload in segments(file):
        ends = latest.get((source, destination))
        if flags & SYN and not flags & ACK and (ends is None or ends[0].start != sequence):
            latest.pop((destination, source), None)
            ends = latest[source, destination] = Direction(sequence), Direction()
            found.append(((source, destination), *ends))
        if ends:
            ends[0].add(time, sequence, flags, payload)
            continue
        ends = latest.get((destination, source))
        if ends:
            ends[1].add(time, sequence, flags, payload)
    return found


class Units:
    """Reads the units that one side has sent after its frame, and finds their errors."""

    def __init__(self, has_crc, needs_zeros):
        self._has_crc = has_crc
        # As RFC 5044 4.1 has it; siw leaves in the padding what was there.
        self._needs_zeros = needs_zeros
        # By queue: the number of the message, and how much of it has come.
        self._messages = {0: [1, 0], 1: [1, 0], 2: [1, 0]}
        self.count = 0
        self.wrong = []

    def read(self, stream):
        at = 0
        while at + LENGTH <= len(stream):
            length = struct.unpack_from(">H", stream, at)[0]
            padded = LENGTH + length + (-(LENGTH + length) % 4)
            if at + padded + CRC > len(stream):
                # It was cut off; a connection may end like that.
                return
            self.count += 1
            fault = self._fault(stream, at, length, padded)
            if fault:
                self.wrong.append(f"unit {self.count}: {fault}")
                # Bytes after an invalid length have no meaning.
                return
            at += padded + CRC

    def _fault(self, stream, at, length, padded):
        if self._has_crc:
            carried = struct.unpack_from("<I", stream, at + padded)[0]
            right = crc32c(stream[at:at + padded])
            if carried != right:
                return f"CRC {carried:08x} instead of {right:08x}"
        if length < TAGGED_HEADER:
            return f"{length} bytes are no header"
        if self._needs_zeros and any(stream[at + LENGTH + length:at + padded]):
            return "its padding is not 0"
        ddp, rdmap = stream[at + LENGTH], stream[at + LENGTH + 1]
        if ddp & 3 != DDP_VERSION or ddp & RESERVED or rdmap & 0xC0 != RDMAP_VERSION or rdmap & RDMAP_RESERVED:
            return f"control bytes {ddp:02x} {rdmap:02x}"
        opcode = rdmap & 15
        if ddp & TAGGED:
            return "" if opcode in (WRITE, READ_RESPONSE) else f"opcode {opcode} in a tagged unit"
        return self._untagged_fault(stream, at + LENGTH, length, opcode, bool(ddp & LAST))

    def _untagged_fault(self, stream, at, length, opcode, is_last):
        if length < UNTAGGED_HEADER:
            return f"{length} bytes are no header"
        if opcode not in QUEUE_OF:
            return f"opcode {opcode} in an untagged unit"
        queue, number, offset = struct.unpack_from(">III", stream, at + 6)
        if queue != QUEUE_OF[opcode]:
            return f"opcode {opcode} in queue {queue}"
        expected = self._messages[queue]
        if [number, offset] != expected:
            return f"message {number} from {offset} on in queue {queue}, where {expected[0]} from {expected[1]} on was due"
        if opcode == READ_REQUEST and length != UNTAGGED_HEADER + READ_REQUEST_LENGTH:
            return f"a READ request of {length} bytes"
        expected[1] += length - UNTAGGED_HEADER
        if is_last:
            self._messages[queue] = [number + 1, 0]
        return ""


def frame(stream, key):
    """The flags of the frame that a stream begins with, and where it ends; None if it is none."""
    if len(stream) < FRAME_HEADER or not stream.startswith(key):
        return None
    return stream[16], FRAME_HEADER + struct.unpack_from(">H", stream, 18)[0]


def faults(file, own_addresses):
    """Who has sent how many units, and what is wrong with them: a Seen, and a line for each fault of Java's."""
    seen = wire.Seen()
    said = []
    for ends, initiator, responder in connections(file):
        request, reply = frame(initiator.bytes, REQUEST), frame(responder.bytes, REPLY)
        if request is None or reply is None or reply[0] & REJECTED:
            continue
        # The responder says what is agreed on.
        has_crc = bool(reply[0] & WITH_CRC)
        for (address, port), direction, begun in ((ends[0], initiator, request), (ends[1], responder, reply)):
            is_own = address in own_addresses
            units = Units(has_crc, is_own)
            # The frame is one, too: some connections carry nothing else.
            units.count = 1
            units.read(direction.bytes[begun[1]:])
            seen.unseen += direction.unread
            if begun[0] & MARKERS:
                units.wrong.append("it wants markers")
            if is_own:
                seen.sent += units.count
                seen.wrong_sent += len(units.wrong)
                said += [f"from {ipaddress.ip_address(address)} port {port}, {fault}" for fault in units.wrong]
            else:
                seen.received += units.count
                seen.wrong_received += len(units.wrong)
    return seen, said


def with_crc(file):
    """How many connections have agreed on a CRC in each unit."""
    replies = (frame(responder.bytes, REPLY) for _, _, responder in connections(file))
    return sum(1 for reply in replies if reply and reply[0] & WITH_CRC)


@dataclass(frozen=True)
class FirstUnit:
    """The first unit of a responder of rdma4j's, and what had come before it."""
    # The revision of MPA that its reply speaks.
    revision: int
    # Whether the initiator had promised to send first.
    is_promised: bool
    # Whether the initiator's first unit was complete by then.
    has_heard: bool
    # How long after the reply it came.
    seconds: float


def first_units(file, own_addresses):
    """Those of the connections on which rdma4j, as responder, has sent one."""
    found = []
    for ends, initiator, responder in connections(file):
        request, reply = frame(initiator.bytes, REQUEST), frame(responder.bytes, REPLY)
        if ends[1][0] not in own_addresses or request is None or reply is None or reply[0] & REJECTED:
            continue
        replied, sent = responder.time_of(reply[1]), responder.time_of(reply[1] + 1)
        if sent is None:
            continue
        length = struct.unpack_from(">H", initiator.bytes, request[1])[0] if len(initiator.bytes) >= request[1] + LENGTH else 0
        heard = initiator.time_of(request[1] + LENGTH + length + (-(LENGTH + length) % 4) + CRC)
        is_promised = bool(reply[0] & ENHANCED and struct.unpack_from(">H", responder.bytes, FRAME_HEADER)[0] & PEER_TO_PEER)
        found.append(FirstUnit(responder.bytes[17], is_promised, heard is not None and heard <= sent, sent - replied))
    return found


def look(file, own_addresses):
    """Checks each unit of a capture, and counts."""
    return faults(file, own_addresses)[0]
