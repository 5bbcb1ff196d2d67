// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.sockets;

import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.thread.QueuedThreadPool;

import java.nio.ByteBuffer;

/** Jetty, with an acceptor and a selector, whose threads come from its own pool as the answers' do. */
final class JettyHttpServer implements HttpProgram.Server {
    /** One accepts, and two wait in selectors, or for that. */
    private static final int OF_JETTY = 3;

    @Override
    public int serve(byte[] answer, int threads) throws Exception {
        Server server = new Server(new QueuedThreadPool(threads + OF_JETTY));
        ServerConnector connector = new ServerConnector(server, 1, 1);
        connector.setHost("127.0.0.1");
        server.addConnector(connector);
        server.setHandler(new Answering(answer));
        server.start();
        return connector.getLocalPort();
    }

    private static final class Answering extends Handler.Abstract.NonBlocking {
        private final byte[] answer;

        Answering(byte[] answer) {
            this.answer = answer;
        }

        @Override
        public boolean handle(Request request, Response response, Callback callback) {
            response.getHeaders().put(HttpHeader.CONTENT_LENGTH, answer.length);
            response.write(true, ByteBuffer.wrap(answer), callback);
            return true;
        }
    }
}
