// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

/**
 * The size of a shared receive queue and when it warns, as {@link SharedReceiveQueue#query} tells them.
 *
 * <p>C: {@code struct} {@index ibv_srq_attr}.
 *
 * @param maxRequests outstanding receive requests ({@index max_wr of struct ibv_srq_attr})
 * @param maxElements scatter/gather elements of a request ({@index max_sge of struct ibv_srq_attr})
 * @param limit raise {@link AsyncEventType#SRQ_LIMIT_REACHED} once when fewer requests than this are left; 0
 *        does not ({@index srq_limit of struct ibv_srq_attr})
 * @since 0.1.0
 */
public record SharedReceiveQueueAttributes(int maxRequests, int maxElements, int limit) {}
