package io.rdma4j.tools.pingpong;

import io.rdma4j.tools.tcp.OutOfBandChannel;

import java.io.IOException;
import java.io.PrintWriter;
import java.net.ServerSocket;

/** How a side gets in touch with the other: by waiting for it or by connecting to it. */
@FunctionalInterface
interface Greeting {
    /** What a tool does. */
    @FunctionalInterface
    interface Game {
        /** {@return the exit status} */
        int play(Greeting greeting) throws IOException;
    }

    /** Gets in touch with the peer. */
    OutOfBandChannel meet() throws IOException;

    /** {@return the exit status of a tool} A server listens before it prints anything: who reads the first line may connect. */
    static int play(PingPongOptions options, PrintWriter out, Game game) throws IOException {
        String host = options.host();
        if (host != null) {
            return game.play(
                    () -> OutOfBandChannel.connect(host, options.port(), options.patience()));
        }
        try (ServerSocket listener = OutOfBandChannel.listen(options.port())) {
            if (options.port() == 0) {
                out.println("  listening on port " + listener.getLocalPort());
                out.flush();
            }
            return game.play(() -> OutOfBandChannel.accept(listener, options.patience()));
        }
    }
}
