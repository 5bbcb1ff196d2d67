// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.programs;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Proxy;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.CompletableFuture;

/** Names a proxy of SOCKS while it runs, connects through it and without it; it knows nothing of RDMA. */
public final class ProxyProgram {
    private ProxyProgram() {}

    /** @param arguments none */
    public static void main(String[] arguments) throws Exception {
        InetAddress loopback = InetAddress.getLoopbackAddress();
        try (ServerSocket proxy = new ServerSocket(0, 5, loopback)) {
            CompletableFuture<Integer> version = new CompletableFuture<>();
            Thread.ofPlatform().daemon().start(() -> {
                try (Socket asked = proxy.accept()) {
                    version.complete(asked.getInputStream().read());
                } catch (IOException e) {
                    version.completeExceptionally(e);
                }
            });
            System.setProperty("socksProxyHost", "127.0.0.1");
            System.setProperty("socksProxyPort", String.valueOf(proxy.getLocalPort()));
            try (Socket through = new Socket()) {
                through.connect(InetSocketAddress.createUnresolved("only.inside.invalid", 80),
                        10_000);
                throw new IllegalStateException("the proxy has not answered");
            } catch (IOException expected) {
                System.out.println("asked by version " + version.get());
            }
        }
        try (ServerSocket listener = new ServerSocket(0, 5, loopback);
                Socket direct = new Socket(Proxy.NO_PROXY)) {
            direct.connect(listener.getLocalSocketAddress(), 10_000);
            System.out.println("direct " + direct.isConnected());
        }
    }
}
