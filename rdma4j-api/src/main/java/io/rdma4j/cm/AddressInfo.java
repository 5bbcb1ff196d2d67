// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.cm;

import io.rdma4j.connection.PortSpace;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The result of looking up a node name and a service: addresses, port space and type of queue pair.
 *
 * <p>C: {@code struct} {@index rdma_addrinfo}; the list takes the place of {@index ai_next of struct rdma_addrinfo} and of
 * {@index rdma_freeaddrinfo}. Route and connection data ({@index ai_route of struct rdma_addrinfo},
 * {@index ai_connect of struct rdma_addrinfo}) exist on InfiniBand alone.
 *
 * <p>Immutable; equal if all addresses and values are. A later version may have further ones.
 *
 * @since 0.1.0
 */
public final class AddressInfo {
    private final boolean isPassive;
    private final PortSpace portSpace;
    private final QueuePairType queuePairType;
    private final @Nullable InetSocketAddress source;
    private final @Nullable InetSocketAddress destination;

    AddressInfo(boolean isPassive, PortSpace portSpace, QueuePairType queuePairType,
            @Nullable InetSocketAddress source, @Nullable InetSocketAddress destination) {
        this.isPassive = isPassive;
        this.portSpace = portSpace;
        this.queuePairType = queuePairType;
        this.source = source;
        this.destination = destination;
    }

    /** {@return whether it is for a listener} C: {@index RAI_PASSIVE} of {@index ai_flags of struct rdma_addrinfo}. */
    public boolean isPassive() {
        return isPassive;
    }

    /** {@return the port space} C: {@index ai_port_space of struct rdma_addrinfo}. */
    public PortSpace portSpace() {
        return portSpace;
    }

    /** {@return the type of queue pair} C: {@index ai_qp_type of struct rdma_addrinfo}. */
    public QueuePairType queuePairType() {
        return queuePairType;
    }

    /**
     * {@return the local address, or null to let the route to the destination decide} C:
     * {@index ai_src_addr of struct rdma_addrinfo}.
     */
    public @Nullable InetSocketAddress source() {
        return source;
    }

    /** {@return the peer's address, or null for a listener} C: {@index ai_dst_addr of struct rdma_addrinfo}. */
    public @Nullable InetSocketAddress destination() {
        return destination;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof AddressInfo that && isPassive == that.isPassive
                && portSpace == that.portSpace && queuePairType == that.queuePairType
                && Objects.equals(source, that.source)
                && Objects.equals(destination, that.destination);
    }

    @Override
    public int hashCode() {
        return Objects.hash(isPassive, portSpace, queuePairType, source, destination);
    }

    /** {@return the addresses and what they are for, in one line} */
    @Override
    public String toString() {
        return (isPassive ? "listen at " + source
                : "connect to " + destination + (source == null ? "" : " from " + source))
                + " " + portSpace + " " + queuePairType;
    }

    /**
     * How to resolve.
     *
     * <p>C: the {@code RAI_} flags.
     *
     * <p>A later version may add constants, so a {@code switch} needs a {@code default}.
     */
    public enum Flag {
        /** The addresses are for a listener. C: {@index RAI_PASSIVE}. */
        PASSIVE,
        /** The node is a numeric address; no name is looked up. C: {@index RAI_NUMERICHOST}. */
        NUMERIC_HOST,
        /** The node is read as an address of the family given. C: {@index RAI_FAMILY}. */
        FAMILY
    }

    /**
     * What to look up.
     *
     * <p>C: the {@code hints} of {@index rdma_getaddrinfo}. A mutable object of the caller, copied when used.
     */
    public static final class Hints {
        private final Set<Flag> flags = EnumSet.noneOf(Flag.class);
        private @Nullable StandardProtocolFamily family;
        private @Nullable PortSpace portSpace;
        private @Nullable QueuePairType queuePairType;
        private @Nullable InetSocketAddress source;
        private @Nullable InetSocketAddress destination;

        /** Creates hints for a connection in port space TCP. */
        public Hints() {}

        /**
         * Creates a copy.
         *
         * @param other the hints that are copied
         */
        public Hints(Hints other) {
            flags.addAll(other.flags);
            family = other.family;
            portSpace = other.portSpace;
            queuePairType = other.queuePairType;
            source = other.source;
            destination = other.destination;
        }

        /**
         * Adds flags ({@code ai_flags}).
         *
         * @param first one
         * @param more further ones
         */
        public Hints set(Flag first, Flag... more) {
            flags.add(first);
            flags.addAll(List.of(more));
            return this;
        }

        /** Asks for addresses of one IP version only ({@index ai_family of struct rdma_addrinfo}). */
        public Hints family(StandardProtocolFamily value) {
            family = value;
            return this;
        }

        /** Sets the port space ({@code ai_port_space}). */
        public Hints portSpace(PortSpace value) {
            portSpace = value;
            return this;
        }

        /** Sets the type of queue pair ({@code ai_qp_type}). */
        public Hints queuePairType(QueuePairType value) {
            queuePairType = value;
            return this;
        }

        /** Sets the local address ({@code ai_src_addr}). */
        public Hints source(InetSocketAddress value) {
            source = value;
            return this;
        }

        /** Sets the peer's address, for use without a node ({@code ai_dst_addr}). */
        public Hints destination(InetSocketAddress value) {
            destination = value;
            return this;
        }

        private boolean has(Flag flag) {
            return flags.contains(flag);
        }

        private PortSpace space() {
            PortSpace wanted = portSpace;
            if (wanted != null) {
                return wanted;
            }
            return queuePairType == QueuePairType.UD ? PortSpace.UDP : PortSpace.TCP;
        }

        private QueuePairType type() {
            QueuePairType wanted = queuePairType;
            return wanted == null ? space().usualType() : wanted;
        }

        void check() throws RdmaException {
            if (has(Flag.FAMILY) && family == null) {
                throw new RdmaException(Errno.EINVAL, OPERATION,
                        "the flag FAMILY (RAI_FAMILY) needs a family");
            }
            requireFitting(space(), type());
        }

        @Override
        public String toString() {
            return "hints " + flags + (family == null ? "" : " " + family)
                    + (portSpace == null ? "" : " " + portSpace)
                    + (queuePairType == null ? "" : " " + queuePairType)
                    + (source == null ? "" : " from " + source)
                    + (destination == null ? "" : " to " + destination);
        }
    }

    private static final String OPERATION = "resolve address information";

    /**
     * {@return the addresses of a node and a service, for a connection in port space TCP}
     *
     * @param node a name or an address in text, null for none
     * @param service a port or the name of a service, null for none
     * @throws RdmaException as {@link #resolve(String, String, Hints)}
     */
    public static List<AddressInfo> resolve(@Nullable String node, @Nullable String service)
            throws RdmaException {
        return resolve(node, service, new Hints());
    }

    /**
     * {@return the addresses of a node and a service, at least one, the best first} It waits for the name
     * service. C: {@index rdma_getaddrinfo}.
     *
     * @param node a name or an address; null for the wildcard address of a listener, otherwise for
     *        loopback, or with no service either for the addresses in the hints
     * @param service a port number or the name of a service; null for port 0
     * @param hints what is looked for
     * @throws RdmaException EHOSTUNREACH for an unknown node or one without an address of the family,
     *         ENOENT for an unknown service, EINVAL for hints that contradict each other or a port above 65535
     */
    public static List<AddressInfo> resolve(@Nullable String node, @Nullable String service,
            Hints hints) throws RdmaException {
        hints.check();
        boolean isPassive = hints.has(Flag.PASSIVE);
        if (node == null && service == null) {
            return List.of(ofHints(hints, isPassive));
        }
        int port = service == null
                ? 0
                : ServiceNames.port(service, hints.type() == QueuePairType.UD ? "udp" : "tcp");
        List<AddressInfo> found = new ArrayList<>();
        for (InetAddress address : addresses(node, isPassive, hints)) {
            InetSocketAddress resolved = new InetSocketAddress(address, port);
            found.add(new AddressInfo(isPassive, hints.space(), hints.type(),
                    isPassive ? resolved : hints.source, isPassive ? null : resolved));
        }
        if (found.isEmpty()) {
            throw new RdmaException(Errno.EHOSTUNREACH, OPERATION,
                    "'" + node + "' has no address of family " + hints.family);
        }
        return List.copyOf(found);
    }

    private static AddressInfo ofHints(Hints hints, boolean isPassive) throws RdmaException {
        if ((isPassive ? hints.source : hints.destination) == null) {
            throw new RdmaException(Errno.EINVAL, OPERATION,
                    "a node, a service or an address in the hints is needed");
        }
        return new AddressInfo(isPassive, hints.space(), hints.type(), hints.source,
                isPassive ? null : hints.destination);
    }

    private static List<InetAddress> addresses(@Nullable String node, boolean isPassive,
            Hints hints) throws RdmaException {
        boolean wantsIpv6 = hints.family == StandardProtocolFamily.INET6;
        if (node == null) {
            return List.of(InetAddress.ofLiteral(isPassive
                    ? (wantsIpv6 ? "::" : "0.0.0.0")
                    : (wantsIpv6 ? "::1" : "127.0.0.1")));
        }
        List<InetAddress> fitting = new ArrayList<>();
        for (InetAddress address : lookUp(node, hints)) {
            if (hints.family == null || (address instanceof Inet4Address) != wantsIpv6) {
                fitting.add(address);
            }
        }
        return fitting;
    }

    private static InetAddress[] lookUp(String node, Hints hints) throws RdmaException {
        try {
            return hints.has(Flag.NUMERIC_HOST)
                    ? new InetAddress[]{InetAddress.ofLiteral(node)}
                    : InetAddress.getAllByName(node);
        } catch (IllegalArgumentException e) {
            throw new RdmaException(Errno.EHOSTUNREACH, OPERATION, "'" + node
                    + "' is no address in digits, as NUMERIC_HOST (RAI_NUMERICHOST) demands", e);
        } catch (UnknownHostException e) {
            throw new RdmaException(Errno.EHOSTUNREACH, OPERATION, "unknown host '" + node + "'",
                    e);
        }
    }

    /** Checks that ids of a port space can have queue pairs of a type. */
    static void requireFitting(PortSpace space, QueuePairType type) throws RdmaException {
        Set<QueuePairType> types = space.types();
        if (!types.contains(type)) {
            String fitting = types.stream().map(QueuePairType::name)
                    .collect(Collectors.joining(" or "));
            throw new RdmaException(Errno.EINVAL, "create id", "port space " + space
                    + " takes queue pairs of type " + fitting + ", not " + type);
        }
    }

    /** {@return the address to which a passive endpoint binds} */
    InetSocketAddress sourceToBind() throws RdmaException {
        return present(source, "source");
    }

    /** {@return the address to which an active endpoint connects} */
    InetSocketAddress destinationToResolve() throws RdmaException {
        return present(destination, "destination");
    }

    private static InetSocketAddress present(@Nullable InetSocketAddress address, String which)
            throws RdmaException {
        if (address == null) {
            throw new RdmaException(Errno.EINVAL, "create endpoint",
                    "the address information has no " + which + " address");
        }
        return address;
    }
}
