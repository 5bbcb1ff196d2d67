// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.cm;

import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import org.junit.jupiter.api.Test;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.HexFormat;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class SocketAddressesTest {
    private static String written(String address, int scope) throws RdmaException {
        InetSocketAddress given = new InetSocketAddress(InetAddress.ofLiteral(address), 0x1234);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = SocketAddresses.allocate(arena, given, scope);
            assertThat(SocketAddresses.read(memory, 0)).isEqualTo(given);
            return HexFormat.of().formatHex(memory.asSlice(2).toArray(JAVA_BYTE));
        }
    }

    @Test
    void portAndAddressStandInNetworkByteOrder() throws RdmaException {
        assertThat(written("10.0.0.1", 7)).isEqualTo("12340a000001" + "00".repeat(20));
        assertThat(written("fd00::1", 7))
                .isEqualTo("123400000000" + "fd" + "00".repeat(14) + "01" + "00000000");
    }

    @Test
    void anAddressOfTheLinkNamesItsInterface() throws RdmaException {
        assertThat(written("fe80::1", 0x07070707))
                .isEqualTo("123400000000" + "fe80" + "00".repeat(13) + "01" + "07070707");
    }

    @Test
    void whatIsNoAddressIsRefused() {
        assertThatExceptionOfType(RdmaException.class)
                .isThrownBy(() -> SocketAddresses.read(MemorySegment.ofArray(new byte[28]), 0))
                .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.EIO));
    }
}
