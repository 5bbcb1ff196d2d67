// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.event;

/** The driver of a device that lets no thread drive it. A test overrides what it wants to see. */
public class IdleDriver implements ProgressDriver {
    @Override
    public boolean tryAcquire(Waiter waiter) {
        return false;
    }

    @Override
    public void drive(long timeoutNs) {}

    @Override
    public void release() {}

    @Override
    public void wake() {}

    @Override
    public void waitElsewhere() {}

    @Override
    public void forget(Waiter waiter) {}
}
