// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.protocol;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.nio.ByteOrder;
import java.util.Arrays;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** The private data, also such as no program of ours sends. */
class ConnectionDataTest {
    private static ConnectionData data(ByteOrder order, int mappings) {
        return new ConnectionData(order, 0xfffe, mappings, new RemoteRange(-2, -3, 2),
                new RemoteRange(1L << 63, 7, 0xffff_ffffL));
    }

    @ParameterizedTest
    @CsvSource({"0,0", "1,1", "127,127", "128,256", "256,256", "257,512", "32512,32512"})
    void numberOfMappingsIsRoundedUp(int wanted, int announced) throws RsocketException {
        ConnectionData read = ConnectionData
                .decode(data(ByteOrder.LITTLE_ENDIAN, wanted).encode());
        assertThat(read.mappings()).isEqualTo(announced)
                .isEqualTo(ConnectionData.announced(wanted));
    }

    @Test
    void orderOfTheSenderIsKnown() throws RsocketException {
        for (ByteOrder order : new ByteOrder[]{ByteOrder.BIG_ENDIAN, ByteOrder.LITTLE_ENDIAN}) {
            ConnectionData sent = data(order, 1);
            assertThat(ConnectionData.decode(sent.encode())).isEqualTo(sent);
        }
    }

    @Test
    void withoutTheFlagThereAreNoMappings() throws RsocketException {
        byte[] bytes = data(ByteOrder.LITTLE_ENDIAN, 9).encode();
        bytes[1] = 0;
        assertThat(ConnectionData.decode(bytes).mappings()).isZero();
    }

    @Test
    void whatIsNoRsocketIsRefused() {
        byte[] bytes = data(ByteOrder.LITTLE_ENDIAN, 0).encode();
        assertRefused(Arrays.copyOf(bytes, 39), "39 bytes, not 40");
        assertRefused(new byte[40], "version is 0, not 1");
        bytes[0] = 2;
        assertRefused(bytes, "version is 2, not 1");
        bytes[0] = 1;
        bytes[19 + 4] = 0;
        assertRefused(bytes, "65534 credits and 0 slots");
        bytes[19 + 4] = 2;
        bytes[2] = 0;
        bytes[3] = 0;
        assertRefused(bytes, "0 credits and 2 slots");
    }

    @Test
    void lengthOfARangeHas32Bits() {
        assertThat(new RemoteRange(0, 0, 0xffff_ffffL).length()).isEqualTo(0xffff_ffffL);
        for (long length : new long[]{-1, 1L << 32}) {
            assertThatThrownBy(() -> new RemoteRange(0, 0, length))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("a length has 32 bits, unlike " + length);
        }
    }

    private static void assertRefused(byte[] bytes, String said) {
        assertThatThrownBy(() -> ConnectionData.decode(bytes))
                .isInstanceOf(RsocketException.class).hasMessageContaining(said);
    }
}
