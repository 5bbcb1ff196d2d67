// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.rdma;

import io.rdma4j.benchmarks.workload.Control;
import io.rdma4j.benchmarks.workload.Figures;
import io.rdma4j.benchmarks.workload.PairedWorkload;
import io.rdma4j.benchmarks.workload.Quantity;
import io.rdma4j.benchmarks.workload.Settings;
import io.rdma4j.benchmarks.workload.Stretch;
import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmEventChannel;
import io.rdma4j.cm.CmEventType;
import io.rdma4j.cm.CmId;
import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.RdmaDevices;
import io.rdma4j.verbs.RdmaException;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.function.IntConsumer;

/** Connections of the connection manager, set up and torn down one after the other by one client thread. */
public final class Connections implements PairedWorkload {
    private static final Duration PATIENCE = Duration.ofSeconds(2);
    private static final int BACKLOG = 64;
    /** Connections of iWARP keep their TCP port for a minute after their end; Linux has some 28,000. */
    private static final int MOST_OF_EACH = 12_000;

    /** Creates the workload. */
    public Connections() {}

    @Override
    public void serve(Settings settings, IntConsumer ready) throws IOException {
        // Open until the process ends, for a connection may just be under way then.
        DeviceContext _ = RdmaDevices.find(RdmaSide.device()).open();
        CmEventChannel channel = CmEventChannel.create();
        CmId listener = CmId.create(channel, PortSpace.TCP);
        InetAddress own = InetAddress.getLoopbackAddress();
        listener.bindAddress(new InetSocketAddress(own, 0));
        listener.listen(BACKLOG);
        try (Control control = Control.accept(ready)) {
            control.out().writeUTF(own.getHostAddress());
            control.out().writeInt(listener.localAddress().getPort());
            Thread.ofPlatform().daemon().start(() -> handle(channel));
            control.awaitEnd();
        }
    }

    private static void handle(CmEventChannel channel) {
        try {
            while (true) {
                CmEvent event = channel.awaitEvent();
                CmId id = event.id();
                boolean isOver;
                try (event) {
                    isOver = isOver(event.type(), id);
                }
                if (isOver) {
                    id.closeQueuePair();
                    id.close();
                }
            }
        } catch (RdmaException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static boolean isOver(CmEventType type, CmId id) throws RdmaException {
        return switch (type) {
            case CONNECT_REQUEST -> {
                id.createQueuePair();
                id.accept();
                yield false;
            }
            case DISCONNECTED -> {
                id.disconnect();
                yield true;
            }
            case CONNECT_ERROR, UNREACHABLE, REJECTED -> true;
            default -> false;
        };
    }

    @Override
    public Figures drive(Settings settings, int port) throws IOException {
        // Held as applications do: it would be closed and opened anew for each connection.
        try (DeviceContext _ = RdmaDevices.find(RdmaSide.device()).open();
                Control control = Control.connect(port)) {
            InetSocketAddress server = new InetSocketAddress(
                    InetAddress.ofLiteral(control.in().readUTF()), control.in().readInt());
            Stretch stretch = new Stretch(settings, MOST_OF_EACH);
            long done = 0;
            while (stretch.goesOn(done)) {
                connect(server);
                done++;
            }
            return new Figures().with(Quantity.CONNECTIONS_PER_SECOND, stretch.perSecond());
        }
    }

    private static void connect(InetSocketAddress server) throws RdmaException {
        try (CmId id = CmId.create(PortSpace.TCP)) {
            id.resolveAddress(server, PATIENCE);
            id.resolveRoute(PATIENCE);
            id.createQueuePair();
            id.connect(new ConnectionParameters());
            id.disconnect();
            id.closeQueuePair();
        }
    }
}
