// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.softnic.options.DeviceOptions;
import io.rdma4j.softnic.options.Impairment;
import io.rdma4j.softnic.options.NetworkBackend;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaDevices;
import io.rdma4j.verbs.RdmaException;

import java.io.File;
import java.lang.foreign.Arena;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import javax.management.JMException;
import javax.management.ObjectName;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A program that opens and closes things in a JVM that collects no garbage, and fails if native memory is not as it was, or
 * if a lack of it is anything but ENOMEM. Its argument is the name of the device.
 */
final class NativeMemory {
    /** As much native memory as this process may have. */
    private static final long MOST = 24 << 20;
    /** One more than this host has loopback addresses that other processes know. */
    private static final int ROUNDS = 3;
    private static final NetworkBackend BACKEND = NetworkBackend
            .parse(System.getProperty("rdma4j.network"));
    private static final Pattern OTHER = Pattern.compile("Other \\(reserved=(\\d+)");

    private NativeMemory() {}

    public static void main(String[] arguments) throws Exception {
        String device = arguments[0];
        Path file = Files.createTempFile("packets", ".pcap");
        try {
            DeviceOptions worse = DeviceOptions.DEFAULT.withCapture(file)
                    .withImpairment(Impairment.parse("delay=1us"));
            assertNothingIsLeft("contexts", 20, () -> open(device, DeviceOptions.DEFAULT).close());
            assertNothingIsLeft("recorded and impaired contexts", 10,
                    () -> open(device, worse).close());
            if (BACKEND == NetworkBackend.PORTABLE) {
                // Less is not enough for the JDK's selectors, which then leave a file open.
                assertRefused(device, DeviceOptions.DEFAULT, 26_000);
                assertRefused(device, worse, 26_000, 100_000);
            } else {
                assertRefused(device, DeviceOptions.DEFAULT, 0, 1000, 100_000);
                assertRefused(device, worse, 1000, 20_000, 100_000);
            }
            Repetition.connections(course -> assertNothingIsLeft("connections", 100, course));
        } finally {
            Files.delete(file);
        }
    }

    private static DeviceContext open(String device, DeviceOptions options) throws RdmaException {
        return options.open(RdmaDevices.find(device));
    }

    /**
     * Does something a few times first, until the JDK and the process have taken what they keep anyway, and then in several
     * rounds: what is not freed is left by each of them. A single round may leave what is taken once, as a port's first flow
     * is when another process of this host asks for a service that nobody has.
     */
    private static void assertNothingIsLeft(String what, int times, Race.Course course)
            throws Exception {
        for (int i = 0; i < 3; i++) {
            course.run();
        }
        long least = Long.MAX_VALUE;
        for (int round = 0; round < ROUNDS; round++) {
            long before = used();
            for (int i = 0; i < times; i++) {
                course.run();
            }
            least = Math.min(least, used() - before);
        }
        // A thread of the JDK may keep a buffer of its own.
        assertThat(least).as("bytes that %d %s have left", times, what).isLessThan(64L * times);
    }

    /** @param free how much native memory there is, once each: too little for the device */
    private static void assertRefused(String device, DeviceOptions options, long... free)
            throws Exception {
        long before = used();
        int files = openFiles();
        for (long each : free) {
            try (Arena arena = Arena.ofShared()) {
                arena.allocate(MOST - before - each);
                assertThat(refusal(device, options)).as("with %d bytes", each)
                        .isEqualTo(Errno.ENOMEM);
            }
            assertThat(used()).as("native memory after a refusal").isEqualTo(before);
            assertThat(openFiles()).as("files after a refusal").isLessThanOrEqualTo(files);
        }
        open(device, options).close();
    }

    private static Errno refusal(String device, DeviceOptions options) {
        try (DeviceContext context = open(device, options)) {
            throw new AssertionError(context + " was opened");
        } catch (RdmaException e) {
            return e.errno();
        }
    }

    /** {@return the bytes of segments and direct buffers that are not freed, as the JVM counts them} */
    private static long used() throws JMException {
        String summary = (String) ManagementFactory.getPlatformMBeanServer().invoke(
                new ObjectName("com.sun.management:type=DiagnosticCommand"), "vmNativeMemory",
                new Object[]{new String[]{"summary", "scale=b"}},
                new String[]{String[].class.getName()});
        Matcher other = OTHER.matcher(summary);
        assertThat(other.find()).as(summary).isTrue();
        return Long.parseLong(other.group(1));
    }

    private static int openFiles() {
        return Objects.requireNonNull(new File("/proc/self/fd").list()).length;
    }
}
