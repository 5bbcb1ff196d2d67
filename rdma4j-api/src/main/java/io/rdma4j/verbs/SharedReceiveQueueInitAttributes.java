package io.rdma4j.verbs;

import org.jspecify.annotations.Nullable;

/**
 * What a new shared receive queue shall be.
 *
 * <p>C: {@code struct ibv_srq_init_attr_ex}. A mutable object of the caller; the device copies what it needs. A new one
 * asks for a queue of type BASIC for 16 requests of one element.
 */
public final class SharedReceiveQueueInitAttributes {
    private SharedReceiveQueueType type = SharedReceiveQueueType.BASIC;
    private SharedReceiveQueueAttributes attributes = new SharedReceiveQueueAttributes(16, 1, 0);
    private @Nullable XrcDomain xrcDomain;
    private @Nullable CompletionQueue completionQueue;
    private @Nullable Object userContext;

    /** Creates the default. */
    public SharedReceiveQueueInitAttributes() {}

    /** {@return its kind} C: {@code srq_type}. */
    public SharedReceiveQueueType type() {
        return type;
    }

    /** Sets its kind ({@code srq_type}). */
    public SharedReceiveQueueInitAttributes type(SharedReceiveQueueType value) {
        type = value;
        return this;
    }

    /** {@return its size and when it warns} C: {@code attr}. */
    public SharedReceiveQueueAttributes attributes() {
        return attributes;
    }

    /** Sets its size and when it warns ({@code attr}). */
    public SharedReceiveQueueInitAttributes attributes(SharedReceiveQueueAttributes value) {
        attributes = value;
        return this;
    }

    /** {@return whose connections fill it, null but for type XRC} C: {@code xrcd}. */
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

    /** {@return where its receives complete, null but for type XRC} C: {@code cq}. */
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

    /** {@return the caller's own object} C: {@code srq_context}. */
    public @Nullable Object userContext() {
        return userContext;
    }

    /** Attaches an object of the caller ({@code srq_context}). */
    public SharedReceiveQueueInitAttributes userContext(@Nullable Object value) {
        userContext = value;
        return this;
    }
}
