// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.cm;

import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.DatagramParameters;
import io.rdma4j.connection.SidrStatus;
import io.rdma4j.observe.jfr.FlightEvents;
import io.rdma4j.spi.CmLookupRequest;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.net.InetSocketAddress;
import java.util.concurrent.atomic.AtomicBoolean;

/** A received look-up of a datagram service. Its id is destroyed with the answer. */
final class NativeLookupRequest
        implements
            CmLookupRequest,
            NativeId.EventHandler,
            CmServices.Open {
    private final CmServices device;
    private final NativeId id;
    private final InetSocketAddress local;
    private final InetSocketAddress peer;
    private final AtomicBoolean isAnswered = new AtomicBoolean();

    private NativeLookupRequest(CmServices device, NativeId id, InetSocketAddress local,
            InetSocketAddress peer) {
        this.device = device;
        this.id = id;
        this.local = local;
        this.peer = peer;
    }

    /** Notifies the handler of it. */
    static NativeListener.Asked requested(CmServices device, NativeId id, IdEvent event,
            Handler handler) throws RdmaException {
        InetSocketAddress local = id.local("listen");
        InetSocketAddress peer = id.peer("listen");
        NativeLookupRequest request = new NativeLookupRequest(device, id, local, peer);
        id.eventHandler(request);
        device.keep(request);
        handler.onRequest(device.via(), request, local, peer, event.privateData());
        return () -> !request.isAnswered.get();
    }

    /** The kernel answers with the Q_Key of port space UDP, whatever the service uses. */
    @Override
    public void accept(int queuePairNumber, int qkey, byte[] privateData) throws RdmaException {
        if (qkey != DatagramParameters.UDP_QKEY) {
            throw RdmaException.unsupported("accept", String.format(
                    "the kernel tells the peer the Q_Key 0x%08x; the queue pair needs it, not 0x%08x",
                    DatagramParameters.UDP_QKEY, qkey));
        }
        answer("accept", () -> id.accept(new ConnectionParameters().privateData(privateData),
                queuePairNumber));
        FlightEvents.serviceLookup(FlightEvents.Lookup.FOUND, false, local, peer, queuePairNumber,
                0);
    }

    @Override
    public void reject(byte[] privateData) throws RdmaException {
        answer("reject", () -> id.reject(privateData));
        FlightEvents.serviceLookup(FlightEvents.Lookup.REFUSED, false, local, peer, 0,
                SidrStatus.REJECTED.code());
    }

    /** The call that answers it. */
    private interface Answer {
        void give() throws RdmaException;
    }

    private void answer(String operation, Answer answer) throws RdmaException {
        if (!isAnswered.compareAndSet(false, true)) {
            throw new RdmaException(Errno.EINVAL, operation, "it is answered already");
        }
        try {
            answer.give();
        } catch (RdmaException e) {
            isAnswered.set(false);
            throw e;
        }
        end();
    }

    private void end() {
        id.destroy();
        device.forget(this);
    }

    @Override
    public void close() {
        try {
            reject(new byte[0]);
        } catch (RdmaException over) {
            isAnswered.set(true);
            end();
        }
    }

    @Override
    public void onEvent(IdEvent event, @Nullable NativeId none) {
        if (!device.takeDeviceEvent(id, event) && event.type() == EventType.OTHER) {
            event.reportTo(null);
        }
    }
}
