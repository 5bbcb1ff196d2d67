// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.disni;

import java.io.IOException;

/** Measures READs and SENDs through DiSNI and through the API in turns, and prints how much longer DiSNI's take. */
public final class CostProgram {
    private static final int ROUNDS = 15;
    private static final long ROUND_NS = 300_000_000;
    private static final int BATCH = 50;

    private CostProgram() {}

    private interface Call {
        void run() throws IOException;
    }

    /** @param arguments the sizes in bytes */
    public static void main(String[] arguments) throws Exception {
        Connection connection = new Connection();
        for (String argument : arguments) {
            int size = Integer.parseInt(argument);
            ReadsAndSends disni = new ReadsAndSends.ThroughDisni(connection, size);
            ReadsAndSends api = new ReadsAndSends.ThroughTheApi(size);
            print("READ", size, disni::read, api::read);
            print("SEND", size, disni::send, api::send);
        }
        System.exit(0);
    }

    /** The best round of each: what else the machine does only adds. */
    private static void print(String name, int size, Call disni, Call api) throws IOException {
        double ofDisni = Double.MAX_VALUE;
        double ofApi = Double.MAX_VALUE;
        for (int i = 0; i < ROUNDS; i++) {
            ofDisni = Math.min(ofDisni, nanoseconds(disni));
            ofApi = Math.min(ofApi, nanoseconds(api));
        }
        System.out.printf("%s %d B: %.0f ns through DiSNI, %.0f ns through the API, ratio %.3f%n",
                name, size, ofDisni, ofApi, ofDisni / ofApi);
    }

    private static double nanoseconds(Call call) throws IOException {
        long startNs = System.nanoTime();
        long best = Long.MAX_VALUE;
        while (System.nanoTime() - startNs < ROUND_NS) {
            long batchNs = System.nanoTime();
            for (int i = 0; i < BATCH; i++) {
                call.run();
            }
            best = Math.min(best, System.nanoTime() - batchNs);
        }
        return (double) best / BATCH;
    }
}
