// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.iwarp;

import io.rdma4j.softnic.device.SecureNumbers;
import io.rdma4j.softnic.device.SoftNic;
import io.rdma4j.softnic.network.linux.stream.LinuxStreams;
import io.rdma4j.softnic.network.linux.stream.NarrowStreams;
import io.rdma4j.softnic.network.stream.PortableStreams;
import io.rdma4j.softnic.network.stream.StreamNetwork;
import io.rdma4j.softnic.verbs.SoftDeviceContext;
import io.rdma4j.testkit.Wait;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendWorkRequest;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

/**
 * Two devices, each with an engine of its own, and sockets between them that hold about a tenth of a message: each side's requests
 * and answers wait for the other side to read, which must not wait for its own.
 */
class NarrowStreamsTest {
    private static final int LENGTH = 1 << 20;
    /** Of what a side owns, where it reads to, and where it receives. */
    private static final int COPY = LENGTH;
    private static final int INBOX = 2 * LENGTH;
    private static final int COUNT = 3;
    private static final int RECEIVE = 100;
    private static final int SEND = 200;

    /** Two devices and a connection between them. */
    private static final class Narrow extends IwarpStage implements AutoCloseable {
        private final List<SoftNic> devices;

        Narrow(SoftNic ofClient, SoftNic ofServer) throws Exception {
            super(new SoftDeviceContext(ofClient), new SoftDeviceContext(ofServer), ADDRESS);
            devices = List.of(ofClient, ofServer);
        }

        @Override
        public void close() throws RdmaException {
            super.close();
            devices.forEach(SoftNic::shutDown);
        }
    }

    private static SoftNic device(String backend, String thread) throws Exception {
        StreamNetwork network = new NarrowStreams(
                "linux".equals(backend) ? new LinuxStreams() : new PortableStreams());
        IwarpSettings settings = IwarpSettings.ofSystem(IwarpPatience.USUAL);
        SoftNic nic = new SoftNic(IwarpStage.device(IwarpFamily.IWARP),
                host -> new IwarpTransport(network, settings, host), new SecureNumbers(),
                System::nanoTime, thread);
        nic.start(IwarpStage.ADDRESS);
        return nic;
    }

    @ParameterizedTest
    @ValueSource(strings = {"linux", "portable"})
    void bothSidesReadFromEachOtherWhileTheySend(String backend) throws Exception {
        assumeThat(LinuxStreams.obstacle()).as("sockets whose buffers can be set").isNull();
        try (Narrow stage = new Narrow(device(backend, "narrow-client"),
                device(backend, "narrow-server"))) {
            stage.connect();
            post(stage.client, stage.server, (byte) 1);
            post(stage.server, stage.client, (byte) 2);
            begin(stage.client, stage.server);
            begin(stage.server, stage.client);
            int[] completed = new int[2];
            Wait.until("all completions", () -> {
                completed[0] += taken(stage.client);
                completed[1] += taken(stage.server);
                return completed[0] + completed[1] == 2 * 3 * COUNT;
            });
            assertThat(completed).containsExactly(3 * COUNT, 3 * COUNT);
            assertHasOnly(stage.client, (byte) 2);
            assertHasOnly(stage.server, (byte) 1);
        }
    }

    private static void post(IwarpStage.Side side, IwarpStage.Side other, byte own)
            throws RdmaException {
        side.memory.asSlice(0, LENGTH).fill(own);
        for (int i = 0; i < COUNT; i++) {
            other.queuePair.postReceive(new ReceiveWorkRequest().id(RECEIVE + i)
                    .add(other.region, INBOX, LENGTH));
        }
    }

    private static void begin(IwarpStage.Side side, IwarpStage.Side other) throws RdmaException {
        for (int i = 0; i < COUNT; i++) {
            side.queuePair.postSend(new SendWorkRequest().id(i)
                    .read(other.region.address(), other.region.rkey())
                    .add(side.region, COPY, LENGTH).set(SendFlag.SIGNALED));
            side.queuePair.postSend(new SendWorkRequest().id(SEND + i).send()
                    .add(side.region, 0, LENGTH).set(SendFlag.SIGNALED));
        }
    }

    /** {@return how many requests have completed, all with success} */
    private static int taken(IwarpStage.Side side) throws RdmaException {
        int taken = 0;
        while (side.completions.poll(side.completion)) {
            assertThat(side.completion.isSuccess()).as(side.completion.toString()).isTrue();
            taken++;
        }
        return taken;
    }

    private static void assertHasOnly(IwarpStage.Side side, byte others) {
        byte[] wanted = new byte[LENGTH];
        Arrays.fill(wanted, others);
        for (int at : new int[]{COPY, INBOX}) {
            assertThat(side.memory.asSlice(at, LENGTH).mismatch(MemorySegment.ofArray(wanted)))
                    .isEqualTo(-1);
        }
    }
}
