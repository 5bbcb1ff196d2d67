// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

import org.jspecify.annotations.Nullable;

import java.util.Set;

/**
 * What a new completion queue shall be.
 *
 * <p>C: {@code struct} {@index ibv_cq_init_attr_ex}, the arguments of {@index ibv_create_cq}. A mutable object of the
 * caller; the device copies what it needs. A new one asks for 16 entries and no field that costs anything.
 *
 * @since 0.1.0
 */
public final class CompletionQueueInitAttributes {
    private int capacity = 16;
    private @Nullable CompletionChannel channel;
    private @Nullable Object userContext;
    private int completionVector;
    private Set<CompletionField> fields = Set.of();
    private boolean singleThreaded;
    private boolean ignoreOverrun;
    private @Nullable ProtectionDomain parentDomain;

    /** Creates the default. */
    public CompletionQueueInitAttributes() {}

    /**
     * Creates a copy.
     *
     * @param other what is copied
     */
    public CompletionQueueInitAttributes(CompletionQueueInitAttributes other) {
        capacity = other.capacity;
        channel = other.channel;
        userContext = other.userContext;
        completionVector = other.completionVector;
        fields = other.fields;
        singleThreaded = other.singleThreaded;
        ignoreOverrun = other.ignoreOverrun;
        parentDomain = other.parentDomain;
    }

    /** {@return the entries it shall hold} C: {@index cqe of struct ibv_cq_init_attr_ex}. */
    public int capacity() {
        return capacity;
    }

    /** Sets the entries it shall hold, from 1 ({@code cqe}). */
    public CompletionQueueInitAttributes capacity(int value) {
        capacity = value;
        return this;
    }

    /** {@return where it announces completions when armed, or null} C: {@index channel of struct ibv_cq_init_attr_ex}. */
    public @Nullable CompletionChannel channel() {
        return channel;
    }

    /** Sets where it announces completions when armed ({@code channel}). */
    public CompletionQueueInitAttributes channel(@Nullable CompletionChannel value) {
        channel = value;
        return this;
    }

    /** {@return the caller's own object} C: {@index cq_context of struct ibv_cq_init_attr_ex}. */
    public @Nullable Object userContext() {
        return userContext;
    }

    /** Attaches an object of the caller ({@code cq_context}). */
    public CompletionQueueInitAttributes userContext(@Nullable Object value) {
        userContext = value;
        return this;
    }

    /** {@return which of the device's completion vectors} C: {@index comp_vector of struct ibv_cq_init_attr_ex}. */
    public int completionVector() {
        return completionVector;
    }

    /** Sets which of the device's completion vectors, from 0 ({@code comp_vector}). */
    public CompletionQueueInitAttributes completionVector(int value) {
        completionVector = value;
        return this;
    }

    /** {@return the fields that completions shall have} C: {@index wc_flags of struct ibv_cq_init_attr_ex}. */
    public Set<CompletionField> fields() {
        return fields;
    }

    /** Sets the fields that completions shall have ({@code wc_flags}). */
    public CompletionQueueInitAttributes fields(CompletionField... value) {
        fields = FlagSets.of(CompletionField.class, value);
        return this;
    }

    /** {@return whether one thread at a time polls} C: {@index flags of struct ibv_cq_init_attr_ex}. */
    public boolean singleThreaded() {
        return singleThreaded;
    }

    /** Promises that one thread at a time polls ({@index IBV_CREATE_CQ_ATTR_SINGLE_THREADED} of {@code enum} {@index ibv_create_cq_attr_flags}). */
    public CompletionQueueInitAttributes singleThreaded(boolean value) {
        singleThreaded = value;
        return this;
    }

    /**
     * {@return whether completions without room are dropped instead of failing the queue} C:
     * {@index flags of struct ibv_cq_init_attr_ex}.
     */
    public boolean ignoreOverrun() {
        return ignoreOverrun;
    }

    /** Drops completions without room instead of failing ({@index IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN}). */
    public CompletionQueueInitAttributes ignoreOverrun(boolean value) {
        ignoreOverrun = value;
        return this;
    }

    /** {@return the parent domain it belongs to, or null} C: {@index parent_domain of struct ibv_cq_init_attr_ex}. */
    public @Nullable ProtectionDomain parentDomain() {
        return parentDomain;
    }

    /** Makes it belong to a parent domain ({@code parent_domain}). */
    public CompletionQueueInitAttributes parentDomain(@Nullable ProtectionDomain value) {
        parentDomain = value;
        return this;
    }

    @Override
    public String toString() {
        return "completion queue of " + capacity + (channel == null ? "" : ", with a channel")
                + (fields.isEmpty() ? "" : ", fields " + fields);
    }
}
