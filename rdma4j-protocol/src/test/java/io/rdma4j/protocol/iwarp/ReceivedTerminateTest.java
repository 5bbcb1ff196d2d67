// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.iwarp;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import java.lang.foreign.MemorySegment;
import java.util.HexFormat;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

/**
 * What a Terminate of the peer does to two READs that wait, with the numbers 1 (of 50 bytes) and 2 (of 60): as RFC 5040 4.8
 * has it, and as Linux's siw writes it ({@code siw_send_terminate} in siw_qp.c).
 *
 * <p>siw exchanges the halves of the first byte, and reverses the flags. Where the length of the unit that was wrong belongs, it
 * has that of the payload. It checks the memory of a READ when it answers it, and then writes the length of the READ where its
 * number belongs.
 */
class ReceivedTerminateTest {
    private static final String FLUSHED = "1 WORK_REQUEST_FLUSHED, 2 WORK_REQUEST_FLUSHED";
    private static final String FIRST_REFUSED = "1 REMOTE_ACCESS_ERROR, 2 WORK_REQUEST_FLUSHED";
    private static final String QUEUE_OF_READS = "00000000" + "00000001";
    private static final String QUEUE_OF_SENDS = "00000000" + "00000000";
    private static final String START = "00000000";
    private static final String NUMBER_1 = "00000001";
    private static final String NUMBER_2 = "00000002";
    private static final String NUMBER_3 = "00000003";
    /** Sink, length and source of the READs. */
    private static final String FIRST_READ = "0000015a" + "0000000010020000" + "00000032"
            + "0000025a" + "0000000020000000";
    private static final String SECOND_READ = "0000015a" + "0000000010020000" + "0000003c"
            + "0000025a" + "0000000020000000";

    private final StreamPair pair = new StreamPair(withoutCrc());
    private final StreamEnd here = pair.initiator;

    private static StreamPair.Settings withoutCrc() {
        StreamPair.Settings settings = new StreamPair.Settings();
        settings.hasCrc = false;
        return settings;
    }

    static Stream<Arguments> terminates() {
        return Stream.of(
                arguments("RFC: READ 1, invalid STag", "0100e000", "002e" + "4141"
                        + QUEUE_OF_READS + NUMBER_1 + START + FIRST_READ,
                        "invalid STag", FIRST_REFUSED),
                arguments("siw: READ 1, invalid STag", "10000700", "0000" + "4141"
                        + QUEUE_OF_READS + "00000032" + START + FIRST_READ,
                        "invalid STag", FIRST_REFUSED),
                arguments("RFC: READ 1, no right to", "0102e000", "002e" + "4141"
                        + QUEUE_OF_READS + NUMBER_1 + START + FIRST_READ,
                        "access rights violation", FIRST_REFUSED),
                arguments("siw: READ 1, out of turn", "21030300", "0000" + "4141"
                        + QUEUE_OF_READS + NUMBER_1 + START,
                        "invalid MSN: MSN range is not valid", FIRST_REFUSED),

                // Requests complete in order, and the first has not failed.
                arguments("RFC: READ 2", "0100e000", "002e" + "4141"
                        + QUEUE_OF_READS + NUMBER_2 + START + SECOND_READ,
                        "invalid STag", FLUSHED),
                arguments("siw: READ 2, one too many", "20070300", "0000" + "4141"
                        + QUEUE_OF_READS + NUMBER_2 + START,
                        "catastrophic error, localized to RDMAP stream", FLUSHED),
                arguments("RFC: a READ that does not wait", "0100e000", "002e" + "4141"
                        + QUEUE_OF_READS + NUMBER_3 + START + FIRST_READ,
                        "invalid STag", FLUSHED),
                arguments("RFC: a SEND", "1202c000", "001c" + "4143"
                        + QUEUE_OF_SENDS + NUMBER_1 + START,
                        "invalid MSN: no buffer available", FLUSHED),
                arguments("siw: a SEND", "21020300", "000a" + "4143"
                        + QUEUE_OF_SENDS + NUMBER_1 + START,
                        "invalid MSN: no buffer available", FLUSHED),
                // siw announces a header of RDMAP here, too.
                arguments("siw: a SEND that ends a key", "10090700", "000a" + "4144"
                        + QUEUE_OF_SENDS + NUMBER_1 + START,
                        "STag cannot be invalidated", FLUSHED),
                arguments("RFC: a WRITE", "1101c000", "0018" + "c140" + "0000025a"
                        + "0000000100000001",
                        "base or bounds violation", FLUSHED),
                arguments("siw: a WRITE", "11010300", "000a" + "c140" + "0000025a"
                        + "0000000100000001",
                        "base or bounds violation", FLUSHED),
                arguments("RFC: a wrong CRC", "20020000", "", "MPA CRC error", FLUSHED),
                arguments("siw: a wrong CRC", "02020000", "", "MPA CRC error", FLUSHED),
                arguments("siw: it fails itself", "00ff0000", "",
                        "RDMAP: local catastrophic error, unspecified (0/0/255 of RFC 5040 4.8)",
                        FLUSHED),
                arguments("RFC: a READ, of which little is left", "0100e000", "002e" + "4141",
                        "invalid STag", FLUSHED),
                arguments("siw: a READ, of which little is left", "10000700", "0000" + "4141",
                        "invalid STag", FLUSHED));
    }

    // [RFC 5040 5.4-2]
    @ParameterizedTest(name = "{0}")
    @MethodSource("terminates")
    void itFailsTheReadThatItIsAbout(String name, String control, String wrong, String reason,
            String completions) {
        here.read(1, 50, pair.responder);
        here.read(2, 60, pair.responder);
        here.work(0);
        hear(control + wrong);
        assertThat(here.terminations).as(name).containsExactly("hears: " + reason);
        here.assertCompleted(completions.split(", "));
    }

    @Test
    void readWhoseTurnHasComeIsTheOneThatSiwMeans() {
        here.read(1, 50, pair.responder);
        pair.work();
        here.assertCompleted("1 SUCCESS");
        here.read(2, 60, pair.responder);
        here.work(0);
        hear("10010700" + "0000" + "4141" + QUEUE_OF_READS + "0000003c" + START + SECOND_READ);
        here.assertCompleted("2 REMOTE_ACCESS_ERROR");
    }

    @Test
    void siwsTerminateWithoutAReadThatWaitsEndsTheStream() {
        here.receive(10, 100);
        here.work(0);
        hear("10010700" + "0000" + "4141" + QUEUE_OF_READS + "0000003c" + START + SECOND_READ);
        here.assertCompleted("10 WORK_REQUEST_FLUSHED");
    }

    private void hear(String terminate) {
        int length = 18 + terminate.length() / 2;
        String padding = "00".repeat((4 - (length + 2) % 4) % 4);
        byte[] unit = HexFormat.of().parseHex(HexFormat.of().toHexDigits((short) length) + "4147"
                + "00000000" + "00000002" + NUMBER_1 + START + terminate + padding + "00000000");
        assertThat(here.queuePair.onBytes(MemorySegment.ofArray(unit), 0, unit.length, 0))
                .isEqualTo(unit.length);
    }
}
