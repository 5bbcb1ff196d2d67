// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.examples;

import io.rdma4j.cm.CmId;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** Both sides of an example, in two threads. */
public final class TwoSides {
    static final InetSocketAddress ANY_PORT = new InetSocketAddress(ownLoopbackAddress(), 0);

    private TwoSides() {}

    interface Serving {
        void serve(Consumer<CmId> onListening) throws Exception;
    }

    interface Connecting {
        void connect(InetSocketAddress address) throws Exception;
    }

    /** {@return a loopback address that no other build on this machine takes, made from the process id} */
    public static InetAddress ownLoopbackAddress() {
        long pid = ProcessHandle.current().pid();
        return InetAddress.ofLiteral("127." + (1 + (pid >>> 14 & 0x7f)) + "."
                + (pid >>> 7 & 0x7f) + "." + (1 + (pid & 0x7f)));
    }

    /** Runs a server in a thread of its own, and a client against it once it listens. */
    static void run(Serving serving, Connecting connecting) throws Exception {
        CompletableFuture<InetSocketAddress> listening = new CompletableFuture<>();
        CompletableFuture<Void> served = CompletableFuture.runAsync(() -> {
            try {
                serving.serve(listener -> listening.complete(listener.localAddress()));
            } catch (Exception e) {
                listening.completeExceptionally(e);
                throw new IllegalStateException(e);
            }
        });
        connecting.connect(listening.get(30, TimeUnit.SECONDS));
        served.get(30, TimeUnit.SECONDS);
    }

    /** {@return what a server of texts answers by TCP} */
    static String ask(Socket socket, String text) throws IOException {
        socket.getOutputStream().write(text.getBytes(StandardCharsets.UTF_8));
        return new String(socket.getInputStream().readNBytes(text.length()),
                StandardCharsets.UTF_8);
    }
}
