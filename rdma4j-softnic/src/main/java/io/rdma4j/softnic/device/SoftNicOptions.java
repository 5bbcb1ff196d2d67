// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.device;

import io.rdma4j.softnic.options.DeviceOptions;
import io.rdma4j.softnic.options.Impairment;
import io.rdma4j.softnic.options.Loopback;
import io.rdma4j.softnic.options.NetworkBackend;
import io.rdma4j.softnic.verbs.Limits;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.function.Function;

/**
 * The options for opening a device, from system properties and from the application.
 *
 * @param device {@code rdma4j.pcap}, the file that records all packets; {@code rdma4j.impair}, the impairment of sent
 *        packets; {@code rdma4j.network}, the network back-end; {@code rdma4j.loopback}, the path of packets that stay on
 *        this machine
 */
public record SoftNicOptions(DeviceOptions device) {
    private static final String OPERATION = "open device";

    /**
     * {@return the options that the system properties set}
     *
     * @throws RdmaException EINVAL naming the property that cannot be parsed
     */
    public static SoftNicOptions ofSystem() throws RdmaException {
        return new SoftNicOptions(new DeviceOptions(capture("rdma4j.pcap"),
                property("rdma4j.impair", Impairment.NONE, Impairment::parse),
                property("rdma4j.network", NetworkBackend.AUTO, NetworkBackend::parse),
                property("rdma4j.loopback", Loopback.AUTO, Loopback::parse)));
    }

    private static @Nullable Path capture(String property) throws RdmaException {
        String text = System.getProperty(property);
        try {
            return text == null ? null : Path.of(text);
        } catch (InvalidPathException e) {
            throw new RdmaException(Errno.EINVAL, OPERATION, property + ": " + e.getMessage(), e);
        }
    }

    private static <T> T property(String name, T otherwise, Function<String, T> parser)
            throws RdmaException {
        String text = System.getProperty(name);
        try {
            return text == null ? otherwise : parser.apply(text);
        } catch (IllegalArgumentException e) {
            throw new RdmaException(Errno.EINVAL, OPERATION, name + ": " + e.getMessage(), e);
        }
    }

    /**
     * {@return the value of a system property, from 0 to {@code highest}}
     *
     * @param otherwise the default
     * @throws RdmaException EINVAL naming the property if its value is anything else
     */
    public static int number(String property, int highest, int otherwise) throws RdmaException {
        String text = System.getProperty(property);
        if (text == null) {
            return otherwise;
        }
        try {
            int value = Integer.parseInt(text);
            Limits.checkRange(OPERATION, property, value, 0, highest);
            return value;
        } catch (NumberFormatException e) {
            throw new RdmaException(Errno.EINVAL, OPERATION,
                    property + " must be a number, not '" + text + "'");
        }
    }

    /**
     * {@return whether a system property is true}
     *
     * @param otherwise the default
     * @throws RdmaException EINVAL naming the property that is neither true nor false
     */
    public static boolean flag(String property, boolean otherwise) throws RdmaException {
        String text = System.getProperty(property);
        return switch (text) {
            case null -> otherwise;
            case "true" -> true;
            case "false" -> false;
            default -> throw new RdmaException(Errno.EINVAL, OPERATION,
                    property + " must be true or false, not '" + text + "'");
        };
    }

    /** {@return these options, overridden by those of the application} */
    SoftNicOptions with(DeviceOptions wanted) {
        return new SoftNicOptions(new DeviceOptions(
                wanted.capture() == null ? device.capture() : wanted.capture(),
                wanted.impairment().isNone() ? device.impairment() : wanted.impairment(),
                wanted.backend() == NetworkBackend.AUTO ? device.backend() : wanted.backend(),
                wanted.loopback() == Loopback.AUTO ? device.loopback() : wanted.loopback()));
    }

    /**
     * Checks that an open device has the wanted options.
     *
     * @throws RdmaException EBUSY naming what differs
     */
    static void requireSame(String name, DeviceOptions present, DeviceOptions wanted)
            throws RdmaException {
        Path file = wanted.capture();
        Path presentFile = present.capture();
        if (file != null && (presentFile == null
                || !file.toAbsolutePath().normalize()
                        .equals(presentFile.toAbsolutePath().normalize()))) {
            throw busy(name, "packets recorded in " + file, presentFile == null
                    ? "none recorded"
                    : "packets recorded in " + presentFile);
        }
        if (!wanted.impairment().isNone() && !wanted.impairment().equals(present.impairment())) {
            throw busy(name, wanted.impairment().toString(),
                    present.impairment().isNone() ? "no impairment"
                            : present.impairment().toString());
        }
        if (wanted.backend() != NetworkBackend.AUTO && wanted.backend() != present.backend()) {
            throw busy(name, "the network back-end " + wanted.backend().text(),
                    "the network back-end " + present.backend().text());
        }
        if (wanted.loopback() != Loopback.AUTO && wanted.loopback() != present.loopback()) {
            throw busy(name, "the loopback " + wanted.loopback().text(),
                    "the loopback " + present.loopback().text());
        }
    }

    /**
     * {@return the path of packets that stay on this machine: {@link Loopback#NETWORK} by default if packets are recorded or
     * impaired}
     */
    public Loopback loopback() {
        boolean isWatched = device.capture() != null || !device.impairment().isNone();
        return device.loopback() == Loopback.AUTO && isWatched
                ? Loopback.NETWORK
                : device.loopback();
    }

    private static RdmaException busy(String name, String wanted, String present) {
        return new RdmaException(Errno.EBUSY, OPERATION, name + " is open in this process with "
                + present + ", so it cannot be opened with " + wanted
                + "; close its other contexts first, or ask for the same");
    }
}
