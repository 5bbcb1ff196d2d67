// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import io.rdma4j.sockets.rules.Rule;
import org.jspecify.annotations.Nullable;

import java.io.Closeable;
import java.io.IOException;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.util.function.Function;

/**
 * What listens at the same address over TCP and over RDMA.
 *
 * @param <T> what listens over TCP
 * @param <R> what listens over RDMA
 * @param tcp is bound
 * @param rdma is bound; null if it could not be, which the log says
 */
record ListenerPair<T, R>(T tcp, @Nullable R rdma) {
    private static final System.Logger LOG = System.getLogger(ListenerPair.class.getName());
    /** How many ports are tried that have to be free over both. */
    private static final int TRIES = 16;

    /** Makes what listens. */
    interface Opener<L> {
        /** {@return what is bound there, and has its options} */
        L open(InetSocketAddress at) throws IOException;
    }

    /**
     * {@return both}
     *
     * @param address of what is bound over TCP
     * @throws IOException if nothing can be bound over TCP
     */
    static <T extends Closeable, R> ListenerPair<T, R> bind(InetSocketAddress at, Rule rule,
            Opener<T> tcp, Function<T, InetSocketAddress> address, Opener<R> rdma)
            throws IOException {
        for (int tries = 1;; tries++) {
            T overTcp = tcp.open(at);
            InetSocketAddress local = address.apply(overTcp);
            try {
                return new ListenerPair<>(overTcp, rdma.open(local));
            } catch (IOException e) {
                if (e instanceof BindException && at.getPort() == 0 && tries < TRIES) {
                    // The port that is free over TCP is not over RDMA.
                    overTcp.close();
                    continue;
                }
                LOG.log(System.Logger.Level.WARNING, "{0} listens over TCP alone, though the rule"
                        + " is ''{1}'': {2}", local, rule, e.getMessage());
                return new ListenerPair<>(overTcp, null);
            } catch (RuntimeException | Error e) {
                overTcp.close();
                throw e;
            }
        }
    }
}
