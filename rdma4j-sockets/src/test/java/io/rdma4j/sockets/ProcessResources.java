// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import io.rdma4j.testkit.Wait;

import java.io.File;
import java.lang.management.ManagementFactory;
import java.lang.ref.WeakReference;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import javax.management.JMException;
import javax.management.ObjectName;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What this process holds of its machine. Needs {@code -XX:NativeMemoryTracking=summary}.
 *
 * @param heapBytes bytes in use after a collection
 * @param nativeBytes bytes of segments and direct buffers that are not freed, of which the regions are made
 * @param files open file descriptors
 * @param threads live threads
 */
record ProcessResources(long heapBytes, long nativeBytes, int files, int threads) {
    private static final long MEBIBYTE = 1 << 20;
    private static final Pattern NATIVE = Pattern.compile("Other \\(reserved=(\\d+)");

    static ProcessResources now() throws JMException {
        collectGarbage();
        return new ProcessResources(
                Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory(),
                nativeMemory(), Objects.requireNonNull(new File("/proc/self/fd").list()).length,
                ManagementFactory.getThreadMXBean().getThreadCount());
    }

    /** Collects garbage until unreachable objects, and what they held, are freed. */
    private static void collectGarbage() {
        for (int i = 0; i < 2; i++) {
            WeakReference<Object> canary = new WeakReference<>(new Object());
            Wait.until("an object that nobody holds is collected", () -> canary.get() == null,
                    System::gc);
        }
    }

    private static long nativeMemory() throws JMException {
        String summary = (String) ManagementFactory.getPlatformMBeanServer().invoke(
                new ObjectName("com.sun.management:type=DiagnosticCommand"), "vmNativeMemory",
                new Object[]{new String[]{"summary", "scale=b"}},
                new String[]{String[].class.getName()});
        Matcher found = NATIVE.matcher(summary);
        assertThat(found.find()).as(summary).isTrue();
        return Long.parseLong(found.group(1));
    }

    /** Asserts that nothing has grown but for the noise of a running JVM. */
    void assertNotBelow(ProcessResources later) {
        assertThat(later.heapBytes).as("heap").isLessThan(heapBytes + 4 * MEBIBYTE);
        assertThat(later.nativeBytes).as("native memory").isLessThan(nativeBytes + MEBIBYTE / 4);
        assertThat(later.files).as("open files").isLessThanOrEqualTo(files + 2);
        assertThat(later.threads).as("threads").isLessThanOrEqualTo(threads + 2);
    }
}
