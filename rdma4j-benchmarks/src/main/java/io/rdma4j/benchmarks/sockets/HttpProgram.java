// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.sockets;

import java.util.Arrays;

/** Requests of a client to a server, as many at a time as there are connections; answers of 1,024 bytes. */
final class HttpProgram implements SocketProgram {
    private static final int CONNECTIONS = 16;
    private static final int BYTES = 1024;

    private final Server server;
    private final Client client;

    /** What answers. */
    interface Server {
        /**
         * {@return the port where every request of a GET gets the answer, until the process ends}
         *
         * @param threads how many requests come at a time
         */
        int serve(byte[] answer, int threads) throws Exception;
    }

    /** What asks. */
    interface Client {
        /** Asks on each of some connections, again and again, in threads of its own, until the process ends. */
        void start(int port, int connections, HttpAnswers answers) throws Exception;
    }

    HttpProgram(Server server, Client client) {
        this.server = server;
        this.client = client;
    }

    @Override
    public int serve() throws Exception {
        byte[] answer = new byte[BYTES];
        Arrays.fill(answer, (byte) 'x');
        return server.serve(answer, CONNECTIONS);
    }

    @Override
    public double drive(int port, Stretch stretch) throws Exception {
        HttpAnswers answers = new HttpAnswers(BYTES);
        client.start(port, CONNECTIONS, answers);
        answers.awaitFirst();
        Thread.sleep(stretch.warmUpNs() / 1_000_000);
        long before = answers.count();
        long startNs = System.nanoTime();
        Thread.sleep(stretch.measureNs() / 1_000_000);
        double rate = (answers.count() - before) * 1e9 / (System.nanoTime() - startNs);
        answers.requireNoFailure();
        return rate;
    }
}
