// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.ibcm;

import io.rdma4j.protocol.ibcm.ListenSpec;
import io.rdma4j.spi.CmListener;
import io.rdma4j.verbs.RdmaException;

import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A listener, and that requests for its service are sent to this process, among those that share the address: for as long as
 * it listens, and afterwards until the last request is answered, because another process would refuse its repetition.
 */
final class SteeredListener implements CmListener {
    private final IbServices nic;
    private final int service;
    private final Offered listener;
    private final AtomicBoolean isClosed = new AtomicBoolean();

    /** Begins to listen. */
    interface Start {
        Offered listen() throws RdmaException;
    }

    /** What is listened at. */
    interface Offered {
        /**
         * Stops listening.
         *
         * @param onNoneLeft called once none of its requests is left, perhaps at once
         */
        void close(Runnable onNoneLeft);
    }

    private SteeredListener(IbServices nic, int service, Offered listener) {
        this.nic = nic;
        this.service = service;
        this.listener = listener;
    }

    /** {@return a listener that requests reach} */
    static CmListener start(IbServices nic, ListenSpec offer, Start start)
            throws RdmaException {
        int service = offer.space().code() << Short.SIZE | offer.port();
        nic.steer(service);
        boolean isListening = false;
        try {
            CmListener listener = new SteeredListener(nic, service, start.listen());
            isListening = true;
            return listener;
        } finally {
            if (!isListening) {
                nic.steerOnlyRepetitions(service);
                nic.stopSteering(service);
            }
        }
    }

    @Override
    public void close() {
        if (isClosed.compareAndSet(false, true)) {
            nic.steerOnlyRepetitions(service);
            listener.close(() -> nic.stopSteering(service));
        }
    }
}
