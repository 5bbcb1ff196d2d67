// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.channels.SelectableChannel;
import java.nio.channels.ServerSocketChannel;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** Every method of a channel in every state that it can have, blocking and not, and what came of each over two transports. */
final class StateTable<C extends SelectableChannel> {
    /** How a channel gets into a state. */
    interface State<C> {
        /** {@return a channel in the state} */
        C channel(Transport transport, ServerSocketChannel listener) throws IOException;
    }

    /** What is done with it, and what can be seen of that. */
    interface Method<C> {
        /** {@return what can be seen} */
        @Nullable
        Object call(C channel) throws IOException;
    }

    /** An address of no kind that channels know. */
    static final class OtherAddress extends SocketAddress {
        private static final long serialVersionUID = 1;
    }

    private final Map<String, State<C>> states = new LinkedHashMap<>();
    /** Those of channels that do not block. */
    private final Map<String, State<C>> further = new LinkedHashMap<>();
    private final Map<String, Method<C>> methods = new LinkedHashMap<>();
    private final List<AutoCloseable> open = new ArrayList<>();

    void state(String name, State<C> state) {
        states.put(name, state);
    }

    /** A state that only channels have that do not block, or in which others would wait. */
    void stateWithoutBlocking(String name, State<C> state) {
        further.put(name, state);
    }

    void method(String name, Method<C> method) {
        methods.put(name, method);
    }

    /** {@return what is closed at the end} */
    <T extends AutoCloseable> T keep(T resource) {
        open.add(resource);
        return resource;
    }

    void closeAll() throws Exception {
        for (AutoCloseable each : open) {
            each.close();
        }
    }

    /** {@return what differs from TCP} */
    List<String> differences(Transport transport) throws IOException {
        List<String> ours = seen(transport);
        List<String> theirs = seen(Transport.TCP);
        List<String> different = new ArrayList<>();
        for (int i = 0; i < theirs.size(); i++) {
            if (!ours.get(i).equals(theirs.get(i))) {
                different.add(ours.get(i) + "; TCP: " + theirs.get(i));
            }
        }
        return different;
    }

    private List<String> seen(Transport transport) throws IOException {
        List<String> seen = new ArrayList<>();
        try (ServerSocketChannel listener = transport.listen()) {
            for (Map.Entry<String, State<C>> state : states.entrySet()) {
                each(transport, listener, true, state, seen::add);
                each(transport, listener, false, state, seen::add);
            }
            for (Map.Entry<String, State<C>> state : further.entrySet()) {
                each(transport, listener, false, state, seen::add);
            }
        }
        return seen;
    }

    private void each(Transport transport, ServerSocketChannel listener, boolean isBlocking,
            Map.Entry<String, State<C>> state, Consumer<String> seen) throws IOException {
        for (Map.Entry<String, Method<C>> method : methods.entrySet()) {
            C channel = state.getValue().channel(transport, listener);
            if (channel.isOpen()) {
                channel.configureBlocking(isBlocking);
            }
            seen.accept((isBlocking ? "blocking, " : "") + state.getKey() + ", "
                    + method.getKey() + ": " + outcome(channel, method.getValue()));
        }
    }

    private @Nullable Object outcome(C channel, Method<C> method) {
        try {
            return method.call(channel);
        } catch (IOException | RuntimeException e) {
            return e.getClass().getName() + (channel.isOpen() ? "" : ", closed");
        }
    }

    /** {@return what is the same of an address in each run} */
    static String address(@Nullable SocketAddress address) {
        return address instanceof InetSocketAddress inet
                ? inet.getAddress().isLoopbackAddress() + " " + (inet.getPort() > 0)
                : "none";
    }
}
