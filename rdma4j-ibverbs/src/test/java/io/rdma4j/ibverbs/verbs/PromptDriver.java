// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.verbs;

import io.rdma4j.ibverbs.abi.ContextOperation;
import io.rdma4j.ibverbs.abi.Layout.ReceiveRequest;
import io.rdma4j.ibverbs.abi.Layout.WorkCompletion;
import io.rdma4j.ibverbs.abi.Native;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;

/**
 * Has a {@link FakeDriver} complete at once what is posted, and makes no garbage: what a thread allocates that posts to it
 * and polls, the classes under test have allocated.
 */
final class PromptDriver {
    /** A power of two, more than a test posts before it polls. */
    private static final int PLACES = 256;
    private static final MemorySegment MEMORY = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

    private final Arena arena = Arena.ofAuto();
    private final long[] numbers = new long[PLACES];
    private int posted;
    private int polled;
    private int armed;

    /** Takes the place of what the driver posts and polls with. */
    PromptDriver(FakeDriver driver) throws ReflectiveOperationException {
        put(driver, ContextOperation.POST_SEND, "post");
        put(driver, ContextOperation.POST_RECV, "post");
        put(driver, ContextOperation.POST_SRQ_RECV, "post");
        put(driver, ContextOperation.POLL_CQ, "poll");
        put(driver, ContextOperation.REQ_NOTIFY_CQ, "arm");
    }

    private void put(FakeDriver driver, ContextOperation operation, String method)
            throws ReflectiveOperationException {
        FunctionDescriptor descriptor = operation.signature().descriptor();
        driver.put(operation.offset(), Linker.nativeLinker().upcallStub(MethodHandles.lookup()
                .findVirtual(PromptDriver.class, method, descriptor.toMethodType()).bindTo(this),
                descriptor, arena).address());
    }

    /** {@return how often an event was asked for} */
    int armed() {
        return armed;
    }

    // Called by their names.

    @SuppressWarnings("unused")
    private int post(long queue, long first, long refused) {
        for (long at = first; at != 0; at = Native.getLong(MEMORY, at + ReceiveRequest.NEXT)) {
            numbers[posted++ & PLACES - 1] = Native.getLong(MEMORY, at + ReceiveRequest.WR_ID);
        }
        return 0;
    }

    @SuppressWarnings("unused")
    private int poll(long queue, int most, long into) {
        int count = Math.min(most, posted - polled);
        for (int i = 0; i < count; i++) {
            long at = into + i * WorkCompletion.SIZE;
            Native.putLong(MEMORY, at + WorkCompletion.WR_ID, numbers[polled++ & PLACES - 1]);
            Native.putInt(MEMORY, at + WorkCompletion.STATUS, 0);
            Native.putInt(MEMORY, at + WorkCompletion.WC_FLAGS, 0);
        }
        return count;
    }

    @SuppressWarnings("unused")
    private int arm(long queue, int isSolicitedOnly) {
        armed++;
        return 0;
    }
}
