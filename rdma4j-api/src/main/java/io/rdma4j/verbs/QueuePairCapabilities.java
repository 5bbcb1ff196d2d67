// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

/**
 * The sizes of a queue pair's queues.
 *
 * <p>C: {@code struct} {@index ibv_qp_cap}. A device may give more than was asked for, never less.
 *
 * @param maxSendRequests outstanding send requests ({@index max_send_wr of struct ibv_qp_cap})
 * @param maxReceiveRequests outstanding receive requests ({@index max_recv_wr of struct ibv_qp_cap}); with a shared
 *        receive queue, which has sizes of its own, ignored, and 0 in what a queue pair tells
 * @param maxSendElements scatter/gather elements of a send request ({@index max_send_sge of struct ibv_qp_cap})
 * @param maxReceiveElements scatter/gather elements of a receive request ({@index max_recv_sge of struct ibv_qp_cap}),
 *        likewise
 * @param maxInlineData bytes that {@link SendFlag#INLINE} may carry ({@index max_inline_data of struct ibv_qp_cap})
 * @since 0.1.0
 */
public record QueuePairCapabilities(int maxSendRequests, int maxReceiveRequests,
        int maxSendElements, int maxReceiveElements, int maxInlineData) {

    /**
     * {@return queues of that depth, one element a request, no inline data} Queue pairs of the connection
     * manager's ids get some all the same.
     *
     * @param sendRequests how many may be outstanding
     * @param receiveRequests how many may be outstanding
     */
    public static QueuePairCapabilities ofDepth(int sendRequests, int receiveRequests) {
        return new QueuePairCapabilities(sendRequests, receiveRequests, 1, 1, 0);
    }

    /**
     * {@return the same with that many elements a request}
     *
     * @param send elements of a send
     * @param receive elements of a receive
     */
    public QueuePairCapabilities withElements(int send, int receive) {
        return new QueuePairCapabilities(maxSendRequests, maxReceiveRequests, send, receive,
                maxInlineData);
    }

    /** {@return the same without receives} */
    public QueuePairCapabilities withoutReceives() {
        return new QueuePairCapabilities(maxSendRequests, 0, maxSendElements, 0, maxInlineData);
    }

    /**
     * {@return the same with room for inline data}
     *
     * @param bytes how much data a request can have inline
     */
    public QueuePairCapabilities withInlineData(int bytes) {
        return new QueuePairCapabilities(maxSendRequests, maxReceiveRequests, maxSendElements,
                maxReceiveElements, bytes);
    }
}
