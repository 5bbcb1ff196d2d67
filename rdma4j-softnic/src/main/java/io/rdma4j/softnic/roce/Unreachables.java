// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.roce;

import io.rdma4j.softnic.network.DatagramNetwork;
import io.rdma4j.softnic.network.PacketPort;
import io.rdma4j.softnic.network.SendFailures;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Gid;
import org.jspecify.annotations.Nullable;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;

/**
 * Why packets to destinations do not arrive, as the system of this host says. What concerns requests of the connection
 * manager is passed on in the next round, because requests end then and their handlers send. For the engine's owner.
 */
final class Unreachables implements SendFailures {
    private static final int MOST = 256;
    /** What is older says nothing about packets that are sent now. */
    private static final long FRESH_NS = 60_000_000_000L;

    private final DatagramNetwork network;
    private final LongSupplier clock;
    private final Map<Gid, Errno> unreported = new LinkedHashMap<>();
    private final Map<Gid, Seen> last = new LinkedHashMap<>();

    private record Seen(Errno why, long atNs) {}

    /** @param clock the engine's time */
    Unreachables(DatagramNetwork network, LongSupplier clock) {
        this.network = network;
        this.clock = clock;
    }

    @Override
    public void onFailure(Gid destination, Errno why) {
        unreported.put(destination, why);
        remember(destination, why);
    }

    private void remember(Gid destination, Errno why) {
        last.remove(destination);
        if (last.size() >= MOST) {
            last.remove(last.keySet().iterator().next());
        }
        last.put(destination, new Seen(why, clock.getAsLong()));
    }

    /** Looks for what the system reports. */
    void look() {
        List<PacketPort> ports = network.ports();
        for (int i = 0; i < ports.size(); i++) {
            ports.get(i).takeReports(this);
        }
    }

    /** What a port has to report is about packets of the past, and no request is to end for it. */
    void forget(PacketPort port) {
        port.takeReports(this::remember);
    }

    /** {@return whether something has not been passed on} */
    boolean hasNew() {
        return !unreported.isEmpty();
    }

    /** Passes on what is new. */
    void reportTo(SendFailures whom) {
        if (!unreported.isEmpty()) {
            Map<Gid, Errno> reported = Map.copyOf(unreported);
            unreported.clear();
            reported.forEach(whom::onFailure);
        }
    }

    /** {@return why packets to a destination have not arrived a short time ago, null if the system says nothing} */
    @Nullable
    Errno last(Gid destination) {
        Seen seen = last.get(destination);
        return seen == null || clock.getAsLong() - seen.atNs > FRESH_NS ? null : seen.why;
    }
}
