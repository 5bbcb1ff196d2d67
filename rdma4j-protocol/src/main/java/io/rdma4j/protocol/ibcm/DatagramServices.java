// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.ibcm;

import io.rdma4j.connection.SidrStatus;
import io.rdma4j.protocol.ibcm.CmMessage.ServiceReply;
import io.rdma4j.protocol.ibcm.CmMessage.ServiceRequest;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;

/**
 * The part of a connection manager that looks up datagram services and answers look-ups (SIDR). Source:
 * IBTA 12.11.
 */
final class DatagramServices {
    /** Answers that are remembered at most; beyond this the oldest is forgotten early. */
    static final int MAX_ANSWERED = 1024;

    private final CmSending sending;
    private final List<DatagramService> services = new ArrayList<>();
    private final Map<Integer, DatagramLookup> lookups = new HashMap<>();
    private final Map<DatagramRequest.Key, DatagramRequest> requests = new HashMap<>();
    private final Queue<DatagramRequest> answered = new ArrayDeque<>();

    DatagramServices(CmSending sending) {
        this.sending = sending;
    }

    DatagramService listen(ListenSpec offer, DatagramService.Handler handler) throws RdmaException {
        for (DatagramService service : services) {
            service.offer().requireNoConflict(offer);
        }
        DatagramService service = new DatagramService(this, offer, handler);
        services.add(service);
        return service;
    }

    DatagramLookup lookUp(ConnectSpec call, DatagramLookup.Events events, long nowNs) {
        DatagramLookup lookup = new DatagramLookup(sending, this, call, events);
        lookups.put(lookup.requestId(), lookup);
        lookup.ask(nowNs);
        return lookup;
    }

    void onRequest(ServiceRequest request, long transaction, CmPeer peer) {
        DatagramRequest.Key key = new DatagramRequest.Key(peer, request.requestId(), transaction);
        DatagramRequest repeated = requests.get(key);
        if (repeated != null) {
            repeated.onRepeated();
            return;
        }
        DatagramService service = find(request.serviceId(), peer);
        IpHeader ip = IpHeader.decode(request.privateData().bytes());
        if (service == null) {
            refuse(request, transaction, peer, SidrStatus.UNSUPPORTED);
        } else if (ip == null) {
            refuse(request, transaction, peer, SidrStatus.UNSUPPORTED_VERSION);
        } else if (!service.hasRoom()) {
            refuse(request, transaction, peer, SidrStatus.NO_QP);
        } else {
            DatagramRequest added = new DatagramRequest(sending, this, service, key,
                    request.serviceId());
            requests.put(key, added);
            service.onRequest(added, ip.sourcePort(), request.privateData().from(IpHeader.LENGTH));
        }
    }

    private @Nullable DatagramService find(long serviceId, CmPeer peer) {
        for (DatagramService service : services) {
            if (service.offer().serves(serviceId, peer.local())) {
                return service;
            }
        }
        return null;
    }

    private void refuse(ServiceRequest request, long transaction, CmPeer peer, SidrStatus status) {
        sending.send(peer, transaction, new ServiceReply(request.requestId(), status.code(),
                PrivateData.NONE, 0, 0, request.serviceId(), 0, PrivateData.NONE));
    }

    /** {@return whether it answers a look-up} */
    boolean onReply(ServiceReply reply, CmPeer peer) {
        DatagramLookup lookup = lookups.get(reply.requestId());
        return lookup != null && lookup.onReply(reply, peer);
    }

    /** Rejects all waiting look-ups, and ends those of this side. */
    void closeAll(long nowNs) {
        for (DatagramRequest request : List.copyOf(requests.values())) {
            request.close(nowNs);
            forget(request);
        }
        List.copyOf(lookups.values()).forEach(DatagramLookup::close);
    }

    // ---------------------------------------------------------------- for look-ups and services

    boolean uses(int requestId) {
        return lookups.containsKey(requestId);
    }

    void onAnswered(DatagramRequest request) {
        answered.add(request);
        if (answered.size() > MAX_ANSWERED) {
            forget(answered.remove());
        }
    }

    void forget(DatagramRequest request) {
        sending.unschedule(request);
        answered.remove(request);
        if (requests.remove(request.key(), request)) {
            request.service().onForgotten();
        }
    }

    void forget(DatagramLookup lookup) {
        lookups.remove(lookup.requestId(), lookup);
    }

    void remove(DatagramService service) {
        services.remove(service);
    }

    /** {@return look-ups of others that are waiting or remembered} */
    int requestCount() {
        return requests.size();
    }
}
