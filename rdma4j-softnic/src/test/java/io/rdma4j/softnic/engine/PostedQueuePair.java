// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.engine;

import org.jspecify.annotations.Nullable;

import static org.assertj.core.api.Assertions.assertThat;

/** A queue pair that knows how much was posted, and how much of it the engine has taken. */
final class PostedQueuePair extends QuietQueuePair {
    /** Written before a doorbell is rung, by several threads under the monitor; the doorbell must bring it. */
    private long count;
    /** Written by the engine's owner alone. */
    private long heard;
    private Runnable whenHeard = () -> {};
    private Runnable whenAsked = () -> {};
    private @Nullable Error whenSettled;
    private final EngineDriver driver;

    PostedQueuePair(Engine engine, EngineDriver driver) {
        super(engine);
        this.driver = driver;
        engine.attach(this);
    }

    @Override
    protected int transmit(int most) {
        whenAsked.run();
        return 0;
    }

    void post(int doorbell) {
        synchronized (this) {
            count++;
        }
        driver.ring(this, doorbell);
    }

    /** It may have packets to send. */
    void touch() {
        engine().touched(this);
    }

    /** Does something each time the engine takes a request, as its owner. */
    void whenHeard(Runnable action) {
        whenHeard = action;
    }

    /** Does something each time the engine asks for a packet, as its owner. */
    void whenAsked(Runnable action) {
        whenAsked = action;
    }

    /** Throws each time the engine looks what has changed; null to stop that. */
    void whenSettled(@Nullable Error thrown) {
        whenSettled = thrown;
    }

    @Override
    public void onSendPosted(long nowNs) {
        synchronized (this) {
            heard = count;
        }
        whenHeard.run();
    }

    @Override
    public void onReceivePosted(long nowNs) {
        onSendPosted(nowNs);
    }

    synchronized void assertHeard() {
        assertThat(heard).isEqualTo(count);
    }

    @Override
    public boolean wantsReceiveDoorbell() {
        if (whenSettled != null) {
            throw whenSettled;
        }
        return true;
    }
}
