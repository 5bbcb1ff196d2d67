// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.engine;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmEventType;
import io.rdma4j.cm.CmId;
import io.rdma4j.verbs.RdmaException;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

/**
 * Keeps a device open for a moment after its last connection has ended, by an id of its own: a device is open as long as an id has it, and to open it
 * takes longer than to connect. Many clients connect again at once. For the leader alone.
 */
final class KeptDevices {
    private static final System.Logger LOG = System.getLogger(KeptDevices.class.getName());
    /** After the last connection. */
    private static final Duration LONGEST = Duration.ofSeconds(1);

    private final SocketEngine engine;
    /** By the name of the device. */
    private final Map<String, Kept> kept = new HashMap<>();

    KeptDevices(SocketEngine engine) {
        this.engine = engine;
    }

    /** A device, and the id that has it. */
    private final class Kept implements EngineEvents.EventUser {
        private final String device;
        private final CmId id;
        private long usedNs;

        Kept(String device, InetSocketAddress local) throws RdmaException {
            this.device = device;
            id = engine.newId(this);
            try {
                id.device(device);
                id.bindAddress(new InetSocketAddress(local.getAddress(), 0));
            } catch (RdmaException | RuntimeException e) {
                id.close();
                throw e;
            }
            LeaderTasks.Timer _ = engine.schedule(LONGEST, this::look);
        }

        private void look() {
            Duration left = LONGEST.minusNanos(System.nanoTime() - usedNs);
            if (left.isPositive() && kept.get(device) == this) {
                LeaderTasks.Timer _ = engine.schedule(left, this::look);
            } else {
                release();
            }
        }

        private void release() {
            kept.remove(device, this);
            Freeing.all(id::close);
        }

        @Override
        public void onEvent(CmEvent event) {
            if (event.type() == CmEventType.DEVICE_REMOVAL) {
                // It is acknowledged when this returns, and can be closed then.
                engine.execute(this::release);
            }
        }
    }

    /** A connection that this side has made is freed next. */
    void onEnd(CmId connection) {
        try {
            String device = connection.context().device().name();
            Kept present = kept.get(device);
            if (present == null) {
                present = new Kept(device, connection.localAddress());
                kept.put(device, present);
            }
            present.usedNs = System.nanoTime();
        } catch (RdmaException | RuntimeException e) {
            // The device has gone, for instance: the next connection opens another.
            LOG.log(System.Logger.Level.DEBUG, "a device is not kept open", e);
        }
    }
}
