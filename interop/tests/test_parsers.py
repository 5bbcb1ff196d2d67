# SPDX-License-Identifier: Apache-2.0
"""What the suite reads in captures: packets, units of streams, known faults of Linux; and what its table says of the runs."""
import gzip
import struct
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "interop"))

from suite import fpdus, known_faults, report, wire  # noqa: E402
from suite.trial import End, Result, Verdict  # noqa: E402

CAPTURES = ROOT / "rdma4j-protocol" / "src" / "test" / "resources" / "captures"
JAVA, LINUX = b"\x0a\x00\x00\x01", b"\x0a\x00\x00\x02"
OWN = {JAVA}
SEND_FIRST, SEND_LAST, SEND_ONLY, WRITE_FIRST, WRITE_LAST = 0x00, 0x02, 0x04, 0x06, 0x08
ACK = 0x00


def ipv4(source, protocol, payload):
    target = LINUX if source == JAVA else JAVA
    header = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(payload), 0, 0, 64, protocol, 0, source, target)
    return bytes(12) + b"\x08\x00" + header + payload


def roce(source, opcode, psn, syndrome=ACK, queue_pair=0x11, behind=b""):
    bth = struct.pack(">BBHII", opcode, 0, 0xFFFF, queue_pair, psn)
    payload = bth + bytes([syndrome, 0, 0, 0]) + behind + bytes(4)
    return ipv4(source, wire.UDP, struct.pack(">HHHH", 50000, wire.ROCE_PORT, 8 + len(payload), 0) + payload)


def message(source, attribute, data):
    """A message of the connection manager: its datagram header, 24 bytes of the management datagram's, its data."""
    mad = bytes(wire.ATTRIBUTE) + struct.pack(">H", attribute) + bytes(6) + data
    bth = struct.pack(">BBHII", wire.UD_SEND_ONLY, 0, 0xFFFF, wire.MANAGEMENT_QUEUE_PAIR, 0)
    payload = bth + bytes(wire.DETH_LENGTH) + mad + bytes(64)
    return ipv4(source, wire.UDP, struct.pack(">HHHH", 50000, wire.ROCE_PORT, 8 + len(payload), 0) + payload)


def tcp(source, flags):
    return ipv4(source, fpdus.TCP, struct.pack(">HHIIBBHHH", 1, 2, 7, 0, 5 << 4, flags, 0, 0, 0) + bytes(8))


class Files(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def written(self, content):
        file = Path(self.folder.name) / "capture.pcap"
        file.write_bytes(content)
        return file

    def capture(self, *frames, step=0.001):
        """A millisecond passes between frames, or what is asked for."""
        content = struct.pack("<IHHiIII", wire.LITTLE_ENDIAN_MAGIC, 2, 4, 0, 0, 65535, 1)
        for at, frame in enumerate(frames):
            content += struct.pack("<IIII", 1, int(at * step * 1e6), len(frame), len(frame)) + frame
        return self.written(content)

    def recorded(self, name):
        return gzip.decompress((CAPTURES / f"{name}.pcap.gz").read_bytes())


class WireTest(Files):
    def test_each_packet_of_linux_has_its_icrc(self):
        for file in sorted(CAPTURES.glob("rxe-*.pcap.gz")):
            with self.subTest(file.name):
                seen = wire.look(self.written(gzip.decompress(file.read_bytes())), set())
                self.assertGreater(seen.received, 0)
                self.assertEqual((seen.wrong_received, seen.sent), (0, 0))

    def test_damage_of_one_byte_is_seen(self):
        content = bytearray(self.recorded("rxe-rc-pingpong"))
        records = list(wire.records(self.written(content)))
        at = content.find(next(bytes(r) for r in records if wire.icrc(r[wire.RECORD_HEADER:])))
        content[at + wire.RECORD_HEADER + 14 + 20 + 8 + 9] ^= 1
        self.assertEqual(wire.look(self.written(content), set()).wrong_received, 1)

    def test_truncated_record_is_skipped(self):
        content = self.recorded("rxe-rc-pingpong")
        whole = len(list(wire.records(self.written(content))))
        self.assertEqual(len(list(wire.records(self.written(content[:-1])))), whole - 1)

    def test_other_file_is_no_capture(self):
        with self.assertRaises(ValueError):
            list(wire.records(self.written(bytes(100))))

    def test_messages_of_the_connection_manager_are_found(self):
        rping = [each[1] for each in wire.connection_messages(self.written(self.recorded("rxe-rping")))]
        self.assertIn(wire.CONNECT_REPLY, rping)
        self.assertIn(wire.DISCONNECT_REQUEST, rping)
        rejected = [each[1] for each in wire.connection_messages(self.written(self.recorded("rxe-connect-rejected")))]
        self.assertIn(wire.CONNECT_REJECT, rejected)
        self.assertNotIn(wire.CONNECT_REPLY, rejected)

    def test_repeated_packets_are_counted(self):
        file = self.capture(roce(JAVA, SEND_ONLY, 1), roce(JAVA, SEND_ONLY, 1), roce(JAVA, SEND_ONLY, 2),
                            roce(LINUX, wire.ACKNOWLEDGE, 2, wire.NAK_SEQUENCE_ERROR))
        java, linux = wire.flows(file, OWN)
        self.assertEqual((java.requests, java.repeated, linux.sequence_errors), (3, 1, 1))


class FpdusTest(Files):
    def test_crc_is_that_of_the_standard(self):
        self.assertEqual(fpdus.crc32c(b"123456789"), 0xE3069283)

    def test_each_unit_of_linux_is_right(self):
        for file in sorted(CAPTURES.glob("siw-*.pcap.gz")):
            with self.subTest(file.name):
                seen, told = fpdus.faults(self.written(gzip.decompress(file.read_bytes())), set())
                self.assertGreater(seen.received, 2)
                self.assertEqual((seen.wrong_received, seen.sent, told), (0, 0, []))

    def test_wrong_version_is_seen(self):
        content = bytearray(self.recorded("siw-rping"))
        file = self.written(content)
        ends, initiator, _ = fpdus.connections(file)[0]
        begin = fpdus.frame(initiator.bytes, fpdus.REQUEST)[1]
        at = content.find(initiator.bytes[begin:begin + 20])
        content[at + fpdus.LENGTH] ^= 2
        seen, told = fpdus.faults(self.written(content), {ends[0][0]})
        self.assertGreaterEqual(seen.wrong_sent, 1)
        self.assertTrue(told)


class KnownFaultsTest(Files):
    def test_acknowledgement_while_it_is_sent_again(self):
        frames = [roce(LINUX, SEND_ONLY, 5), roce(JAVA, wire.ACKNOWLEDGE, 5), roce(LINUX, SEND_ONLY, 5)]
        self.assertTrue(known_faults.misses_acknowledgement(self.capture(*frames), OWN, True))
        self.assertFalse(known_faults.misses_acknowledgement(self.capture(*frames[:2]), OWN, True))
        late = self.capture(*frames, step=0.06)
        self.assertFalse(known_faults.misses_acknowledgement(late, OWN, True))
        self.assertTrue(known_faults.misses_acknowledgement(late, OWN, False))

    def test_stop_inside_a_message(self):
        first, last = roce(LINUX, SEND_FIRST, 5), roce(LINUX, SEND_LAST, 6)
        self.assertTrue(known_faults.stops_inside_message(
            self.capture(first, roce(JAVA, wire.ACKNOWLEDGE, 5)), OWN))
        self.assertFalse(known_faults.stops_inside_message(
            self.capture(first, last, roce(JAVA, wire.ACKNOWLEDGE, 6)), OWN))

    def test_two_requests_of_one_number(self):
        refusal = roce(JAVA, wire.ACKNOWLEDGE, 5, known_faults.INVALID_REQUEST)
        self.assertTrue(known_faults.numbers_twice(
            self.capture(roce(LINUX, WRITE_LAST, 5), roce(LINUX, WRITE_FIRST, 5), refusal), OWN))
        self.assertFalse(known_faults.numbers_twice(
            self.capture(roce(LINUX, WRITE_LAST, 5), roce(LINUX, WRITE_LAST, 5), refusal), OWN))
        self.assertFalse(known_faults.numbers_twice(
            self.capture(roce(LINUX, WRITE_LAST, 5), roce(LINUX, WRITE_FIRST, 5)), OWN))

    def test_leaving_without_a_disconnect_message(self):
        frames = [roce(LINUX, SEND_ONLY, 5), roce(JAVA, wire.ACKNOWLEDGE, 5), roce(JAVA, SEND_ONLY, 9),
                  roce(LINUX, wire.ACKNOWLEDGE, 9)]
        self.assertTrue(known_faults.leaves_without_disconnect(self.capture(*frames), OWN))
        self.assertFalse(known_faults.leaves_without_disconnect(
            self.capture(*frames, message(LINUX, wire.DISCONNECT_REQUEST, bytes(16))), OWN))
        self.assertFalse(known_faults.leaves_without_disconnect(self.capture(*frames[:3]), OWN))

    def test_refusal_and_acceptance_of_one_request(self):
        def answer(attribute, request):
            return message(LINUX, attribute, bytes(4) + request + bytes(8))
        reject = answer(wire.CONNECT_REJECT, b"abcd")
        self.assertTrue(known_faults.refuses_and_accepts(
            self.capture(reject, answer(wire.CONNECT_REPLY, b"abcd")), OWN))
        self.assertFalse(known_faults.refuses_and_accepts(
            self.capture(reject, answer(wire.CONNECT_REPLY, b"abce")), OWN))

    def test_two_answers_to_one_look_up(self):
        def found(queue_pair):
            return message(LINUX, wire.LOOK_UP_REPLY, b"abcd" + bytes(4) + queue_pair + bytes(8))
        self.assertTrue(known_faults.answers_look_up_twice(self.capture(found(b"\0\0\1"), found(b"\0\0\2")), OWN))
        self.assertFalse(known_faults.answers_look_up_twice(self.capture(found(b"\0\0\1"), found(b"\0\0\1")), OWN))

    def test_end_that_is_taken_for_a_failure(self):
        self.assertTrue(known_faults.takes_end_for_failure(End(16, "name  bytes", "")))
        self.assertFalse(known_faults.takes_end_for_failure(End(16, "", "rrecv: Connection reset by peer")))
        self.assertFalse(known_faults.takes_end_for_failure(End(1, "", "")))

    def test_all_that_java_sent_is_acknowledged(self):
        frames = [roce(JAVA, SEND_ONLY, 5), roce(LINUX, wire.ACKNOWLEDGE, 5), roce(JAVA, SEND_ONLY, 6)]
        self.assertFalse(known_faults.has_all_acknowledged(self.capture(*frames), OWN))
        self.assertTrue(known_faults.has_all_acknowledged(self.capture(*frames, roce(LINUX, wire.ACKNOWLEDGE, 6)), OWN))

    def test_reset_before_the_end(self):
        self.assertTrue(known_faults.resets_before_the_end(
            self.capture(tcp(LINUX, fpdus.ACK), tcp(LINUX, fpdus.RST)), OWN))
        self.assertFalse(known_faults.resets_before_the_end(
            self.capture(tcp(LINUX, fpdus.FIN | fpdus.ACK), tcp(LINUX, fpdus.RST)), OWN))
        self.assertFalse(known_faults.resets_before_the_end(self.capture(tcp(JAVA, fpdus.RST)), OWN))


class ReportTest(unittest.TestCase):
    def test_entry_counts_verdicts_and_shows_failures(self):
        self.assertEqual(report.entry([]), "")
        self.assertEqual(report.entry([Verdict.OK, Verdict.FAILED, Verdict.OK]), "2 ok, **1 failed**")

    def test_summary_counts_in_the_order_of_verdicts(self):
        results = [Result("a", Verdict.FAILED), Result("b", Verdict.OK), Result("c", Verdict.OK)]
        self.assertEqual(report.summary(results), "2 ok, 1 FAILED")

    def test_seen_of_some_results_is_their_sum(self):
        results = [Result("a", Verdict.OK, seen=wire.Seen(1, 2, 3, 4, 5)), Result("b", Verdict.OK, seen=wire.Seen(10, 20))]
        self.assertEqual(wire.Seen.of(results), wire.Seen(11, 22, 3, 4, 5))


if __name__ == "__main__":
    unittest.main()
