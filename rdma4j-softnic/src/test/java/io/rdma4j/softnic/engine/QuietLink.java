// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.engine;

/** A link on which nothing arrives, and that sends nothing. No thread sleeps in it. */
class QuietLink implements Link {
    @Override
    public boolean receive(long nowNs, boolean isOften) {
        return false;
    }

    @Override
    public boolean hasReceived() {
        return false;
    }

    @Override
    public void onTime(long nowNs) {}

    @Override
    public boolean beginTransmit(long nowNs) {
        return true;
    }

    @Override
    public boolean isFull() {
        return false;
    }

    @Override
    public boolean endTransmit() {
        return true;
    }

    @Override
    public long deadlineNs() {
        return Long.MAX_VALUE;
    }

    @Override
    public void await(long timeoutNs) {
        throw new AssertionError("nobody is to sleep here");
    }

    @Override
    public void wake() {}
}
