// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.cm;

import io.rdma4j.connection.PortSpace;
import io.rdma4j.spi.PortAuthority;
import io.rdma4j.spi.PortReservation;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;

/**
 * The port spaces of the kernel's connection manager, which all programs share; on iWARP, they are TCP's ports. A
 * reservation is an id bound to the port, which a connection or a listener then goes on with. Thread safe.
 *
 * <p>The wildcard address is reserved for both IP versions, even if only one is wanted, so two ids that each want one
 * version of the same port get it only if both share it. Each version has an id of its own: siw treats a connection over
 * IPv4 to an id at {@code ::} as one over IPv6, and the kernel finds no device for its address.
 */
public final class KernelPorts implements PortAuthority {
    private static final InetAddress ANY = any(16);
    private static final InetAddress ANY_IPV4 = any(4);
    /** How often another port is tried, if one that the kernel chose for IPv6 is taken for IPv4. */
    private static final int TRIES = 16;
    private static final String OPERATION = "bind address";

    private final CmChannel channel;

    /** @param channel of all devices */
    public KernelPorts(CmChannel channel) {
        this.channel = channel;
    }

    private static InetAddress any(int length) {
        try {
            return InetAddress.getByAddress(new byte[length]);
        } catch (UnknownHostException e) {
            throw new IllegalStateException(length + " bytes are an address", e);
        }
    }

    /**
     * Reserves a port with the kernel, for all its RDMA devices. C: {@code rdma_bind_addr}.
     *
     * @throws RdmaException EADDRINUSE if another program has it, ENODEV if no RDMA device has the address, EACCES if the
     *         port is for privileged programs
     */
    @Override
    public PortReservation reserve(PortSpace space, InetSocketAddress address, boolean isShared)
            throws RdmaException {
        return new Reserved(bound(channel, space, address, isShared));
    }

    @Override
    public boolean hasOneWildcardListener() {
        return true;
    }

    /** {@return ids with an address: those that were reserved, if they are there, or new ones} */
    static BoundIds take(CmChannel channel, PortSpace space, @Nullable PortReservation reservation,
            InetSocketAddress address) throws RdmaException {
        BoundIds reserved = reservation instanceof Reserved own ? own.take() : null;
        return reserved == null ? bound(channel, space, address, false) : reserved;
    }

    /**
     * {@return an id with an address, for unreliable connections} A reserved id has the other type, so it is replaced and
     * the port is free for a moment. No device that needs an id for each IP version supports such connections.
     */
    static NativeId takeUnreliable(CmChannel channel, PortSpace space,
            @Nullable PortReservation reservation, InetSocketAddress address)
            throws RdmaException {
        if (reservation != null) {
            reservation.release();
        }
        if (!address.getAddress().isAnyLocalAddress()) {
            return channel.create(space, QueuePairType.UC, address, OPERATION);
        }
        try {
            return channel.create(space, QueuePairType.UC,
                    new InetSocketAddress(ANY, address.getPort()), OPERATION);
        } catch (RdmaException e) {
            requireNoIpv6(e);
            return channel.create(space, QueuePairType.UC, address, OPERATION);
        }
    }

    private static BoundIds bound(CmChannel channel, PortSpace space, InetSocketAddress address,
            boolean isShared) throws RdmaException {
        if (!address.getAddress().isAnyLocalAddress()) {
            return BoundIds.of(bound(channel, space, address, isShared, false));
        }
        for (int tries = 1;; tries++) {
            try {
                return boundForBoth(channel, space, address.getPort(), isShared);
            } catch (RdmaException e) {
                if (address.getPort() != 0 || tries == TRIES) {
                    throw e;
                }
            }
        }
    }

    private static BoundIds boundForBoth(CmChannel channel, PortSpace space, int port,
            boolean isShared) throws RdmaException {
        NativeId first;
        try {
            first = bound(channel, space, new InetSocketAddress(ANY, port), isShared, true);
        } catch (RdmaException e) {
            requireNoIpv6(e);
            return BoundIds.of(bound(channel, space, new InetSocketAddress(ANY_IPV4, port),
                    isShared, false));
        }
        try {
            return new BoundIds(first, bound(channel, space,
                    new InetSocketAddress(ANY_IPV4, first.local(OPERATION).getPort()), isShared,
                    true));
        } catch (RdmaException e) {
            first.destroy();
            throw e;
        }
    }

    /** @throws RdmaException the refusal, if it is not that the system has no IPv6 */
    private static void requireNoIpv6(RdmaException refusal) throws RdmaException {
        if (refusal.errno() == Errno.EADDRINUSE || refusal.errno() == Errno.EACCES) {
            throw refusal;
        }
    }

    private static NativeId bound(CmChannel channel, PortSpace space, InetSocketAddress address,
            boolean isShared, boolean isOwnVersionOnly) throws RdmaException {
        NativeId id = channel.create(space, OPERATION);
        try {
            if (isShared) {
                id.shareAddress();
            }
            if (isOwnVersionOnly) {
                id.ownVersionOnly();
            }
            id.bind(address);
            return id;
        } catch (RdmaException e) {
            id.destroy();
            throw e;
        }
    }

    /** A reserved port, until it is taken over. */
    private static final class Reserved implements PortReservation {
        private @Nullable BoundIds ids;

        Reserved(BoundIds ids) {
            this.ids = ids;
        }

        /** {@return the ids, which then belong to the caller; null if they were taken already} */
        synchronized @Nullable BoundIds take() {
            BoundIds taken = ids;
            ids = null;
            return taken;
        }

        @Override
        public void release() {
            BoundIds left = take();
            if (left != null) {
                left.destroy();
            }
        }
    }
}
