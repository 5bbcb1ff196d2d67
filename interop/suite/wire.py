# SPDX-License-Identifier: Apache-2.0
"""The contents of a capture: RoCEv2 packets, the check of their ICRC, and tshark's findings."""
import queue
import shutil
import struct
import subprocess
import threading
import zlib
from dataclasses import dataclass
from pathlib import Path

ROCE_PORT = 4791
IPV4, IPV6 = 0x0800, 0x86DD
UDP = 17
# Those of the reliable service are below.
UC_OPCODES = 0x20
UD_SEND_ONLY = 0x64
# READ responses, acknowledgements, results of atomics.
RESPONSES = range(0x0D, 0x13)
ACKNOWLEDGE = 0x11
NAK_SEQUENCE_ERROR = 0x60
SYNDROME_KIND_SHIFT, RNR_NAK = 5, 1
BTH_LENGTH, DETH_LENGTH = 12, 8
MANAGEMENT_QUEUE_PAIR = 1
# Where a management datagram names its attribute, where its data begins, and attributes of the connection manager.
ATTRIBUTE, ATTRIBUTE_DATA = 16, 24
CONNECT_REJECT, CONNECT_REPLY, DISCONNECT_REQUEST = 0x0012, 0x0013, 0x0015
LOOK_UP_REPLY = 0x0018
FILE_HEADER, RECORD_HEADER = 24, 16
LITTLE_ENDIAN_MAGIC = 0xA1B2C3D4
# Dissectors that guess their protocol from the payload: the tools' payload is arbitrary.
GUESSERS = ["smc", "smb_direct", "rpcordma", "nvme-rdma", "lnet", "iser", "infiniband_sdp", "infiniband.eoib", "fcoib"]
# One of them cannot be switched off: it takes a payload whose third and fourth byte are 0 for an EtherType and what
# follows it. What precedes a payload is dissected by then. The side channel's text is no RDMA.
# Of a port that is used again tshark takes the frame that sets the connection up for a unit of the one before.
MALFORMED = ('(_ws.malformed or _ws.short) and ((iwarp_mpa and not tcp contains "MPA ID Re") or (infiniband and not frame.protocols contains '
             '"infiniband:ethertype"))')


@dataclass
class Seen:
    """The counts of a capture."""
    sent: int = 0
    received: int = 0
    wrong_sent: int = 0
    wrong_received: int = 0
    # Packets that the capture missed.
    unseen: int = 0

    @staticmethod
    def of(results):
        """That of some results together."""
        seen = Seen()
        for result in results:
            seen += result.seen
        return seen

    def __iadd__(self, other):
        self.sent += other.sent
        self.received += other.received
        self.wrong_sent += other.wrong_sent
        self.wrong_received += other.wrong_received
        self.unseen += other.unseen
        return self


def told_wrong(seen):
    return f"{seen.wrong_sent} of {seen.sent} packets from Java are wrong"


def records(file):
    """The records of a capture file, each with its header; a truncated one is skipped."""
    content = Path(file).read_bytes()
    if len(content) >= FILE_HEADER and struct.unpack_from("<I", content)[0] != LITTLE_ENDIAN_MAGIC:
        raise ValueError(f"{file}: not a capture of this machine")
    view = memoryview(content)
    at = FILE_HEADER
    while at + RECORD_HEADER <= len(view):
        end = at + RECORD_HEADER + struct.unpack_from("<I", view, at + 8)[0]
        if end > len(view):
            return
        yield view[at:end]
        at = end


def dissect(frame):
    """Source address, length of the IP header and end of the IP packet of a RoCEv2 frame; None for other frames."""
    if len(frame) < 14 + 40 + 8:
        return None
    kind = struct.unpack_from(">H", frame, 12)[0]
    if kind == IPV4:
        header = (frame[14] & 15) * 4
        end = 14 + struct.unpack_from(">H", frame, 16)[0]
        protocol = frame[23]
        source = bytes(frame[26:30])
    elif kind == IPV6:
        header = 40
        end = 14 + header + struct.unpack_from(">H", frame, 18)[0]
        protocol = frame[20]
        source = bytes(frame[22:38])
    else:
        return None
    if protocol != UDP or struct.unpack_from(">H", frame, 14 + header + 2)[0] != ROCE_PORT:
        return None
    return source, header, end


def packets(file):
    """The RoCEv2 packets of a capture: source address, frame, and where in it the BTH starts."""
    for _, source, frame, bth in timed_packets(file):
        yield source, frame, bth


def timed_packets(file):
    """The same, and before it the time in seconds."""
    for record in records(file):
        frame = record[RECORD_HEADER:]
        found = dissect(frame)
        if found is not None:
            source, header, _ = found
            seconds, microseconds = struct.unpack_from("<II", record)
            yield seconds + microseconds / 1e6, source, frame, 14 + header + 8


def connection_messages(file):
    """The connection manager's messages in a capture: source address, attribute, and the attribute's data."""
    for source, frame, bth in packets(file):
        mad = bth + BTH_LENGTH + DETH_LENGTH
        if frame[bth] == UD_SEND_ONLY and int.from_bytes(frame[bth + 5:bth + 8], "big") == MANAGEMENT_QUEUE_PAIR:
            yield (source, int.from_bytes(frame[mad + ATTRIBUTE:mad + ATTRIBUTE + 2], "big"),
                   frame[mad + ATTRIBUTE_DATA:])


@dataclass
class ReliablePacket:
    """A packet of the reliable service: its time in seconds, and the syndrome if it is an acknowledgement."""
    time: float
    source: bytes
    opcode: int
    queue_pair: int
    psn: int
    syndrome: int


def reliable_packets(file):
    """The packets of the reliable service in a capture."""
    for time, source, frame, bth in timed_packets(file):
        opcode = frame[bth]
        if opcode < UC_OPCODES:
            yield ReliablePacket(time, source, opcode, int.from_bytes(frame[bth + 5:bth + 8], "big"),
                                 int.from_bytes(frame[bth + 9:bth + 12], "big"), frame[bth + 12])


@dataclass
class Flow:
    """What one side sent by the reliable service: packets with data or requests, and NAKs."""
    requests: int = 0
    repeated: int = 0
    sequence_errors: int = 0
    receivers_not_ready: int = 0

    def __str__(self):
        return (f"{self.requests} packets of requests, {self.repeated} of them repeated, {self.sequence_errors} NAKs for "
                f"a sequence error, {self.receivers_not_ready} for no receive")


def flows(file, own_addresses):
    """That of Java and that of Linux in a capture."""
    java, linux = Flow(), Flow()
    known = set()
    for source, frame, bth in packets(file):
        opcode = frame[bth]
        if opcode >= UC_OPCODES:
            continue
        flow = java if source in own_addresses else linux
        if opcode == ACKNOWLEDGE:
            syndrome = frame[bth + BTH_LENGTH]
            flow.sequence_errors += syndrome == NAK_SEQUENCE_ERROR
            flow.receivers_not_ready += syndrome >> SYNDROME_KIND_SHIFT == RNR_NAK
        elif opcode not in RESPONSES:
            # Of a queue pair of the receiver's.
            packet = (source in own_addresses, bytes(frame[bth + 5:bth + 8]), bytes(frame[bth + 9:bth + 12]))
            flow.requests += 1
            flow.repeated += packet in known
            known.add(packet)
    return java, linux


def icrc(frame):
    """Source address, the ICRC a RoCEv2 frame carries and the one it should; None for other frames.

    What may change on the way counts as ones: TOS, TTL and checksum of IPv4, traffic class, flow label and
    hop limit of IPv6, the UDP checksum, and the byte of the BTH with the congestion bits.
    """
    found = dissect(frame)
    if found is None:
        return None
    source, header, end = found
    packet = bytearray(frame[14:end])
    if packet[0] >> 4 == 4:
        packet[1] = packet[8] = 0xFF
        packet[10:12] = b"\xff\xff"
    else:
        packet[0] |= 0x0F
        packet[1] = packet[2] = packet[3] = packet[7] = 0xFF
    packet[header + 6:header + 8] = b"\xff\xff"
    packet[header + 8 + 4] = 0xFF
    carried = struct.unpack_from("<I", packet, len(packet) - 4)[0]
    right = zlib.crc32(memoryview(packet)[:-4], zlib.crc32(b"\xff" * 8))
    return source, carried, right


def look(file, own_addresses):
    """Checks the ICRC of each packet of a capture, and counts."""
    seen = Seen()
    for record in records(file):
        found = icrc(record[RECORD_HEADER:])
        if found is None:
            continue
        source, carried, right = found
        if source in own_addresses:
            seen.sent += 1
            seen.wrong_sent += carried != right
        else:
            seen.received += 1
            seen.wrong_received += carried != right
    return seen


class Dissector:
    """Has tshark read captures, many at a time and in the background."""

    BYTES_AT_A_TIME = 64 << 20

    def __init__(self, folder):
        self._folder = Path(folder)
        self._waiting = queue.Queue()
        self._merged = self._folder / "merged.pcap"
        self.frames = 0
        self.malformed = []
        self.failure = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def add(self, name, file):
        """Queues a capture, which is deleted after it was read."""
        self._waiting.put((name, Path(file)))

    def finish(self):
        self._waiting.put(None)
        self._thread.join()

    def _run(self):
        try:
            self._read_all()
        except Exception as failure:  # Of any kind: otherwise the report would say that all was read.
            self.failure = f"{type(failure).__name__}: {failure}"

    def _read_all(self):
        is_open = True
        while is_open:
            batch = []
            size = 0
            while is_open and size < self.BYTES_AT_A_TIME:
                entry = self._waiting.get()
                if entry is None:
                    is_open = False
                else:
                    batch.append(entry)
                    size += entry[1].stat().st_size
            if batch:
                self._read(batch)

    def _read(self, batch):
        owners = []
        with open(self._merged, "wb") as merged:
            for name, file in batch:
                if merged.tell() == 0:
                    merged.write(file.read_bytes()[:FILE_HEADER])
                for record in records(file):
                    merged.write(record)
                    owners.append(name)
        done = malformed_frames(self._merged)
        if done.returncode != 0:
            self.failure = f"tshark ended with {done.returncode}: {done.stderr.strip()}"
        for line in done.stdout.split():
            self.malformed.append((owners[int(line) - 1], int(line)))
        self.frames += len(owners)
        self._merged.unlink()
        for name, file in batch:
            if any(name == owner for owner, _ in self.malformed):
                self._keep(name, file)
            file.unlink()

    def _keep(self, name, file):
        kept = kept_in(self._folder.parent, name)
        kept.parent.mkdir(exist_ok=True)
        shutil.copy(file, kept)


def malformed_frames(file):
    """tshark, having written the numbers of the malformed frames."""
    without = [word for name in GUESSERS for word in ("--disable-protocol", name)]
    # One segment can hold thousands of small units of iWARP, each of which is a layer to tshark.
    layers = ["-o", "gui.max_tree_depth:100000"]
    return subprocess.run(["nice", "tshark", "-r", str(file), *layers, *without, "-Y", MALFORMED, "-T", "fields", "-e",
                           "frame.number"], capture_output=True, text=True)


def kept_in(folder, name):
    """The place for captures with malformed packets."""
    return folder / "malformed" / (name.replace("/", "_") + ".pcap")


def is_malformed(folder, name):
    """Whether a capture that was kept has malformed packets, asked once more."""
    file = kept_in(folder, name)
    return not file.exists() or malformed_frames(file).stdout.strip() != ""
