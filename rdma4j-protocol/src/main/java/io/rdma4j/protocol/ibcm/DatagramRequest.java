// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.ibcm;

import io.rdma4j.connection.SidrStatus;
import io.rdma4j.protocol.ibcm.CmMessage.ServiceReply;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

/**
 * One look-up of a datagram service, on the passive side. The answer is kept for a while and sent
 * again if it was lost, so that the application gets each look-up only once.
 */
public final class DatagramRequest implements CmTimer {
    /** How long an answer is remembered, 17 s: as long as Linux takes for three repetitions. */
    private static final int MEMORY = 22;

    /**
     * The identity of a look-up, by which a repetition is recognized.
     *
     * @param peer the addresses
     * @param requestId the requester's number of it
     * @param transaction the transaction of its message
     */
    record Key(CmPeer peer, int requestId, long transaction) {}

    private final CmSending sending;
    private final DatagramServices services;
    private final DatagramService service;
    private final Key key;
    private final long serviceId;
    private final long order;
    private @Nullable ServiceReply answer;
    private long deadlineNs = Long.MAX_VALUE;

    DatagramRequest(CmSending sending, DatagramServices services, DatagramService service,
            Key key, long serviceId) {
        this.sending = sending;
        this.services = services;
        this.service = service;
        this.key = key;
        this.serviceId = serviceId;
        order = sending.newOrder();
    }

    /** Accepts: names the queue pair of the service. */
    public void accept(int queuePair, int qkey, byte[] privateData, long nowNs)
            throws RdmaException {
        answer(SidrStatus.VALID, queuePair, qkey, privateData, nowNs);
    }

    /** Rejects. */
    public void reject(byte[] privateData, long nowNs) throws RdmaException {
        answer(SidrStatus.REJECTED, 0, 0, privateData, nowNs);
    }

    private void answer(SidrStatus status, int queuePair, int qkey, byte[] privateData, long nowNs)
            throws RdmaException {
        if (answer != null) {
            throw new RdmaException(Errno.EINVAL, "answer datagram request",
                    "it is answered already");
        }
        answer = new ServiceReply(key.requestId, status.code(), PrivateData.NONE, 0, queuePair,
                serviceId, qkey, PrivateData.of(privateData));
        service.onAnswered();
        deadlineNs = nowNs + CmSettings.nanos(MEMORY);
        sending.schedule(this);
        services.onAnswered(this);
        onRepeated();
    }

    /** The same look-up again: if there is an answer, it was lost. */
    void onRepeated() {
        ServiceReply given = answer;
        if (given != null) {
            sending.send(key.peer, key.transaction, given);
        }
    }

    /** {@return whether it was not answered yet, and is rejected by this} */
    public boolean close(long nowNs) {
        if (answer != null) {
            return false;
        }
        try {
            reject(new byte[0], nowNs);
        } catch (RdmaException e) {
            throw new IllegalStateException(e);
        }
        return true;
    }

    /** The answer has been remembered for long enough. */
    @Override
    public boolean onDeadline(long nowNs) {
        services.forget(this);
        return false;
    }

    /** {@return the addresses of both sides} */
    public CmPeer peer() {
        return key.peer;
    }

    DatagramService service() {
        return service;
    }

    Key key() {
        return key;
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
