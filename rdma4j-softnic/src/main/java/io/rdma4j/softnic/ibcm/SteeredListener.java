package io.rdma4j.softnic.ibcm;

import io.rdma4j.protocol.ibcm.ListenSpec;
import io.rdma4j.spi.CmListener;
import io.rdma4j.verbs.RdmaException;

import java.util.concurrent.atomic.AtomicBoolean;

/** A listener, and that requests for its service are sent to this process, among those that share the address. */
final class SteeredListener implements CmListener {
    private final IbServices nic;
    private final int service;
    private final CmListener listener;
    private final AtomicBoolean isClosed = new AtomicBoolean();

    /** Begins to listen. */
    interface Start {
        CmListener listen() throws RdmaException;
    }

    private SteeredListener(IbServices nic, int service, CmListener listener) {
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
                nic.stopSteering(service);
            }
        }
    }

    @Override
    public void close() {
        listener.close();
        if (isClosed.compareAndSet(false, true)) {
            nic.stopSteering(service);
        }
    }
}
