// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.examples.course;

import io.rdma4j.examples.TwoSides;
import io.rdma4j.softnic.options.DeviceOptions;
import io.rdma4j.softnic.options.Impairment;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.RdmaDevices;
import io.rdma4j.verbs.SendFlag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Random;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * How to test a program with loss: open the device with an impairment first, then everything in this process that uses the
 * device has it. The same seed loses the same packets.
 */
class LossyNetworkTest {
    private static final int BYTES = 1 << 20;

    @ParameterizedTest
    @ValueSource(strings = {"loss=5%,seed=1", "reorder=5%,seed=2", "duplicate=5%,seed=3",
        "loss=2%,reorder=2%,duplicate=2%,corrupt=1%,seed=4"})
    void whatIsWrittenArrivesWhateverTheNetworkDoes(String impairment) throws Exception {
        DeviceOptions options = DeviceOptions.DEFAULT
                .withImpairment(Impairment.parse(impairment));
        byte[] original = new byte[BYTES];
        new Random(7).nextBytes(original);
        try (DeviceContext device = options.open(RdmaDevices.find("roce_lo"));
                Arena arena = Arena.ofShared();
                Pair pair = Pair.connect(TwoSides.ownLoopbackAddress());
                MemoryRegion remote = pair.server.registerWrite(arena.allocate(BYTES));
                MemoryRegion local = pair.client.registerMessages(arena.allocate(BYTES))) {
            local.segment().copyFrom(MemorySegment.ofArray(original));
            pair.client.postWrite(1, local, 0, BYTES, remote.address(), remote.rkey(),
                    SendFlag.SIGNALED);
            pair.client.awaitSendCompletion().requireSuccess("write");
            assertThat(remote.segment().toArray(ValueLayout.JAVA_BYTE))
                    .isEqualTo(original);
            if (impairment.startsWith("loss")) {
                assertThat(device.counters().get("retransmitted_pkts")).isPositive();
            }
        }
    }
}
