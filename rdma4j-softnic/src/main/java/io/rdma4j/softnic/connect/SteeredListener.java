package io.rdma4j.softnic.connect;

import io.rdma4j.protocol.ibcm.ListenSpec;
import io.rdma4j.softnic.network.PortSharing;
import io.rdma4j.spi.CmListener;
import io.rdma4j.verbs.RdmaException;

import java.util.concurrent.atomic.AtomicBoolean;

/** A listener, and that requests for its service are sent to this process, among those that share the address. */
final class SteeredListener implements CmListener {
    private final PortSharing sharing;
    private final int service;
    private final CmListener listener;
    private final AtomicBoolean isClosed = new AtomicBoolean();

    /** Begins to listen. */
    interface Start {
        CmListener listen() throws RdmaException;
    }

    private SteeredListener(PortSharing sharing, int service, CmListener listener) {
        this.sharing = sharing;
        this.service = service;
        this.listener = listener;
    }

    /** {@return a listener that requests reach} */
    static CmListener start(PortSharing sharing, ListenSpec offer, Start start)
            throws RdmaException {
        int service = PortSharing.service(offer.space(), offer.port());
        sharing.listen(service);
        boolean isListening = false;
        try {
            CmListener listener = new SteeredListener(sharing, service, start.listen());
            isListening = true;
            return listener;
        } finally {
            if (!isListening) {
                sharing.stopListening(service);
            }
        }
    }

    @Override
    public void close() {
        listener.close();
        if (isClosed.compareAndSet(false, true)) {
            sharing.stopListening(service);
        }
    }
}
