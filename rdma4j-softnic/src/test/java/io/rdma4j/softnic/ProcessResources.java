// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.testkit.Wait;

import java.io.File;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.ref.WeakReference;
import java.nio.file.Files;
import java.nio.file.Path;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What this process holds of its machine: heap in use, resident memory, open files, threads.
 *
 * @param heapBytes bytes in use after a collection
 * @param residentBytes bytes of memory that are not swapped out, heap included
 * @param files open file descriptors
 * @param threads live threads
 */
record ProcessResources(long heapBytes, long residentBytes, long files, long threads) {
    private static final long MEBIBYTE = 1 << 20;

    static ProcessResources now() throws IOException {
        collectGarbage();
        String resident = Files.readAllLines(Path.of("/proc/self/status")).stream()
                .filter(line -> line.startsWith("VmRSS:")).findFirst().orElseThrow();
        String[] open = new File("/proc/self/fd").list();
        return new ProcessResources(
                Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory(),
                1024 * Long.parseLong(resident.replaceAll("[^0-9]", "")),
                open == null ? 0 : open.length,
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

    /** Asserts that nothing has grown but for the noise of a running JVM. */
    void assertNotBelow(ProcessResources later) {
        assertThat(later.heapBytes).as("heap").isLessThan(heapBytes + 4 * MEBIBYTE);
        assertThat(later.residentBytes).as("resident memory")
                .isLessThan(residentBytes + 64 * MEBIBYTE);
        assertThat(later.files).as("open files").isLessThanOrEqualTo(files + 2);
        assertThat(later.threads).as("threads").isLessThanOrEqualTo(threads + 2);
    }
}
