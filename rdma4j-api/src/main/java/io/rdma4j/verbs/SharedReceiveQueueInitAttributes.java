// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

import org.jspecify.annotations.Nullable;

/**
 * What a new shared receive queue shall be.
 *
 * <p>C: {@code struct} {@index ibv_srq_init_attr_ex}. A mutable object of the caller; the device copies what it needs. A
 * new one asks for a queue of type BASIC for 16 requests of one element.
 *
 * @since 0.1.0
 */
public final class SharedReceiveQueueInitAttributes {
    private SharedReceiveQueueType type = SharedReceiveQueueType.BASIC;
    private int maxRequests = 16;
    private int maxElements = 1;
    private int limit;
    private @Nullable XrcDomain xrcDomain;
    private @Nullable CompletionQueue completionQueue;
    private @Nullable Object userContext;

    /** Creates the default. */
    public SharedReceiveQueueInitAttributes() {}

    /**
     * Creates a copy.
     *
     * @param other what is copied
     */
    public SharedReceiveQueueInitAttributes(SharedReceiveQueueInitAttributes other) {
        type = other.type;
        maxRequests = other.maxRequests;
        maxElements = other.maxElements;
        limit = other.limit;
        xrcDomain = other.xrcDomain;
        completionQueue = other.completionQueue;
        userContext = other.userContext;
    }

    /** {@return its kind} C: {@index srq_type of struct ibv_srq_init_attr_ex}. */
    public SharedReceiveQueueType type() {
        return type;
    }

    /** Sets its kind ({@code srq_type}). */
    public SharedReceiveQueueInitAttributes type(SharedReceiveQueueType value) {
        type = value;
        return this;
    }

    /** {@return outstanding receive requests} C: {@index attr of struct ibv_srq_init_attr_ex}{@code .max_wr}. */
    public int maxRequests() {
        return maxRequests;
    }

    /** Sets how many receive requests may be outstanding, from 1 ({@code attr.max_wr}). */
    public SharedReceiveQueueInitAttributes maxRequests(int value) {
        maxRequests = value;
        return this;
    }

    /** {@return scatter/gather elements of a request} C: {@code attr.max_sge}. */
    public int maxElements() {
        return maxElements;
    }

    /** Sets how many scatter/gather elements a request may have ({@code attr.max_sge}). */
    public SharedReceiveQueueInitAttributes maxElements(int value) {
        maxElements = value;
        return this;
    }

    /** {@return below how many requests it warns once, 0 for never} C: {@code attr.srq_limit}. */
    public int limit() {
        return limit;
    }

    /**
     * Raises {@link AsyncEventType#SRQ_LIMIT_REACHED} once when fewer requests than this are left; 0 does not
     * ({@code attr.srq_limit}).
     */
    public SharedReceiveQueueInitAttributes limit(int value) {
        limit = value;
        return this;
    }

    /** {@return whose connections fill it, null but for type XRC} C: {@index xrcd of struct ibv_srq_init_attr_ex}. */
    @Experimental
    public @Nullable XrcDomain xrcDomain() {
        return xrcDomain;
    }

    /** Sets whose connections fill it; type XRC needs it ({@code xrcd}). */
    @Experimental
    public SharedReceiveQueueInitAttributes xrcDomain(@Nullable XrcDomain value) {
        xrcDomain = value;
        return this;
    }

    /** {@return where its receives complete, null but for type XRC} C: {@index cq of struct ibv_srq_init_attr_ex}. */
    public @Nullable CompletionQueue completionQueue() {
        return completionQueue;
    }

    /**
     * Sets where its receives complete; type XRC needs it, with type BASIC the queue pairs say it ({@code cq}).
     */
    public SharedReceiveQueueInitAttributes completionQueue(@Nullable CompletionQueue value) {
        completionQueue = value;
        return this;
    }

    /** {@return the caller's own object} C: {@index srq_context of struct ibv_srq_init_attr_ex}. */
    public @Nullable Object userContext() {
        return userContext;
    }

    /** Attaches an object of the caller ({@code srq_context}). */
    public SharedReceiveQueueInitAttributes userContext(@Nullable Object value) {
        userContext = value;
        return this;
    }

    @Override
    public String toString() {
        return "shared receive queue " + type + " of " + maxRequests + " requests of "
                + maxElements + " elements" + (limit == 0 ? "" : ", limit " + limit);
    }
}
