// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs;

import io.rdma4j.testkit.ConformanceProfile;
import io.rdma4j.testkit.ConformanceRun;
import io.rdma4j.testkit.ConformanceSuite;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaDevice;
import io.rdma4j.verbs.RdmaDevices;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.TransportType;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The device that the conformance suite is run on.
 *
 * @param device the device
 * @param address an address of its interface
 * @param run what the report tells of the run
 */
record NativeSubject(RdmaDevice device, InetAddress address, ConformanceRun run) {
    private static final Path MAPPED = Path.of("/proc/self/maps");
    private static final Pattern LIBRARY = Pattern.compile("libibverbs\\.so\\.([0-9.]+[0-9])");
    private static final String DEVICE = "rdma4j.test.native.device";
    private static final String ADDRESS = "rdma4j.test.native.address";

    /** {@return what the system properties choose} */
    static NativeSubject ofSystem() throws RdmaException {
        String name = property(DEVICE, "the device to test, such as rxe0");
        String address = property(ADDRESS, "an IP address of the device's interface");
        RdmaDevice device = RdmaDevices.find(name);
        return new NativeSubject(device, literal(address), new ConformanceRun(name,
                "Linux " + System.getProperty("os.version") + ", libibverbs " + library(),
                profile(device.transport()), ConformanceSuite.deviceClasses()));
    }

    /** {@return the version of the library, which is loaded by now} */
    private static String library() throws RdmaException {
        try {
            Matcher found = LIBRARY.matcher(Files.readString(MAPPED));
            return found.find() ? found.group(1) : "of an unknown version";
        } catch (IOException e) {
            throw new RdmaException(Errno.EIO, "find the version of libibverbs",
                    MAPPED + " cannot be read", e);
        }
    }

    private static String property(String name, String meaning) throws RdmaException {
        String value = System.getProperty(name);
        if (value == null) {
            throw new RdmaException(Errno.EINVAL, "choose a device", "set -D" + name + " to "
                    + meaning);
        }
        return value;
    }

    private static InetAddress literal(String address) throws RdmaException {
        try {
            return InetAddress.ofLiteral(address);
        } catch (IllegalArgumentException e) {
            throw new RdmaException(Errno.EINVAL, "choose a device",
                    "-D" + ADDRESS + " takes an IP address such as 10.77.0.11, not " + address);
        }
    }

    private static ConformanceProfile profile(TransportType transport) {
        return transport == TransportType.IWARP
                ? ConformanceProfile.NATIVE_IWARP
                : ConformanceProfile.NATIVE;
    }
}
