// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.cmtools;

import io.rdma4j.cm.AddressInfo;
import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmEventChannel;
import io.rdma4j.cm.CmEventType;
import io.rdma4j.cm.CmId;
import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.tools.timing.WarmUpRounds;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.TransportType;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.Writer;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Objects;

/** Takes all connections through one step after the other. */
final class CmtimeClient {
    /** A step of one connection. */
    @FunctionalInterface
    private interface Doing {
        void take(int connection) throws RdmaException;
    }

    /** The most connections of a round of the warm-up. */
    private static final int MOST_TO_WARM_UP = 25;

    private final PrintWriter out;
    private final int retries;
    private final Duration timeout;
    private final Duration patience;
    private final StepTimes times;
    private final CmId[] ids;
    private final int[] retriesLeft;

    CmtimeClient(PrintWriter out, int connections, int retries, Duration timeout,
            Duration patience) {
        this.out = out;
        this.retries = retries;
        this.timeout = timeout;
        this.patience = patience;
        times = new StepTimes(connections);
        ids = new CmId[connections];
        retriesLeft = new int[connections];
    }

    /**
     * Connects to the server in rounds that are not measured; the server serves whoever comes. Not over iWARP: a C server
     * on siw did not answer the tenth connection.
     */
    void warmUp(AddressInfo info, Runnable reached) throws IOException {
        if (isOverIwarp(info)) {
            return;
        }
        print("warming up");
        PrintWriter nowhere = new PrintWriter(Writer.nullWriter());
        int connections = Math.min(ids.length, MOST_TO_WARM_UP);
        new WarmUpRounds(WarmUpRounds.Agreement.ALONE, 1, 1, 1)
                .play((number, messages) -> new CmtimeClient(nowhere,
                        Math.min(connections, messages), retries, timeout, patience).run(info,
                                reached));
    }

    private boolean isOverIwarp(AddressInfo info) throws IOException {
        try (CmId id = CmId.create(PortSpace.TCP)) {
            if (info.source() != null) {
                id.bindAddress(info.source());
            }
            id.resolveAddress(Objects.requireNonNull(info.destination()), timeout);
            return id.context().device().transport() == TransportType.IWARP;
        }
    }

    /** @param reached is run when all connections are made */
    void run(AddressInfo info, Runnable reached) throws IOException {
        InetSocketAddress source = info.source();
        InetSocketAddress server = Objects.requireNonNull(info.destination());
        try (CmEventChannel channel = CmEventChannel.create()) {
            try {
                step("creating id", CmtimeStep.CREATE_ID, i -> {
                    ids[i] = CmId.create(channel, PortSpace.TCP);
                    ids[i].userContext(i);
                });
                if (source != null) {
                    step("binding source address", CmtimeStep.BIND,
                            i -> ids[i].bindAddress(source));
                }
                steps(channel, "resolving address", CmtimeStep.RESOLVE_ADDRESS,
                        CmEventType.ADDR_RESOLVED, i -> ids[i].resolveAddress(server, timeout));
                steps(channel, "resolving route", CmtimeStep.RESOLVE_ROUTE,
                        CmEventType.ROUTE_RESOLVED, i -> ids[i].resolveRoute(timeout));
                step("creating qp", CmtimeStep.CREATE_QUEUE_PAIR,
                        i -> ids[i].createQueuePair(CmtimeServer.attributes()));
                steps(channel, "connecting", CmtimeStep.CONNECT, CmEventType.ESTABLISHED,
                        i -> ids[i].connect(new ConnectionParameters().responderResources(1)
                                .initiatorDepth(1).retryCount(retries).rnrRetryCount(0)
                                .flowControl(false)));
                reached.run();
                steps(channel, "disconnecting", CmtimeStep.DISCONNECT, CmEventType.DISCONNECTED,
                        i -> {
                            ids[i].disconnect();
                            ids[i].closeQueuePair();
                        });
                step("destroying id", CmtimeStep.DESTROY, i -> ids[i].close());
            } finally {
                for (CmId id : ids) {
                    if (id != null) {
                        id.close();
                    }
                }
            }
        }
        times.print(out);
    }

    /** A step that is done when the call returns. */
    private void step(String name, CmtimeStep step, Doing doing) throws RdmaException {
        print(name);
        times.beginAll(step, System.nanoTime());
        for (int i = 0; i < ids.length; i++) {
            times.begin(step, i, System.nanoTime());
            doing.take(i);
            times.end(step, i, System.nanoTime());
        }
        times.endAll(step, System.nanoTime());
    }

    /** A step of all connections at once, each done when its event comes. */
    private void steps(CmEventChannel channel, String name, CmtimeStep step, CmEventType done,
            Doing doing) throws IOException {
        print(name);
        times.beginAll(step, System.nanoTime());
        for (int i = 0; i < ids.length; i++) {
            retriesLeft[i] = retries;
            times.begin(step, i, System.nanoTime());
            doing.take(i);
        }
        for (int left = ids.length; left > 0;) {
            try (CmEvent event = channel.pollEvent(patience)) {
                if (event == null) {
                    throw new IOException("nothing came from the server for "
                            + patience.toSeconds() + " s; " + left + " of " + ids.length
                            + " connections wait for " + step.text());
                }
                if (event.id().userContext() instanceof Integer i && event.type() == done) {
                    times.end(step, i, System.nanoTime());
                    left--;
                } else {
                    retry(event, doing);
                }
            }
        }
        times.endAll(step, System.nanoTime());
    }

    private void retry(CmEvent event, Doing doing) throws IOException {
        switch (event.type()) {
            case ADDR_ERROR, ROUTE_ERROR -> {
                if (event.id().userContext() instanceof Integer i && retriesLeft[i]-- > 0) {
                    doing.take(i);
                    return;
                }
                fail(event);
            }
            case CONNECT_ERROR, UNREACHABLE, REJECTED, DISCONNECTED, DEVICE_REMOVAL -> fail(event);
            default -> {
                // The other events need no action here.
            }
        }
    }

    private static void fail(CmEvent event) throws IOException {
        throw new IOException("event: " + event.type().text() + ", error: " + event.status() + ": "
                + event.description(), event.failure("connect"));
    }

    private void print(String line) {
        out.println(line);
        out.flush();
    }
}
