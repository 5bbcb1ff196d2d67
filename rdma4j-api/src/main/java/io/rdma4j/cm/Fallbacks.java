// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.cm;

import io.rdma4j.connection.PortSpace;
import io.rdma4j.spi.AddressScope;
import org.jspecify.annotations.Nullable;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import java.util.function.Predicate;

/**
 * Destinations where the best device found nobody and another one saw a listener. Each is remembered until that one fails to
 * connect as well, until the best one connects, or for {@link #LASTING}. Thread safe; takes no lock for long.
 */
final class Fallbacks {
    static final Duration LASTING = Duration.ofSeconds(30);
    static final Fallbacks OF_PROCESS = new Fallbacks(System::nanoTime);
    /** A program may try many destinations. */
    static final int MOST = 1024;

    private final LongSupplier clockNs;
    private final Map<Destination, Fallback> all = new ConcurrentHashMap<>();

    /** @param scope the interface of a link-local address, at which the address itself does not look when it is compared */
    private record Destination(PortSpace space, InetSocketAddress address, int scope) {
        Destination(PortSpace space, InetSocketAddress address) {
            this(space, address, AddressScope.of(address.getAddress()));
        }
    }

    private record Fallback(String missing, String seeing, long sinceNs) {}

    /** @param clockNs as {@link System#nanoTime} */
    Fallbacks(LongSupplier clockNs) {
        this.clockNs = clockNs;
    }

    /**
     * Remembers a destination.
     *
     * @param missing the name of the device that found nobody there
     * @param seeing the name of the one that saw a listener
     */
    void add(PortSpace space, InetSocketAddress destination, String missing, String seeing) {
        if (all.size() >= MOST) {
            all.values().removeIf(this::isOver);
        }
        if (all.size() < MOST) {
            all.put(new Destination(space, destination),
                    new Fallback(missing, seeing, clockNs.getAsLong()));
        }
    }

    /** {@return the name of the device to take for a destination, null for the best} */
    @Nullable
    String towards(PortSpace space, InetSocketAddress address) {
        if (all.isEmpty()) {
            return null;
        }
        Destination destination = new Destination(space, address);
        Fallback known = all.get(destination);
        if (known == null) {
            return null;
        }
        if (isOver(known)) {
            all.remove(destination, known);
            return null;
        }
        return known.seeing;
    }

    private boolean isOver(Fallback known) {
        return clockNs.getAsLong() - known.sinceNs >= LASTING.toNanos();
    }

    /** A device has connected: if it is the one that found nobody before, it is the best again. */
    void onFound(PortSpace space, InetSocketAddress destination, String device) {
        forget(new Destination(space, destination), known -> known.missing.equals(device));
    }

    /** A device has not connected: if it is the one that was to be taken, the best is tried again. */
    void onNotFound(PortSpace space, InetSocketAddress destination, String device) {
        forget(new Destination(space, destination), known -> known.seeing.equals(device));
    }

    private void forget(Destination destination, Predicate<Fallback> isOld) {
        if (!all.isEmpty()) {
            all.computeIfPresent(destination,
                    (there, known) -> isOld.test(known) ? null : known);
        }
    }
}
