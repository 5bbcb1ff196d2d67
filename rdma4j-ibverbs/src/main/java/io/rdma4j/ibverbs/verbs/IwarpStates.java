// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.verbs;

import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.spi.CmConnection;
import io.rdma4j.spi.CmContext;
import io.rdma4j.spi.CmListener;
import io.rdma4j.spi.CmOptions;
import io.rdma4j.spi.QueuePairBringUp;
import io.rdma4j.spi.Refusal;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.net.InetSocketAddress;
import java.util.function.BiConsumer;

/**
 * Tracks the states to which the kernel changes iWARP queue pairs while it connects and disconnects them: the drivers do
 * not report them, and must not get a request that is posted too early.
 *
 * @param states notified of the number of a queue pair and its state, before the connection's own handler
 */
public record IwarpStates(BiConsumer<Integer, QueuePairState> states) {
    /** {@return a handler of a queue pair that connects} */
    CmConnection.Handler active(int queuePair, CmConnection.Handler handler) {
        return new Following(handler, queuePair);
    }

    /** {@return a handler of requests; their queue pairs become known when they are accepted} */
    public CmListener.Handler passive(CmListener.Handler handler) {
        return new CmListener.Handler() {
            @Override
            public CmConnection.Handler onRequest(CmContext via, CmConnection request,
                    InetSocketAddress local, InetSocketAddress peer,
                    ConnectionParameters parameters) {
                Accepting accepting = new Accepting(request);
                return accepting.followed(
                        handler.onRequest(via, accepting, local, peer, parameters));
            }
        };
    }

    /** A request that notes which queue pair it is accepted with. */
    private final class Accepting implements CmConnection {
        private final CmConnection request;
        private volatile @Nullable Following following;
        private volatile int queuePair;

        Accepting(CmConnection request) {
            this.request = request;
        }

        CmConnection.Handler followed(CmConnection.Handler handler) {
            Following made = new Following(handler, queuePair);
            following = made;
            // The application may have accepted meanwhile, and have found no handler to tell its number.
            int accepted = queuePair;
            if (accepted != 0) {
                made.queuePair = accepted;
            }
            return made;
        }

        @Override
        public QueuePairBringUp bringUp(ConnectionParameters own, CmOptions options) {
            return request.bringUp(own, options);
        }

        @Override
        public void accept(ConnectionParameters parameters, int queuePairNumber)
                throws RdmaException {
            queuePair = queuePairNumber;
            Following known = following;
            if (known != null) {
                known.queuePair = queuePairNumber;
            }
            request.accept(parameters, queuePairNumber);
        }

        @Override
        public void establish() throws RdmaException {
            request.establish();
        }

        @Override
        public void communicationEstablished() throws RdmaException {
            request.communicationEstablished();
        }

        @Override
        public void reject(byte[] privateData) throws RdmaException {
            request.reject(privateData);
        }

        @Override
        public void disconnect() throws RdmaException {
            request.disconnect();
        }

        @Override
        public void close() {
            request.close();
        }
    }

    /** A handler that reports the states first. */
    private final class Following implements CmConnection.Handler {
        private final CmConnection.Handler handler;
        private volatile int queuePair;

        Following(CmConnection.Handler handler, int queuePair) {
            this.handler = handler;
            this.queuePair = queuePair;
        }

        @Override
        public void onReply(CmConnection connection, ConnectionParameters parameters) {
            handler.onReply(connection, parameters);
        }

        @Override
        public void onEstablished(@Nullable ConnectionParameters parameters) {
            states.accept(queuePair, QueuePairState.RTS);
            handler.onEstablished(parameters);
        }

        @Override
        public void onRefused(Refusal refusal) {
            handler.onRefused(refusal);
        }

        @Override
        public void onUnreachable(Errno reason) {
            handler.onUnreachable(reason);
        }

        @Override
        public void onDisconnected() {
            states.accept(queuePair, QueuePairState.ERR);
            handler.onDisconnected();
        }

        @Override
        public void onTimewaitExit() {
            handler.onTimewaitExit();
        }

        @Override
        public void onUnknownEvent(int typeCode, int status) {
            handler.onUnknownEvent(typeCode, status);
        }
    }
}
