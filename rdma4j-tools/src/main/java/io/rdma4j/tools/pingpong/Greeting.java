// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.pingpong;

import io.rdma4j.tools.endpoint.LocalPort;
import io.rdma4j.tools.tcp.OutOfBandChannel;
import io.rdma4j.verbs.DeviceContext;

import java.io.IOException;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.Objects;

/** How a side gets in touch with the other: by waiting for it or by connecting to it. */
@FunctionalInterface
interface Greeting {
    /** What a tool does. */
    @FunctionalInterface
    interface Game {
        /**
         * {@return the exit status}
         *
         * @param port where this side's queue pairs are connected from
         */
        int play(LocalPort port, Greeting greeting) throws IOException;
    }

    /** Gets in touch with the peer. */
    OutOfBandChannel meet() throws IOException;

    /** {@return the exit status of a tool} A server listens before it prints anything: who reads the first line may connect. */
    static int play(PingPongOptions options, Traffic traffic, PrintWriter out, Game game)
            throws IOException {
        String host = options.host();
        if (host != null) {
            return play(options, traffic, game,
                    () -> OutOfBandChannel.connect(host, options.port(), options.patience()));
        }
        try (ServerSocket listener = OutOfBandChannel.listen(options.port())) {
            boolean isPrintedAtOnce = options.isPortChosen();
            if (isPrintedAtOnce && options.port() == 0) {
                print(out, listener);
            }
            return play(options, traffic, game, () -> {
                if (!isPrintedAtOnce) {
                    print(out, listener);
                }
                return OutOfBandChannel.accept(listener, options.patience());
            });
        }
    }

    private static void print(PrintWriter out, ServerSocket listener) {
        out.println("  listening on port " + listener.getLocalPort());
        out.flush();
    }

    /**
     * What the user left open of device and GID is decided by the connection to the peer: its addresses are those by which
     * the sides reach each other. Then the port is there only once the sides have met; a server sends nothing before it has
     * read what the client sends, so no peer notices.
     */
    private static int play(PingPongOptions options, Traffic traffic, Game game, Greeting greeting)
            throws IOException {
        try (DeviceContext chosen = options.openChosen()) {
            if (options.isPortChosen()) {
                return game.play(options.localPort(Objects.requireNonNull(chosen)), greeting);
            }
            if (chosen != null) {
                traffic.checkSize(chosen, options.devicePort());
            }
            try (OutOfBandChannel channel = greeting.meet()) {
                InetAddress local = channel.localAddress();
                try (DeviceContext context = options.open(local)) {
                    return game.play(options.localPort(context, local), () -> channel);
                }
            }
        }
    }
}
