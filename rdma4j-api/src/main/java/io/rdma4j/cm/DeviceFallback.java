// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.cm;

import io.rdma4j.connection.PortSpace;
import io.rdma4j.verbs.Errno;
import org.jspecify.annotations.Nullable;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * Looks once whether another device sees a listener at the destination of an id whose own device has found nobody there. The
 * look may take seconds, so a thread of its own takes it.
 */
final class DeviceFallback {
    private final PortSpace space;
    private final IdAddresses addresses;
    /** Guarded by this, as are the others. */
    private final List<Consumer<@Nullable String>> waiting = new ArrayList<>();
    private boolean isBegun;
    private boolean isOver;
    private @Nullable String found;

    DeviceFallback(PortSpace space, IdAddresses addresses) {
        this.space = space;
        this.addresses = addresses;
    }

    /** {@return whether packets of another transport may pass to a destination, though those of one do not} */
    static boolean isOfOneTransport(Errno reason) {
        return reason == Errno.ETIMEDOUT || reason == Errno.ECONNREFUSED || reason == Errno.EPERM;
    }

    /**
     * Looks for another device, unless the program has named the one it wants.
     *
     * @param then gets its name, null if there is none: at once if that is known, otherwise from the thread that looks
     */
    void find(Consumer<@Nullable String> then) {
        if (isKnown(then)) {
            then.accept(found());
        }
    }

    /** {@return whether there is nothing to wait for} */
    private synchronized boolean isKnown(Consumer<@Nullable String> then) {
        if (isOver || !addresses.hasChoice()) {
            return true;
        }
        waiting.add(then);
        if (!isBegun) {
            isBegun = true;
            // No virtual one: the program's may keep all carriers.
            try {
                Thread.ofPlatform().daemon().name("rdma4j-fallback").start(this::look);
            } catch (OutOfMemoryError noThread) {
                // As if there were no other device.
                isOver = true;
                waiting.clear();
                return true;
            }
        }
        return false;
    }

    private synchronized @Nullable String found() {
        return found;
    }

    private void look() {
        String device = null;
        try {
            device = seeing();
        } finally {
            for (Consumer<@Nullable String> each : end(device)) {
                each.accept(device);
            }
        }
    }

    private @Nullable String seeing() {
        InetSocketAddress local = addresses.local();
        InetSocketAddress peer = addresses.peer();
        DeviceLease own = addresses.lease();
        if (local == null || peer == null || own == null) {
            return null;
        }
        return addresses.devices().seeingListener(space, local.getAddress(), peer,
                own.device().name());
    }

    private synchronized List<Consumer<@Nullable String>> end(@Nullable String device) {
        isOver = true;
        found = device;
        return List.copyOf(waiting);
    }

    // ---------------------------------------------------------------- for the ids that follow

    /** What becomes known of the id's destination. */
    private interface DestinationReport {
        void accept(InetSocketAddress destination, String device);
    }

    private void note(DestinationReport report) {
        InetSocketAddress peer = addresses.peer();
        DeviceLease own = addresses.lease();
        if (peer != null && own != null) {
            report.accept(peer, own.device().name());
        }
    }

    /** The id is connected. */
    void onFound() {
        note((peer, own) -> Fallbacks.OF_PROCESS.onFound(space, peer, own));
    }

    /** The id could not be connected. */
    void onNotFound() {
        note((peer, own) -> Fallbacks.OF_PROCESS.onNotFound(space, peer, own));
    }

    /** The id could not be connected, and another device sees a listener. */
    void onOther(String device) {
        note((peer, own) -> Fallbacks.OF_PROCESS.add(space, peer, own, device));
    }
}
