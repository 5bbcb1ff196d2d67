// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.cm.CmId;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.softnic.network.OnceFree;
import org.junit.jupiter.api.Test;

import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;

import static org.assertj.core.api.Assertions.assertThat;

/** What becomes of loopback beside a program that has its first address; no other test may want that meanwhile. */
class TakenLoopbackAloneTest extends CmStage {
    @Test
    void loopbackTakesTheNextFreeAddressByItself() throws Exception {
        try (DatagramSocket other = new DatagramSocket(null)) {
            // Its holder may release it at any moment, and must not do so during the test.
            OnceFree.take("127.0.0.1", () -> OnceFree.isBound(other, "127.0.0.1"));
            CmId client = id(PortSpace.TCP);
            client.device("roce");
            resolve(client, new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), 1));
            assertThat(client.localAddress().getAddress().getHostAddress())
                    .isNotEqualTo("127.0.0.1")
                    .startsWith("127.0.0.");
        }
    }
}
