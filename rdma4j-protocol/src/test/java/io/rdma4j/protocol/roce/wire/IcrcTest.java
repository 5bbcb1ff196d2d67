// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.roce.wire;

import io.rdma4j.verbs.Gid;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Random;
import java.util.zip.CRC32;

import static org.assertj.core.api.Assertions.assertThat;

/** The invariant CRC over both IP versions, against the bytes that the standard names. IBTA annex A17.3.3. */
class IcrcTest {
    private static final Gid V4 = new Gid(0, 0xffff_0a00_0001L);
    private static final Gid OTHER_V4 = new Gid(0, 0xffff_0a00_0002L);
    private static final Gid V6 = new Gid(0x2001_0db8_0000_0000L, 1);
    private static final Gid OTHER_V6 = new Gid(0x2001_0db8_0000_0000L, 2);
    private static final int SOURCE_PORT = 0xc123;

    private final Icrc icrc = new Icrc();
    private final Random random = new Random(1);

    /** {@return a packet of so many bytes, ICRC included} */
    private byte[] packet(int length) {
        byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        return bytes;
    }

    /** {@return the CRC, from the headers as they would stand before the packet} */
    private static int expected(Gid source, Gid destination, int identification, byte[] packet) {
        int udpLength = 8 + packet.length;
        ByteBuffer covered = ByteBuffer.allocate(8 + 40 + 8 + packet.length);
        covered.putLong(-1);
        if (source.isIpv4()) {
            covered.put((byte) 0x45).put((byte) 0xff).putShort((short) (20 + udpLength))
                    .putShort((short) identification).putShort((short) 0x4000).put((byte) 0xff)
                    .put((byte) 17).putShort((short) 0xffff).putInt((int) source.low())
                    .putInt((int) destination.low());
        } else {
            covered.putInt(0x6fff_ffff).putShort((short) udpLength).put((byte) 17)
                    .put((byte) 0xff).putLong(source.high()).putLong(source.low())
                    .putLong(destination.high()).putLong(destination.low());
        }
        covered.putShort((short) SOURCE_PORT).putShort((short) Path.UDP_PORT)
                .putShort((short) udpLength).putShort((short) 0xffff);
        int transport = covered.position();
        covered.put(packet, 0, packet.length - 4);
        covered.put(transport + 4, (byte) 0xff);
        CRC32 crc = new CRC32();
        crc.update(covered.flip());
        return (int) crc.getValue();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void sealedPacketHasTheCrcOfItsHeadersAndBytes(boolean isIpv6) {
        Gid source = isIpv6 ? V6 : V4;
        Gid destination = isIpv6 ? OTHER_V6 : OTHER_V4;
        int identification = isIpv6 ? 0 : 0x1234;
        for (int length : new int[]{16, 20, 28, 100, 1500}) {
            byte[] packet = packet(length);
            byte[] moved = new byte[length + 9];
            System.arraycopy(packet, 0, moved, 5, length);
            icrc.seal(Path.between(source, destination), SOURCE_PORT, identification,
                    ByteBuffer.wrap(moved), 5, length);
            int crc = ByteBuffer.wrap(moved).order(ByteOrder.LITTLE_ENDIAN)
                    .getInt(5 + length - 4);
            assertThat(crc).isEqualTo(expected(source, destination, identification, packet));
            // Nothing but the CRC was written.
            assertThat(moved[5 + length]).isZero();
            assertThat(moved[5 + length - 5]).isEqualTo(packet[length - 5]);
            assertThat(icrc.identify(source, destination, SOURCE_PORT, 0, ByteBuffer.wrap(moved), 5,
                    length)).isEqualTo(identification);
        }
    }

    /** There is no field that could explain a difference. */
    @Test
    void damagedPacketOverIpv6IsNoticed() {
        byte[] packet = packet(100);
        icrc.seal(Path.between(V6, OTHER_V6), SOURCE_PORT, 0, ByteBuffer.wrap(packet), 0, 100);
        for (int bit = 0; bit < 800; bit++) {
            boolean isCovered = bit / 8 != 4;
            packet[bit / 8] ^= (byte) (1 << bit % 8);
            assertThat(icrc.identify(V6, OTHER_V6, SOURCE_PORT, 0, ByteBuffer.wrap(packet), 0, 100))
                    .as("bit %d", bit).isEqualTo(isCovered ? -1 : 0);
            packet[bit / 8] ^= (byte) (1 << bit % 8);
        }
    }

    @Test
    void packetOfOtherAddressesOrPortsHasAnotherCrc() {
        byte[] packet = packet(100);
        icrc.seal(Path.between(V6, OTHER_V6), SOURCE_PORT, 0, ByteBuffer.wrap(packet), 0, 100);
        // One after the other, so that none is taken for the one before.
        assertThat(identify(V6, V6, SOURCE_PORT, packet)).isEqualTo(-1);
        assertThat(identify(V6, OTHER_V6, SOURCE_PORT, packet)).isZero();
        assertThat(identify(OTHER_V6, OTHER_V6, SOURCE_PORT, packet)).isEqualTo(-1);
        assertThat(identify(V6, OTHER_V6, SOURCE_PORT, packet)).isZero();
        assertThat(identify(V6, OTHER_V6, SOURCE_PORT + 1, packet)).isEqualTo(-1);
        assertThat(identify(V6, OTHER_V6, SOURCE_PORT, packet)).isZero();
    }

    private int identify(Gid source, Gid destination, int port, byte[] packet) {
        return icrc.identify(source, destination, port, 0, ByteBuffer.wrap(packet), 0,
                packet.length);
    }

    @Test
    void whatIsShorterThanAPacketHasNone() {
        byte[] packet = packet(16);
        icrc.seal(Path.between(V4, OTHER_V4), SOURCE_PORT, 7, ByteBuffer.wrap(packet), 0, 16);
        assertThat(identify(V4, OTHER_V4, SOURCE_PORT, packet)).isEqualTo(7);
        assertThat(icrc.identify(V4, OTHER_V4, SOURCE_PORT, 0, ByteBuffer.wrap(packet), 0, 15))
                .isEqualTo(-1);
    }
}
