package io.rdma4j.sockets.engine;

/**
 * How long a thread polls before it sleeps: longer where that has been worth it, hardly at all where not. C: {@code
 * polling_time}, which is always 10 us.
 */
final class PollingTime {
    private static final long SHORTEST_NS = 1_000;
    private static final long LONGEST_NS = 50_000;

    private long limitNs = 20_000;

    long limitNs() {
        return limitNs;
    }

    void onSuccess() {
        limitNs = Math.min(2 * limitNs, LONGEST_NS);
    }

    void onFailure() {
        limitNs = Math.max(limitNs / 2, SHORTEST_NS);
    }
}
