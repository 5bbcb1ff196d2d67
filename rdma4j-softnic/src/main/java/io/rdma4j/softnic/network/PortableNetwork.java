// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network;

import io.rdma4j.jdk.JdkProvider;
import io.rdma4j.protocol.roce.wire.Path;
import io.rdma4j.spi.MemoryErrors;
import io.rdma4j.spi.SocketErrors;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.RdmaException;
import jdk.net.ExtendedSocketOptions;
import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.net.SocketOption;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.nio.channels.Channel;
import java.nio.channels.DatagramChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The portable network: a {@link DatagramChannel} for each address, a {@link Selector} to wait. Packets leave by the interface
 * that the system's routing chooses, and how long they may be on a route is not known: the JDK has no options for that.
 */
public final class PortableNetwork implements DatagramNetwork {
    private static final System.Logger LOG = System.getLogger(PortableNetwork.class.getName());
    private static final int WANTED_SOCKET_BUFFER = 4 << 20;

    private final NetworkInterface networkInterface;
    private final Selector selector;
    private final Ports ports = new Ports();
    private final AtomicBoolean hasWarned = new AtomicBoolean();

    /**
     * @param networkInterface the interface that the device is on
     * @throws RdmaException as {@link Selectors#open}
     */
    public PortableNetwork(NetworkInterface networkInterface) throws RdmaException {
        this.networkInterface = networkInterface;
        selector = Selectors.open();
    }

    @Override
    public List<PacketPort> ports() {
        return ports.inOrder();
    }

    @Override
    public @Nullable PacketPort port(Gid local) {
        return ports.find(local);
    }

    @Override
    public PacketPort open(InetAddress local) throws RdmaException {
        DatagramChannel channel = null;
        try {
            channel = openOfKind(local);
            channel.configureBlocking(false);
            enlarge(channel, StandardSocketOptions.SO_RCVBUF);
            enlarge(channel, StandardSocketOptions.SO_SNDBUF);
            setForSending(channel, local);
            channel.bind(new InetSocketAddress(local, Path.UDP_PORT));
            return add(channel, local);
        } catch (RdmaException e) {
            close(channel);
            throw e;
        } catch (IOException e) {
            close(channel);
            throw AddressRefusal.ofBinding(local, e);
        } catch (OutOfMemoryError none) {
            close(channel);
            throw MemoryErrors.outOfMemory("open device", none);
        } catch (RuntimeException closing) {
            close(channel);
            throw closing;
        }
    }

    /** @throws RdmaException EAFNOSUPPORT if the process has no IPv6 */
    private static DatagramChannel openOfKind(InetAddress local)
            throws IOException, RdmaException {
        if (local instanceof Inet4Address) {
            return JdkProvider.provider().openDatagramChannel(StandardProtocolFamily.INET);
        }
        try {
            return JdkProvider.provider().openDatagramChannel(StandardProtocolFamily.INET6);
        } catch (UnsupportedOperationException none) {
            throw new RdmaException(Errno.EAFNOSUPPORT, "open device", "this process has no IPv6",
                    none);
        }
    }

    private void setForSending(DatagramChannel channel, InetAddress local)
            throws RdmaException {
        if (channel.supportedOptions().contains(ExtendedSocketOptions.IP_DONTFRAGMENT)) {
            try {
                channel.setOption(ExtendedSocketOptions.IP_DONTFRAGMENT, true);
            } catch (IOException | UnsupportedOperationException refused) {
                if (local instanceof Inet4Address) {
                    // Without fragments Linux sends Identification 0, which the ICRC counts on.
                    throw RdmaException.ofSystem(SocketErrors.numberOf(refused), "open device",
                            AddressRefusal.text(local) + ": the system does not let fragments be"
                                    + " forbidden: " + refused.getMessage(),
                            refused);
                }
            }
        }
        try {
            channel.setOption(StandardSocketOptions.IP_MULTICAST_IF, networkInterface);
        } catch (IOException | UnsupportedOperationException refused) {
            warnOfGroups(refused);
        }
    }

    private void warnOfGroups(Exception refused) {
        if (hasWarned.compareAndSet(false, true)) {
            LOG.log(System.Logger.Level.WARNING, "packets to multicast groups may leave by another"
                    + " interface than {0}, which the system does not let be named: {1}",
                    networkInterface.getName(), refused.getMessage());
        }
    }

    /** With the system's own size it works as well. */
    private static void enlarge(DatagramChannel channel, SocketOption<Integer> buffer) {
        try {
            channel.setOption(buffer, WANTED_SOCKET_BUFFER);
        } catch (IOException refused) {
            LOG.log(System.Logger.Level.DEBUG, "a socket keeps the size of its buffer", refused);
        }
    }

    private PacketPort add(DatagramChannel channel, InetAddress local) throws IOException {
        NioPort port = new NioPort(channel, Gid.of(local), networkInterface.getIndex());
        try {
            channel.register(selector, SelectionKey.OP_READ);
        } catch (IOException | RuntimeException e) {
            port.close();
            throw e;
        }
        selector.wakeup();
        return ports.add(port);
    }

    /** {@return false for the loopback interface of Linux, unlike those of other systems} */
    private boolean deliversGroups() {
        try {
            return !networkInterface.isLoopback() || networkInterface.supportsMulticast();
        } catch (SocketException gone) {
            return true;
        }
    }

    @Override
    public PacketPort join(Gid group) throws RdmaException {
        if (!group.isIpv4() && !deliversGroups()) {
            throw AddressRefusal.notDelivered(group, networkInterface);
        }
        InetAddress address = LinkScope.address(group, networkInterface.getIndex());
        DatagramChannel channel = null;
        try {
            channel = JdkProvider.provider().openDatagramChannel(address instanceof Inet4Address
                    ? StandardProtocolFamily.INET
                    : StandardProtocolFamily.INET6);
            channel.configureBlocking(false);
            enlarge(channel, StandardSocketOptions.SO_RCVBUF);
            channel.setOption(StandardSocketOptions.SO_REUSEADDR, true);
            // Bound to the group itself: otherwise it would receive the packets of every group that
            // any program has joined.
            channel.bind(new InetSocketAddress(address, Path.UDP_PORT));
            channel.join(address, networkInterface);
            return add(channel, address);
        } catch (IOException | UnsupportedOperationException e) {
            close(channel);
            throw AddressRefusal.notJoined(address, networkInterface, e.getMessage(), e);
        } catch (OutOfMemoryError none) {
            close(channel);
            throw MemoryErrors.outOfMemory("attach to multicast group", none);
        }
    }

    @Override
    public void leave(Gid group) {
        PacketPort port = ports.remove(group);
        if (port != null) {
            ((NioPort) port).close();
        }
    }

    @Override
    public void await(long timeoutNs) {
        try {
            if (timeoutNs <= 0) {
                selector.selectNow(PortableNetwork::ready);
            } else {
                // Zero would mean without end, and a millisecond is the shortest possible wait.
                selector.select(PortableNetwork::ready,
                        timeoutNs == Long.MAX_VALUE ? 0 : Math.max(1, timeoutNs / 1_000_000));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void ready(SelectionKey key) {
        // The thread that drives the ports reads them all.
    }

    @Override
    public void wake() {
        selector.wakeup();
    }

    @Override
    public void close() {
        for (PacketPort port : ports.inOrder()) {
            ((NioPort) port).close();
        }
        ports.clear();
        try {
            selector.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Closes a channel of this network; null is none. */
    static void close(@Nullable Channel channel) {
        if (channel != null) {
            try {
                channel.close();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
