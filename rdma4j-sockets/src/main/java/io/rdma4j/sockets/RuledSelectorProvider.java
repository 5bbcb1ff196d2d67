// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import io.rdma4j.jdk.JdkProvider;
import io.rdma4j.jdk.OverDevices;
import io.rdma4j.jdk.TcpSockets;
import io.rdma4j.sockets.rules.AlwaysTcp;
import io.rdma4j.sockets.rules.SocketRules;
import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.net.ProtocolFamily;
import java.net.Socket;
import java.net.StandardProtocolFamily;
import java.nio.channels.Channel;
import java.nio.channels.DatagramChannel;
import java.nio.channels.Pipe;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.AbstractSelector;
import java.nio.channels.spi.SelectorProvider;
import java.util.Objects;

/**
 * Makes channels that go over RDMA or over TCP as rules say, and decide when they connect or bind. It can be the provider of the
 * JVM, for programs that know nothing of RDMA:
 *
 * <pre>
 * java -Djava.nio.channels.spi.SelectorProvider=io.rdma4j.sockets.RuledSelectorProvider
 *      -Drdma4j.sockets.rules=10.0.0.0/8=rdma,*=tcp
 *      --add-exports java.base/sun.nio.ch=ALL-UNNAMED ...
 * </pre>
 *
 * <p>{@code docs/howto/sockets.md} has the rules. Pipes and channels of Unix domain sockets are those of the JDK, and so are datagram
 * channels unless a rule is for them. Buffers of streams over RDMA have twice the size that
 * {@code SO_SNDBUF} and {@code SO_RCVBUF} set, up to 1 MiB. Thread safe.
 *
 * @since 0.1.0
 */
public final class RuledSelectorProvider extends SelectorProvider implements OverDevices {
    /** The property with the rules of the JVM's provider. Default: {@code rdma}, everything over RDMA. */
    public static final String RULES = "rdma4j.sockets.rules";

    private volatile @Nullable SocketRules rules;

    /**
     * A provider with the rules of the property {@value #RULES}. Called by the JVM while it has no provider, so it does nothing: the rules
     * are read when the first channel is opened, which fails if they are wrong.
     */
    public RuledSelectorProvider() {}

    /**
     * A provider with these rules.
     *
     * @param rules as {@code docs/howto/sockets.md} says, such as {@code 10.0.0.0/8=rdma,*=tcp}
     * @throws IllegalArgumentException naming the rule that is wrong, and what would be right
     */
    public RuledSelectorProvider(String rules) {
        this.rules = SocketRules.parse(rules);
    }

    private SocketRules rules() throws IOException {
        SocketRules known = rules;
        if (known == null) {
            try {
                known = SocketRules.parse(System.getProperty(RULES, ""));
            } catch (IllegalArgumentException e) {
                throw new IOException("-D" + RULES + ": " + e.getMessage(), e);
            }
            rules = known;
        }
        return known;
    }

    /**
     * Lets sockets that are no channels go by the rules as well: each {@link java.net.Socket} and {@link java.net.ServerSocket} that is made in this JVM from
     * now on decides when it connects or is bound. Not those of RMI, by which JMX looks at a JVM. Once in a JVM, for it has one factory of each, and before the program makes a server
     * socket of TLS, which does not accept any more afterwards.
     *
     * @throws IOException if the rules of the property are wrong, the JDK's own sockets are out of reach, or the JVM has one of the factories already
     */
    public void routeSockets() throws IOException {
        SocketRules decided = rules();
        TcpSockets.route(() -> new RuledStreamEndpoint(ofCaller(decided), asksForProxies()),
                () -> new RuledListeningEndpoint(ofCaller(decided)));
    }

    /** {@return whether the socket that is made was not told to do without a proxy} That constructor calls the factory itself. */
    private static boolean asksForProxies() {
        return StackWalker.getInstance().walk(frames -> frames
                .filter(each -> each.getClassName().equals(Socket.class.getName())).findFirst()
                .map(each -> !each.getMethodName().equals("<init>")).orElse(true));
    }

    /** An accepted socket takes what its listener gives, whatever its rules are. */
    private static SocketRules ofCaller(SocketRules decided) {
        return AlwaysTcp.isCalling() ? SocketRules.TCP : decided;
    }

    /** {@return a channel that is neither bound nor connected, and not decided} */
    @Override
    public SocketChannel openSocketChannel() throws IOException {
        return new RuledSocketChannel(this, rules(), null);
    }

    /**
     * {@return a channel that is neither bound nor connected}
     *
     * @param family of IP; a channel of another family is one of the JDK's
     */
    @Override
    public SocketChannel openSocketChannel(ProtocolFamily family) throws IOException {
        return isOfTheJdk(family)
                ? JdkProvider.provider().openSocketChannel(family)
                : new RuledSocketChannel(this, rules(), ChannelAddresses.requireInternet(family));
    }

    private static boolean isOfTheJdk(ProtocolFamily family) {
        return family == StandardProtocolFamily.UNIX;
    }

    /** {@return a listening channel that is not bound, and not decided} */
    @Override
    public ServerSocketChannel openServerSocketChannel() throws IOException {
        return new RuledServerSocketChannel(this, rules(), null);
    }

    /**
     * {@return a listening channel that is not bound}
     *
     * @param family of IP; a channel of another family is one of the JDK's
     */
    @Override
    public ServerSocketChannel openServerSocketChannel(ProtocolFamily family) throws IOException {
        return isOfTheJdk(family)
                ? JdkProvider.provider().openServerSocketChannel(family)
                : new RuledServerSocketChannel(this, rules(),
                        ChannelAddresses.requireInternet(family));
    }

    /** {@return a channel that is neither bound nor connected; one of the JDK's if no rule is for datagrams} */
    @Override
    public DatagramChannel openDatagramChannel() throws IOException {
        SocketRules known = rules();
        return known.hasDatagrams()
                ? new RuledDatagramChannel(this, known, null)
                : RuledDatagramChannel.ofTheJdk(null);
    }

    /**
     * {@return a channel as {@link #openDatagramChannel()}}
     *
     * @param family of IP
     */
    @Override
    public DatagramChannel openDatagramChannel(ProtocolFamily family) throws IOException {
        SocketRules known = rules();
        return known.hasDatagrams()
                ? new RuledDatagramChannel(this, known, ChannelAddresses.requireInternet(family))
                : RuledDatagramChannel.ofTheJdk(Objects.requireNonNull(family));
    }

    /** {@return a pipe of the JDK's} */
    @Override
    public Pipe openPipe() throws IOException {
        return JdkProvider.provider().openPipe();
    }

    /** {@return what the process was started with, a channel of the JDK's} */
    @Override
    public @Nullable Channel inheritedChannel() throws IOException {
        return JdkProvider.provider().inheritedChannel();
    }

    /** {@return a selector for all of them} */
    @Override
    public AbstractSelector openSelector() throws IOException {
        return new RdmaSelector(this);
    }
}
