// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.programs;

import io.rdma4j.sockets.RuledSelectorProvider;
import org.jgroups.BytesMessage;
import org.jgroups.JChannel;
import org.jgroups.Message;
import org.jgroups.Receiver;
import org.jgroups.protocols.TCPPING;
import org.jgroups.protocols.TCP_NIO2;
import org.jgroups.protocols.UNICAST3;
import org.jgroups.protocols.pbcast.GMS;
import org.jgroups.protocols.pbcast.NAKACK2;
import org.jgroups.protocols.pbcast.STABLE;
import org.jgroups.util.DefaultSocketFactory;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Two members of a JGroups cluster that is given a provider by its socket factory. */
public final class JGroupsProgram {
    private static final int MESSAGES = 200;
    private static final int BYTES = 10_000;
    private static final int PORT = 7811;

    private JGroupsProgram() {}

    /** What a program passes that wants its own channels. */
    private static final class Factory extends DefaultSocketFactory {
        private final SelectorProvider provider = new RuledSelectorProvider("rdma");

        @Override
        public SelectorProvider getSelectorProvider() {
            return provider;
        }

        @Override
        public SocketChannel createSocketChannel(String name) throws IOException {
            return provider.openSocketChannel();
        }

        @Override
        public ServerSocketChannel createServerSocketChannel(String name) throws IOException {
            return provider.openServerSocketChannel();
        }
    }

    public static void main(String[] arguments) throws Exception {
        CountDownLatch received = new CountDownLatch(MESSAGES);
        try (JChannel one = member(PORT); JChannel other = member(PORT + 1)) {
            other.setReceiver(new Receiver() {
                @Override
                public void receive(Message message) {
                    byte[] expected = SeededBytes.of(MESSAGES - (int) received.getCount(), BYTES);
                    if (Arrays.equals(message.<byte[]>getPayload(), expected)) {
                        received.countDown();
                    }
                }
            });
            one.connect("cluster");
            other.connect("cluster");
            for (int i = 0; i < MESSAGES; i++) {
                one.send(new BytesMessage(other.getAddress(), SeededBytes.of(i, BYTES)));
            }
            boolean isAll = received.await(20, TimeUnit.SECONDS);
            System.out.println(one.getView().size() + " members, "
                    + (isAll ? "all messages" : received.getCount() + " messages missing"));
        }
    }

    private static JChannel member(int port) throws Exception {
        TCP_NIO2 transport = new TCP_NIO2();
        transport.setBindAddress(InetAddress.getLoopbackAddress());
        transport.setBindPort(port);
        transport.setSocketFactory(new Factory());
        transport.disableDiagnostics();
        TCPPING discovery = new TCPPING();
        discovery.setInitialHosts(
                List.of(new InetSocketAddress(InetAddress.getLoopbackAddress(), PORT)));
        return new JChannel(transport, discovery, new NAKACK2(), new UNICAST3(), new STABLE(),
                new GMS());
    }
}
