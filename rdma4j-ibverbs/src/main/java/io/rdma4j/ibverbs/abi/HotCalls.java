// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.abi;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

/**
 * Posting and polling: calls the functions that a device's provider has put into {@code ibv_context.ops}, without garbage.
 * There is one constant method handle for each signature, whose first argument is the function's address, so that the
 * compiler can inline it.
 *
 * <p>A critical call takes less time because the thread does not change its state in the JVM; so a garbage collection that
 * has to stop all threads waits for its end. It is allowed only for drivers whose functions neither call the system nor
 * wait, and whose locks no thread holds beyond one call: a critical call would wait without end for the lock of a stopped
 * thread.
 *
 * <p>Source: {@code verbs.h}, the inline functions {@code ibv_post_send}, {@code ibv_poll_cq} and their like.
 */
public enum HotCalls {
    /** Of any driver. */
    ORDINARY,
    /** As {@link Linker.Option#critical} has them. */
    CRITICAL;

    /** {@code int post(struct ibv_qp *, struct ibv_send_wr *, struct ibv_send_wr **)} and its like. */
    private static final FunctionDescriptor POSTING = FunctionDescriptor.of(JAVA_INT, JAVA_LONG,
            JAVA_LONG, JAVA_LONG);
    /** {@code int poll_cq(struct ibv_cq *, int, struct ibv_wc *)}. */
    private static final FunctionDescriptor POLLING = FunctionDescriptor.of(JAVA_INT, JAVA_LONG,
            JAVA_INT, JAVA_LONG);
    /** {@code int req_notify_cq(struct ibv_cq *, int)}. */
    private static final FunctionDescriptor ARMING = FunctionDescriptor.of(JAVA_INT, JAVA_LONG,
            JAVA_INT);

    /** {@code int start_poll(struct ibv_cq_ex *, struct ibv_poll_cq_attr *)}. */
    private static final FunctionDescriptor STARTING = FunctionDescriptor.of(JAVA_INT, JAVA_LONG,
            JAVA_LONG);
    /** {@code int next_poll(struct ibv_cq_ex *)}, and the reading of a field of 32 bits. */
    private static final FunctionDescriptor READING_INT = FunctionDescriptor.of(JAVA_INT,
            JAVA_LONG);
    /** {@code uint64_t read_completion_ts(struct ibv_cq_ex *)} and its like. */
    private static final FunctionDescriptor READING_LONG = FunctionDescriptor.of(JAVA_LONG,
            JAVA_LONG);
    /** {@code void end_poll(struct ibv_cq_ex *)}. */
    private static final FunctionDescriptor ENDING = FunctionDescriptor.ofVoid(JAVA_LONG);

    private static final Linker LINKER = Linker.nativeLinker();
    private static final MethodHandle POST = LINKER.downcallHandle(POSTING);
    private static final MethodHandle POLL = LINKER.downcallHandle(POLLING);
    private static final MethodHandle NOTIFY = LINKER.downcallHandle(ARMING);
    private static final MethodHandle START_POLL = LINKER.downcallHandle(STARTING);
    private static final MethodHandle READ_INT = LINKER.downcallHandle(READING_INT);
    private static final MethodHandle READ_LONG = LINKER.downcallHandle(READING_LONG);
    private static final MethodHandle END_POLL = LINKER.downcallHandle(ENDING);
    private static final MethodHandle CRITICAL_POST = LINKER.downcallHandle(POSTING,
            Linker.Option.critical(false));
    private static final MethodHandle CRITICAL_POLL = LINKER.downcallHandle(POLLING,
            Linker.Option.critical(false));

    /**
     * {@code post_send}, {@code post_recv} or {@code post_srq_recv}.
     *
     * @param queue the queue pair or shared receive queue
     * @param requests the first of a chain
     * @param refused receives the address of the first refused request
     * @return 0, an error number, or with siw's provider an error number negated
     */
    public int post(MemorySegment function, long queue, long requests, long refused) {
        try {
            return this == CRITICAL
                    ? (int) CRITICAL_POST.invokeExact(function, queue, requests, refused)
                    : (int) POST.invokeExact(function, queue, requests, refused);
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /** {@return the number of completions of {@code poll_cq}; negative for a failure} */
    public int poll(MemorySegment function, long queue, int count, long completions) {
        try {
            return this == CRITICAL
                    ? (int) CRITICAL_POLL.invokeExact(function, queue, count, completions)
                    : (int) POLL.invokeExact(function, queue, count, completions);
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /** {@return 0 or an error number of {@code req_notify_cq}, which is called too rarely to be critical} */
    public static int requestNotification(MemorySegment function, long queue, int solicitedOnly) {
        try {
            return (int) NOTIFY.invokeExact(function, queue, solicitedOnly);
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /** {@return 0 from {@code start_poll}, ENOENT if there is no completion, or another error number} */
    public static int startPoll(MemorySegment function, long queue, long attributes) {
        try {
            return (int) START_POLL.invokeExact(function, queue, attributes);
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /** {@return the result of {@code next_poll}, or of {@code read_*} of at most 32 bits} */
    public static int readInt(MemorySegment function, long queue) {
        try {
            return (int) READ_INT.invokeExact(function, queue);
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /** {@return the result of {@code read_*} of 64 bits} */
    public static long readLong(MemorySegment function, long queue) {
        try {
            return (long) READ_LONG.invokeExact(function, queue);
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /** {@code end_poll}. */
    public static void endPoll(MemorySegment function, long queue) {
        try {
            END_POLL.invokeExact(function, queue);
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    private static IllegalStateException unexpected(Throwable t) {
        if (t instanceof Error error) {
            throw error;
        }
        return new IllegalStateException("a call of the verbs failed in Java", t);
    }
}
