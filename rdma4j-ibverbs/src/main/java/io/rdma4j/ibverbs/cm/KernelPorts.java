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
 * <p>The wildcard address is taken for both IP versions, also where one is wanted, so two ids that each want their own
 * version of one port get it only if both share it.
 */
public final class KernelPorts implements PortAuthority {
    private static final InetAddress ANY = any();
    private static final String OPERATION = "bind address";

    private final CmChannel channel;

    /** @param channel of all devices */
    public KernelPorts(CmChannel channel) {
        this.channel = channel;
    }

    private static InetAddress any() {
        try {
            return InetAddress.getByAddress(new byte[16]);
        } catch (UnknownHostException e) {
            throw new IllegalStateException("16 bytes are an address", e);
        }
    }

    /**
     * {@inheritDoc} C: {@code rdma_bind_addr}.
     *
     * @throws RdmaException EADDRINUSE if another program has it, ENODEV if no RDMA device has the address, EACCES if the
     *         port is for privileged programs
     */
    @Override
    public PortReservation reserve(PortSpace space, InetSocketAddress address, boolean isShared)
            throws RdmaException {
        return new Reserved(bound(address, place -> boundAt(channel, space, place, isShared)));
    }

    @Override
    public boolean hasOneWildcardListener() {
        return true;
    }

    /** {@return an id with an address: the one that was reserved, if it is there, or a new one} */
    static NativeId take(CmChannel channel, PortSpace space, @Nullable PortReservation reservation,
            InetSocketAddress address) throws RdmaException {
        NativeId reserved = reservation instanceof Reserved own ? own.take() : null;
        return reserved == null
                ? bound(address, place -> boundAt(channel, space, place, false))
                : reserved;
    }

    /**
     * {@return an id with an address, for unreliable connections} An id that was reserved is of the other type, so the port
     * is free for a moment.
     */
    static NativeId takeUnreliable(CmChannel channel, PortSpace space,
            @Nullable PortReservation reservation, InetSocketAddress address)
            throws RdmaException {
        if (reservation != null) {
            reservation.release();
        }
        return bound(address,
                place -> channel.create(space, QueuePairType.UC, place, OPERATION));
    }

    /** Makes an id with an address. */
    private interface Binding {
        NativeId at(InetSocketAddress address) throws RdmaException;
    }

    private static NativeId bound(InetSocketAddress address, Binding binding)
            throws RdmaException {
        if (!address.getAddress().isAnyLocalAddress()) {
            return binding.at(address);
        }
        try {
            return binding.at(new InetSocketAddress(ANY, address.getPort()));
        } catch (RdmaException e) {
            if (e.errno() == Errno.EADDRINUSE || e.errno() == Errno.EACCES) {
                throw e;
            }
            // A system without IPv6.
            return binding.at(address);
        }
    }

    private static NativeId boundAt(CmChannel channel, PortSpace space, InetSocketAddress address,
            boolean isShared) throws RdmaException {
        NativeId id = channel.create(space, OPERATION);
        try {
            if (isShared) {
                id.shareAddress();
            }
            id.bind(address);
            return id;
        } catch (RdmaException e) {
            id.destroy();
            throw e;
        }
    }

    /** A port, until an id goes on with it. */
    private static final class Reserved implements PortReservation {
        private @Nullable NativeId id;

        Reserved(NativeId id) {
            this.id = id;
        }

        /** {@return the id, which is the caller's from now on; null if it was taken already} */
        synchronized @Nullable NativeId take() {
            NativeId taken = id;
            id = null;
            return taken;
        }

        @Override
        public void release() {
            NativeId left = take();
            if (left != null) {
                left.destroy();
            }
        }
    }
}
