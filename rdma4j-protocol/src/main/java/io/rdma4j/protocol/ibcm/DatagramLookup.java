// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.ibcm;

import io.rdma4j.protocol.ibcm.CmMessage.ServiceReply;
import io.rdma4j.protocol.ibcm.CmMessage.ServiceRequest;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Gid;
import org.jspecify.annotations.Nullable;

/**
 * One look-up of a datagram service, on the active side: SIDR_REQ until SIDR_REP. Source: IBTA
 * 12.11.
 */
public final class DatagramLookup implements CmTimer, CmSending.Asker {
    /**
     * Is notified once of the outcome of a look-up. Calls come from within calls of the manager.
     */
    public interface Events {
        /** The service was found. */
        void onService(int queuePair, int qkey, byte[] privateData);

        /** The peer refused; status as in table 117. */
        void onRefused(int status, byte[] privateData);

        /** The peer did not answer, or cannot be reached, as the system says. */
        void onUnreachable(Errno reason);
    }

    private static final int PKEY = 0xffff;

    private final CmSending sending;
    private final DatagramServices services;
    private final CmPeer peer;
    private final int trafficClass;
    private final long order;
    private final long transaction;
    private final ServiceRequest request;
    private final EarlyEnd earlyEnd;
    private int retriesLeft;
    private long deadlineNs = Long.MAX_VALUE;
    private @Nullable Events events;

    DatagramLookup(CmSending sending, DatagramServices services, ConnectSpec call,
            Events events) {
        this.sending = sending;
        this.services = services;
        this.events = events;
        peer = call.peer();
        trafficClass = call.typeOfService();
        order = sending.newOrder();
        int requestId = sending.newIdentifier();
        transaction = sending.newTransaction(requestId);
        request = new ServiceRequest(requestId, PKEY, call.serviceId(), call.privateData());
        retriesLeft = sending.settings().maxRetries();
        earlyEnd = new EarlyEnd(peer, CmSettings.nanos(sending.settings().responseTimeout()));
    }

    void ask(long nowNs) {
        sending.send(peer, trafficClass, transaction, request);
        waitUntil(earlyEnd.onSent(nowNs));
    }

    private void askAgain(long nowNs) {
        sending.send(peer, trafficClass, transaction, request, this);
        waitUntil(earlyEnd.onSent(nowNs));
    }

    private void waitUntil(long newDeadlineNs) {
        sending.unschedule(this);
        deadlineNs = newDeadlineNs;
        sending.schedule(this);
    }

    /** {@return whether it answers this look-up} */
    boolean onReply(ServiceReply reply, CmPeer from) {
        if (!from.equals(peer) || reply.serviceId() != request.serviceId()) {
            return false;
        }
        Events handler = events;
        close();
        if (handler != null) {
            report(handler, reply);
        }
        return true;
    }

    private static void report(Events handler, ServiceReply reply) {
        byte[] privateData = reply.privateData().bytes();
        if (reply.status() == 0) {
            handler.onService(reply.queuePair(), reply.qkey(), privateData);
        } else {
            handler.onRefused(reply.status(), privateData);
        }
    }

    @Override
    public boolean onDeadline(long nowNs) {
        switch (earlyEnd.onDeadline()) {
            case WAIT -> {
                waitUntil(earlyEnd.patienceEndsNs());
                return false;
            }
            case AGAIN -> askAgain(nowNs);
            case RETRY -> {
                if (retriesLeft-- > 0) {
                    askAgain(nowNs);
                } else {
                    giveUp();
                }
            }
        }
        return true;
    }

    @Override
    public void onUnreachable(Errno why, long nowNs) {
        if (events != null && earlyEnd.onRefused(why, nowNs)) {
            giveUp();
        }
    }

    @Override
    public boolean isTowards(Gid remote) {
        return peer.remote().equals(remote);
    }

    private void giveUp() {
        Events handler = events;
        close();
        if (handler != null) {
            handler.onUnreachable(earlyEnd.reason());
        }
    }

    /** Ends the look-up; nothing is reported any more. Idempotent. */
    public void close() {
        events = null;
        sending.unschedule(this);
        deadlineNs = Long.MAX_VALUE;
        services.forget(this);
    }

    int requestId() {
        return request.requestId();
    }

    @Override
    public long deadlineNs() {
        return deadlineNs;
    }

    @Override
    public long order() {
        return order;
    }
}
