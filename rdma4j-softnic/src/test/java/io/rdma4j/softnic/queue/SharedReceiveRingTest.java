package io.rdma4j.softnic.queue;

import io.rdma4j.protocol.work.ReceiveQueue;
import io.rdma4j.verbs.ReceiveWorkRequest;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Which queue pairs wait at a shared receive queue, and which are notified of requests. */
class SharedReceiveRingTest {
    private final SharedReceiveRing ring = new SharedReceiveRing(4, 1, () -> {});
    private final ReceiveQueue first = ring.view();
    private final ReceiveQueue second = ring.view();

    @Test
    void whoeverComesTooLateForARequestIsToldOfTheNext() {
        assertThat(first.take()).isNull();
        assertThat(second.take()).isNull();
        ring.post(new ReceiveWorkRequest());
        assertThat(first.take()).isNotNull();
        assertThat(ring.takeStarved()).isTrue();
        // Told of the request, the second looks, and goes on waiting.
        assertThat(second.available()).isZero();
        ring.post(new ReceiveWorkRequest());
        assertThat(ring.takeStarved()).isTrue();
    }
}
