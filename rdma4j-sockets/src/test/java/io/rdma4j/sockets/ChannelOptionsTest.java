// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import io.rdma4j.sockets.rules.Rule;
import io.rdma4j.sockets.rules.Side;
import io.rdma4j.sockets.rules.SocketRules;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;

import static org.assertj.core.api.Assertions.assertThat;

/** What connections get of the options of a channel. */
class ChannelOptionsTest {
    private static final Rule RULE = SocketRules.RDMA.decide(Side.CONNECT,
            new InetSocketAddress(InetAddress.getLoopbackAddress(), 1));

    private final ChannelOptions options = new ChannelOptions(ChannelOptions.OF_STREAMS);

    @ParameterizedTest
    @CsvSource({"0, 4096, 4096", "3000, 4096, 6000", "65537, 65536, 131074",
        "786432, 786432, 1048576", "1048576, 1048576, 1048576", "4194304, 4194304, 4194304",
        "2147483647, 536870910, 536870910"})
    void sizesOfTcpCountTwiceAsFarAsItHelps(int set, int has, int hasOfTcp) {
        options.setChecked(StandardSocketOptions.SO_RCVBUF, set);
        assertThat(options.settings().receiveBytes()).isEqualTo(has);
        options.insteadOfTcp(RULE);
        assertThat(options.settings().receiveBytes()).isEqualTo(hasOfTcp);
        assertThat(options.get(StandardSocketOptions.SO_RCVBUF)).isEqualTo(set);
    }

    @Test
    void sizesThatNobodyHasSetStayAndMayGrow() {
        options.insteadOfTcp(RULE);
        assertThat(options.settings().sendBytes()).isEqualTo(1 << 17);
        assertThat(options.settings().growsSend()).isTrue();
        options.setChecked(StandardSocketOptions.SO_SNDBUF, 1 << 16);
        assertThat(options.settings().growsSend()).isFalse();
        assertThat(options.settings().growsReceive()).isTrue();
    }
}
