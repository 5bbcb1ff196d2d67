// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.concurrent.atomic.AtomicLong;

/** What channels go over: TCP of the JDK, a software device, or what rules say. */
enum Transport {
    TCP(SelectorProvider.provider(), ""),
    ROCE(RdmaSelectorProvider.INSTANCE, "roce_lo"),
    IWARP(RdmaSelectorProvider.INSTANCE, "iwarp_lo"),
    RULED_RDMA("rdma", "roce_lo"),
    RULED_TCP("tcp", "roce_lo"),
    RULED_AUTO("auto", "roce_lo"),
    /** Whose peer listens over TCP alone. */
    RULED_FALLBACK("connect:*=auto,*=tcp", "roce_lo");

    /**
     * Ports that neither the system nor this library gives to whoever asks for any: other tests, also of processes beside this
     * one, do not get them by chance.
     */
    private static final int FIRST_UNUSED = 20_000;
    private static final int UNUSED = 12_768;
    private static final AtomicLong NEXT_UNUSED = new AtomicLong(
            ProcessHandle.current().pid() * 97);

    // Providers have no state of their own.
    @SuppressWarnings("ImmutableEnumChecker")
    private final SelectorProvider provider;
    private final String device;
    private final String rules;

    Transport(SelectorProvider provider, String device) {
        this(provider, device, "");
    }

    Transport(String rules, String device) {
        this(new RuledSelectorProvider(rules), device, rules);
    }

    Transport(SelectorProvider provider, String device, String rules) {
        this.provider = provider;
        this.device = device;
        this.rules = rules;
    }

    /** {@return the text of the rules, empty if none decide} */
    String rules() {
        return rules;
    }

    String device() {
        return device;
    }

    SocketChannel open() throws IOException {
        SocketChannel channel = provider.openSocketChannel();
        return this == TCP ? channel : channel.setOption(RdmaSocketOptions.RDMA_DEVICE, device);
    }

    ServerSocketChannel openListener() throws IOException {
        ServerSocketChannel channel = provider.openServerSocketChannel();
        return this == TCP ? channel : channel.setOption(RdmaSocketOptions.RDMA_DEVICE, device);
    }

    Selector openSelector() throws IOException {
        return provider.openSelector();
    }

    ServerSocketChannel listen() throws IOException {
        return openListener().bind(loopback(0), 50);
    }

    static InetSocketAddress loopback(int port) {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
    }

    /** {@return an address that nobody listens at, another one each time} */
    InetSocketAddress unusedAddress() throws IOException {
        for (int i = 0; i < UNUSED; i++) {
            InetSocketAddress address = loopback(
                    FIRST_UNUSED + (int) (NEXT_UNUSED.getAndIncrement() % UNUSED));
            if (TCP.isUnused(address) && (this == TCP || ROCE.isUnused(address))) {
                return address;
            }
        }
        throw new BindException("no port is unused");
    }

    private boolean isUnused(InetSocketAddress address) throws IOException {
        try (ServerSocketChannel listener = openListener()) {
            return address.equals(listener.bind(address).getLocalAddress());
        } catch (BindException taken) {
            return false;
        }
    }
}
