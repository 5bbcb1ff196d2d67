// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.host;

import java.io.IOException;

/** A machine whose interfaces a test sets. */
final class ScriptedSource implements HostSource {
    private Host present;
    private boolean hasChanged;
    private boolean isWoken;
    private boolean isUnknown;
    private int looks;
    private boolean isClosed;

    ScriptedSource(Host present) {
        this.present = present;
    }

    /** The interfaces change, which is reported. */
    synchronized void change(Host now) {
        present = now;
        hasChanged = true;
        notifyAll();
    }

    /** The system can be asked, or not. */
    synchronized void isUnknown(boolean isUnknown) {
        this.isUnknown = isUnknown;
    }

    synchronized int looks() {
        return looks;
    }

    @Override
    public synchronized boolean mayHaveChanged() {
        boolean has = hasChanged;
        hasChanged = false;
        return has;
    }

    @Override
    public synchronized Host look() throws IOException {
        looks++;
        if (isUnknown) {
            throw new IOException("Too many open files");
        }
        return present;
    }

    /** As with a socket: what was taken by {@link #mayHaveChanged} ends no wait any more. */
    @Override
    public synchronized void await(long mostNs) {
        while (!hasChanged && !isWoken && mostNs == Long.MAX_VALUE) {
            try {
                wait();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
        isWoken = false;
    }

    @Override
    public synchronized void wake() {
        isWoken = true;
        notifyAll();
    }

    synchronized boolean isClosed() {
        return isClosed;
    }

    @Override
    public synchronized void close() {
        isClosed = true;
    }
}
