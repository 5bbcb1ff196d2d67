// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network;

import io.rdma4j.jdk.JdkProvider;
import io.rdma4j.spi.SocketErrors;
import io.rdma4j.verbs.RdmaException;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;

/**
 * Opens selectors that work. Where a sandbox refuses one of the calls of the system behind them, such as epoll_ctl, the JDK
 * does not notice it: such a selector reports nothing and cannot be woken.
 */
public final class Selectors {
    private Selectors() {}

    /**
     * {@return a selector that reports what is ready}
     *
     * @throws RdmaException the system's own error if it gives none, such as EMFILE; EOPNOTSUPP if it reports nothing
     */
    public static Selector open() throws RdmaException {
        try {
            return openReporting();
        } catch (RdmaException e) {
            throw e;
        } catch (IOException e) {
            String words = String.valueOf(e.getMessage());
            throw RdmaException.ofSystem(SocketErrors.numberOf(words), "open device",
                    "the system gives no selector: " + words, e);
        }
    }

    private static Selector openReporting() throws IOException {
        Selector selector = JdkProvider.provider().openSelector();
        boolean isGood = false;
        try {
            requireReports(selector);
            isGood = true;
            return selector;
        } finally {
            if (!isGood) {
                selector.close();
            }
        }
    }

    private static void requireReports(Selector selector) throws IOException {
        Pipe pipe = JdkProvider.provider().openPipe();
        try (Pipe.SourceChannel source = pipe.source(); Pipe.SinkChannel sink = pipe.sink()) {
            source.configureBlocking(false);
            source.register(selector, SelectionKey.OP_READ);
            sink.write(ByteBuffer.allocate(1));
            if (selector.selectNow() == 0) {
                throw RdmaException.unsupported("open device", "nothing can be waited for: the"
                        + " system, or a sandbox, refuses epoll_ctl or another of its calls for"
                        + " that, which Java's selectors need");
            }
        }
        // Lets go of the closed pipe.
        selector.selectNow();
    }
}
