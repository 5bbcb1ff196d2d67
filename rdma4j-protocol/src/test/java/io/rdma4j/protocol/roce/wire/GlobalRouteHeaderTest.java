// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.roce.wire;

import io.rdma4j.verbs.Gid;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HexFormat;

import static org.assertj.core.api.Assertions.assertThat;

/** The 40 bytes before a received datagram. IBTA annex A17.4.5.1. */
class GlobalRouteHeaderTest {
    private static final Gid V4 = new Gid(0, 0xffff_0a00_0001L);
    private static final Gid OTHER_V4 = new Gid(0, 0xffff_c0a8_fffeL);
    private static final Gid V6 = new Gid(0x2001_0db8_0000_0000L, 1);
    private static final Gid OTHER_V6 = new Gid(0xfe80_0000_0000_0000L, 0x1234_5678_9abc_def0L);

    /** {@return the header of a datagram with 100 bytes of payload: 124 bytes with its headers and CRC} */
    private static MemorySegment header(Gid source, Gid destination) {
        OutgoingPacket packet = new OutgoingPacket()
                .begin(Opcode.UD_SEND_ONLY, Path.NONE, 5, 6, false, false).datagram(7, 8);
        packet.addPayload(MemorySegment.ofArray(new byte[100]), 0, 100);
        byte[] bytes = new byte[packet.totalLength()];
        packet.copyTo(MemorySegment.ofArray(bytes), 0);
        PacketView view = new PacketView();
        assertThat(view.wrap(MemorySegment.ofArray(bytes), 0, bytes.length)).isNull();
        view.travelled(source, destination);
        MemorySegment header = MemorySegment.ofArray(new byte[GlobalRouteHeader.LENGTH]);
        header.fill((byte) 0xaa);
        GlobalRouteHeader.write(view, header);
        return header;
    }

    private static String hex(MemorySegment memory) {
        return HexFormat.of().formatHex(memory.toArray(ValueLayout.JAVA_BYTE));
    }

    private static MemorySegment bytes(String hex) {
        return MemorySegment.ofArray(HexFormat.of().parseHex(hex));
    }

    /** Version and length, 152 bytes in all; don't fragment; 64 hops, UDP, the checksum; the addresses. */
    @Test
    void headerOfIpv4StandsBehind20Zeros() {
        assertThat(hex(header(V4, OTHER_V4))).isEqualTo("00".repeat(20) + "45000098" + "00004000"
                + "40116fad" + "0a000001" + "c0a8fffe");
    }

    @Test
    void headerOfIpv6FillsIt() {
        assertThat(hex(header(V6, OTHER_V6))).isEqualTo("60000000" + "0084" + "11" + "40"
                + "20010db8000000000000000000000001" + "fe80000000000000123456789abcdef0");
    }

    @Test
    void addressesAreReadAsTheyWereWritten() {
        assertThat(GlobalRouteHeader.read(header(V4, OTHER_V4)))
                .isEqualTo(new GlobalRouteHeader.Addresses(V4, OTHER_V4, 0, 0));
        assertThat(GlobalRouteHeader.read(header(V6, OTHER_V6)))
                .isEqualTo(new GlobalRouteHeader.Addresses(V6, OTHER_V6, 0, 0));
    }

    @ParameterizedTest
    @CsvSource({"60000000, 0, 0", "6ab00000, 171, 0", "6ffabcde, 255, 0xabcde",
        "600fffff, 0, 0xfffff"})
    void classAndLabelOfIpv6AreRead(String first, int trafficClass, String flowLabel) {
        MemorySegment header = bytes(first + "00".repeat(36));
        assertThat(GlobalRouteHeader.read(header)).satisfies(addresses -> {
            assertThat(addresses.trafficClass()).isEqualTo(trafficClass);
            assertThat(addresses.flowLabel()).isEqualTo(Integer.decode(flowLabel));
        });
    }

    /** Type of service 0x60; the checksum fits. */
    @Test
    void classOfIpv4IsRead() {
        assertThat(GlobalRouteHeader.read(bytes(
                "00".repeat(20) + "45600098" + "00004000" + "40116f4d" + "0a000001" + "c0a8fffe")))
                .isEqualTo(new GlobalRouteHeader.Addresses(V4, OTHER_V4, 0x60, 0));
    }

    @ParameterizedTest
    @CsvSource({
        // a wrong checksum, another version, nothing at all
        "4500009800004000 40116fae 0a000001 c0a8fffe",
        "4600009800004000 40116ead 0a000001 c0a8fffe", "00"})
    void whatIsNoHeaderIsNone(String behind20) {
        String hex = behind20.replace(" ", "");
        assertThat(GlobalRouteHeader
                .read(bytes("00".repeat(20) + hex + "00".repeat(20 - hex.length() / 2))))
                .isNull();
    }

    /** An IPv6 address may begin as an IPv4 header does. */
    @Test
    void headerOfIpv6WithAnAddressLikeAnIpv4HeaderIsOneOfIpv6() {
        Gid like = new Gid(0x2001_0db8_4500_0098L, 0);
        assertThat(GlobalRouteHeader.read(header(like, OTHER_V6)))
                .isEqualTo(new GlobalRouteHeader.Addresses(like, OTHER_V6, 0, 0));
    }

    @Test
    void fewerBytesAreNone() {
        assertThat(GlobalRouteHeader.read(header(V6, OTHER_V6).asSlice(0, 39))).isNull();
    }

    @Test
    void pathHasTheUsualHopsUnlessOthersAreAskedFor() {
        assertThat(Path.between(V4, OTHER_V4).hops()).isEqualTo(64);
        assertThat(Path.NONE.hops()).isEqualTo(64);
        assertThat(new Path(V4, OTHER_V4, 0, 0, 1).hops()).isOne();
        assertThat(new Path(V4, OTHER_V4, 0, 0, 255).hops()).isEqualTo(255);
        assertThat(new Path(V4, OTHER_V4, 0, 0, -1).hops()).isEqualTo(255);
        assertThat(Path.between(V4, OTHER_V4).withTrafficClass(7).trafficClass()).isEqualTo(7);
    }
}
