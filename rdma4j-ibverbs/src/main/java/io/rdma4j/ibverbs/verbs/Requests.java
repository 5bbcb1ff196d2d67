// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.verbs;

import java.util.List;

/** Lists of requests as applications give them. */
final class Requests {
    private Requests() {}

    /**
     * {@return the request at a place}
     *
     * @throws IllegalStateException if it is null
     */
    static <T> T given(List<T> requests, int place) {
        T request = requests.get(place);
        if (request == null) {
            throw new IllegalStateException("it is null");
        }
        return request;
    }
}
