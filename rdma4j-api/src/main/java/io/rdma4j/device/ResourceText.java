// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.device;

import io.rdma4j.verbs.AddressHandle;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.DeviceMemory;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.MemoryWindow;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.SharedReceiveQueue;
import io.rdma4j.verbs.ThreadDomain;

import java.util.Locale;

/**
 * The objects of the verbs in one line, alike on every device: what it is, its number as the C tools print it, its state, and
 * its device. For logs and error messages; not to be read by programs.
 */
public final class ResourceText {
    private ResourceText() {}

    /** {@return a queue pair, such as {@code queue pair 0x0788c8 RC RTS on roce_lo}} It looks at no device. */
    public static String of(QueuePair queuePair, DeviceContext context) {
        return text("queue pair 0x%06x %s %s", context, queuePair.number(), queuePair.type(),
                state(queuePair));
    }

    private static String state(QueuePair queuePair) {
        try {
            return queuePair.state().name();
        } catch (IllegalStateException closed) {
            return "closed";
        }
    }

    /** {@return a completion queue, such as {@code completion queue of 64 on roce_lo}} */
    public static String of(CompletionQueue queue) {
        return text("completion queue of %d", queue.context(), queue.capacity());
    }

    /** {@return a domain, such as {@code protection domain on roce_lo}} */
    public static String of(ProtectionDomain domain) {
        return text("protection domain", domain.context());
    }

    /** {@return a region, such as {@code memory region 0x7f3500001000+4096 rkey 0xcafef00d on roce_lo}} */
    public static String of(MemoryRegion region) {
        return text("memory region 0x%x+%d rkey 0x%08x", region.protectionDomain().context(),
                region.address(), region.length(), region.rkey());
    }

    /** {@return a window, such as {@code memory window TYPE_2 rkey 0xcafef00d on roce_lo}} */
    public static String of(MemoryWindow window) {
        return text("memory window %s rkey 0x%08x", window.protectionDomain().context(),
                window.type(), window.rkey());
    }

    /** {@return a queue, such as {@code shared receive queue BASIC on roce_lo}} */
    public static String of(SharedReceiveQueue queue) {
        return text("shared receive queue %s", queue.protectionDomain().context(), queue.type());
    }

    /** {@return a path, such as {@code address handle to 10.0.0.2 on roce_eth0}} */
    public static String of(AddressHandle handle) {
        return text("address handle to %s", handle.protectionDomain().context(),
                handle.attributes().destination().addressText());
    }

    /** {@return memory, such as {@code device memory of 4096 bytes on roce_lo}} */
    public static String of(DeviceMemory memory) {
        return text("device memory of %d bytes", memory.context(), memory.length());
    }

    /** {@return a domain, such as {@code thread domain on roce_lo}} */
    public static String of(ThreadDomain domain) {
        return text("thread domain", domain.context());
    }

    /** {@return an open device, such as {@code context of roce_lo}} */
    public static String of(DeviceContext context) {
        return "context of " + context.device().name();
    }

    private static String text(String form, DeviceContext context, Object... facts) {
        return String.format(Locale.ROOT, form, facts) + " on " + context.device().name();
    }
}
