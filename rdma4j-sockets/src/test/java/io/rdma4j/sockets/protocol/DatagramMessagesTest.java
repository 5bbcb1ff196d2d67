// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.protocol;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Objects;
import java.util.Random;

import static org.assertj.core.api.Assertions.assertThat;

/** Headers of datagrams and introductions, byte by byte, and such as no program of ours sends. */
class DatagramMessagesTest {
    private static final byte[] SOURCE_4 = InetAddress.ofLiteral("10.1.2.3").getAddress();
    private static final byte[] SOURCE_6 = InetAddress.ofLiteral("fd00::1:2").getAddress();

    private static String hex(ByteBuffer written) {
        byte[] bytes = new byte[written.position()];
        written.get(0, bytes);
        return HexFormat.of().formatHex(bytes);
    }

    private static ByteBuffer bytes(String hex) {
        return ByteBuffer.wrap(HexFormat.of().parseHex(hex));
    }

    @ParameterizedTest
    @CsvSource({"10.1.2.3, 0408 1c06 0a010203",
        "fd00::1:2, 0618 1c06 00000000 fd000000000000000000000000010002"})
    void headerNamesItsSender(String address, String expected) {
        ByteBuffer out = ByteBuffer.allocate(64);
        byte[] sender = InetAddress.ofLiteral(address).getAddress();
        DatagramHeader.put(out, sender, 7174);
        assertThat(hex(out)).isEqualTo(expected.replace(" ", ""));
        assertThat(out.position()).isEqualTo(DatagramHeader.length(sender));
        out.put((byte) 9).flip();
        DatagramHeader read = Objects.requireNonNull(DatagramHeader.read(out));
        assertThat(read.address()).isEqualTo(sender);
        assertThat(read.port()).isEqualTo(7174);
        assertThat(out.remaining()).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "04", "0408ffff0a0102", "0418ffff0a010203", "0508ffff0a010203",
        "0608ffff0a010203", "0618ffff000000000a0102030a0102030a0102030a0102"})
    void whatIsNoHeaderHasNoSender(String hex) {
        assertThat(DatagramHeader.read(bytes(hex))).isNull();
    }

    @ParameterizedTest
    @CsvSource({"10.1.2.3, true, 55555555 04 00 10 00 00123456 0a010203",
        "10.1.2.3, false, 55555555 04 07 10 00 00123456 0a010203",
        "fd00::1:2, true, 55555555 06 00 1c 00 00123456 fd000000000000000000000000010002"})
    void introductionNamesAQueuePair(String address, boolean hasData, String expected) {
        ByteBuffer out = ByteBuffer.allocate(64);
        byte[] own = InetAddress.ofLiteral(address).getAddress();
        Introduction introduction = new Introduction(hasData, 0x123456);
        introduction.put(out, own);
        assertThat(hex(out)).isEqualTo(expected.replace(" ", ""));
        out.put((byte) 1).flip();
        assertThat(Introduction.read(out, own)).isEqualTo(introduction);
        assertThat(out.remaining()).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "55555555040010000012345", "5555555504001000001234560a0102",
        "5555555404001000001234560a010203", "5555555506001000001234560a010203",
        "5555555504011000001234560a010203", "5555555504001c00001234560a010203"})
    void whatIsNoIntroductionIsNone(String hex) {
        String even = hex.length() % 2 == 0 ? hex : hex.substring(1);
        assertThat(Introduction.read(bytes(even), SOURCE_4)).isNull();
    }

    @Test
    void introductionIsOfTheVersionOfItsSource() {
        ByteBuffer out = ByteBuffer.allocate(64);
        new Introduction(true, 1).put(out, SOURCE_4);
        assertThat(Introduction.read(out.clear(), SOURCE_6)).isNull();
        new Introduction(true, 1).put(out.clear(), SOURCE_6);
        assertThat(Introduction.read(out.clear(), SOURCE_4)).isNull();
    }

    @Test
    void anyBytesAreReadOrRefused() {
        Random random = new Random(48);
        for (int i = 0; i < 100_000; i++) {
            byte[] bytes = new byte[random.nextInt(40)];
            random.nextBytes(bytes);
            byte[] start = HexFormat.of().parseHex(random.nextBoolean() ? "5555555504" : "0618");
            System.arraycopy(start, 0, bytes, 0, Math.min(start.length, bytes.length));
            byte[] before = Arrays.copyOf(bytes, bytes.length);
            Introduction.read(ByteBuffer.wrap(bytes), SOURCE_4);
            Introduction.read(ByteBuffer.wrap(bytes), SOURCE_6);
            DatagramHeader.read(ByteBuffer.wrap(bytes));
            assertThat(bytes).isEqualTo(before);
        }
    }
}
