// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.work;

import io.rdma4j.verbs.SendWorkRequest;

import java.util.ArrayList;
import java.util.List;

/** A send queue that keeps every request, and gives none away that was retired. */
public final class PostedSends implements SendQueue {
    private static final int MOST_ELEMENTS = 4;

    private final List<SendRequest> posted = new ArrayList<>();
    private int retired;

    /** Creates an empty one. */
    public PostedSends() {}

    public void post(SendWorkRequest request) {
        add(request);
    }

    /** Posts a datagram that goes that way. */
    public void post(SendWorkRequest request, Route route) {
        add(request).route(route, request.remoteQueuePairNumber(), request.remoteQkey());
    }

    private SendRequest add(SendWorkRequest request) {
        SendRequest slot = new SendRequest(MOST_ELEMENTS, null);
        slot.assign(request, true);
        posted.add(slot);
        return slot;
    }

    /** {@return the request that has to end next} */
    public SendRequest oldest() {
        return request(retired);
    }

    @Override
    public long end() {
        return posted.size();
    }

    @Override
    public SendRequest request(long index) {
        if (index < retired || index >= posted.size()) {
            throw new AssertionError("request " + index + " of " + retired + " to "
                    + posted.size());
        }
        return posted.get((int) index);
    }

    @Override
    public void retire() {
        oldest();
        retired++;
    }

    @Override
    public long clear() {
        retired = posted.size();
        return retired;
    }
}
