// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.device;

import io.rdma4j.event.EventQueue;
import io.rdma4j.event.EventSource;
import io.rdma4j.event.WaitFailures;
import io.rdma4j.verbs.AsyncEvent;
import io.rdma4j.verbs.AsyncEventChannel;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.WaitSet;

/** The channel of an open device, which publishes in its queue and ends it. Thread safe. */
public final class DeviceEventChannel extends EventSource<AsyncEvent, RdmaException>
        implements
            AsyncEventChannel {
    private final EventQueue<AsyncEvent, RdmaException> events = EventQueue.of(this);

    private final String deviceName;

    /** Creates the channel of a device that is being opened. */
    public DeviceEventChannel(String deviceName) {
        super(new WaitFailures<>("await asynchronous event", RdmaException::ofSystem), false, null);
        this.deviceName = deviceName;
        events.attach();
    }

    /** The device is closed: ends all waits. Idempotent. */
    public void end() {
        events.close();
    }

    @Override
    public void join(WaitSet set) throws RdmaException {
        joinSet(set);
    }

    @Override
    public void close() throws RdmaException {
        if (!isClosed()) {
            throw new RdmaException(Errno.EBUSY, "close asynchronous event channel",
                    "its device is open; close that");
        }
    }

    @Override
    public String toString() {
        return "asynchronous event channel of " + deviceName;
    }
}
