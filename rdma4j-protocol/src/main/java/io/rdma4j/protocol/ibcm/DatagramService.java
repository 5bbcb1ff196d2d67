// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.ibcm;

import org.jspecify.annotations.Nullable;

/** A datagram service that can be looked up. */
public final class DatagramService {
    /** Receives look-ups. Calls come from within calls of the manager. */
    public interface Handler {
        /**
         * A peer looks up the service.
         *
         * @param sourcePort the requester's port
         * @param privateData bytes of its application
         */
        void onRequest(DatagramRequest request, int sourcePort, byte[] privateData);
    }

    private final DatagramServices services;
    private final ListenSpec offer;
    private final Handler handler;
    private int unanswered;
    /** Look-ups that wait or whose answer is remembered. */
    private int known;
    private @Nullable Runnable onUnneeded;

    DatagramService(DatagramServices services, ListenSpec offer, Handler handler) {
        this.services = services;
        this.offer = offer;
        this.handler = handler;
    }

    /**
     * Stops offering the service; look-ups not yet answered remain.
     *
     * @param onNoneLeft called once none is left whose repetition would be answered, perhaps at once: until then they must
     *        come here, as another manager would refuse them
     */
    public void close(Runnable onNoneLeft) {
        services.remove(this);
        onUnneeded = onNoneLeft;
        finishIfUnneeded();
    }

    private void finishIfUnneeded() {
        Runnable told = onUnneeded;
        if (told != null && known == 0) {
            onUnneeded = null;
            told.run();
        }
    }

    ListenSpec offer() {
        return offer;
    }

    /** {@return whether another look-up may wait} */
    boolean hasRoom() {
        return unanswered < offer.backlog();
    }

    void onRequest(DatagramRequest request, int sourcePort, byte[] privateData) {
        unanswered++;
        known++;
        handler.onRequest(request, sourcePort, privateData);
    }

    void onAnswered() {
        unanswered--;
    }

    void onForgotten() {
        known--;
        finishIfUnneeded();
    }
}
