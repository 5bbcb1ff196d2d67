// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.engine;

import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;

/** A link in which a thread sleeps until it is woken, whatever time passes. */
class PatientLink extends QuietLink {
    /** A thread sleeps, or has slept. */
    final AtomicBoolean isAwaited = new AtomicBoolean();
    private final Semaphore wakeUps = new Semaphore(0);

    @Override
    public void await(long timeoutNs) {
        isAwaited.set(true);
        wakeUps.acquireUninterruptibly();
    }

    @Override
    public void wake() {
        wakeUps.release();
    }
}
