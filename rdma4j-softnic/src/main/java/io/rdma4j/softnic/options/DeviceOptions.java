// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.options;

import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.RdmaDevice;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.nio.file.Path;

/**
 * The options for opening a software device: recording its packets, impairing its network, choosing the network
 * back-end, and choosing the path of packets that stay on this machine.
 *
 * <p>All contexts of one process share a device, and so its options: an open device can be opened again only without
 * options or with the same ones. For options that are not set here, the system properties apply: {@code
 * rdma4j.pcap=FILE}, {@code rdma4j.impair=}{@link Impairment#parse TEXT}, {@code rdma4j.network=}{@link
 * NetworkBackend#parse NAME} and {@code rdma4j.loopback=}{@link Loopback#parse NAME}.
 *
 * @param capture the file that records all packets, in a format for Wireshark: those that really leave, after the
 *        impairment, and those that arrive intact; null if not set
 * @param impairment the impairment of the packets that this device sends; {@link Impairment#NONE} if not set
 * @param backend the network back-end; {@link NetworkBackend#AUTO} if not set
 * @param loopback the path of packets that stay on this machine; {@link Loopback#AUTO} if not set
 */
public record DeviceOptions(@Nullable Path capture, Impairment impairment, NetworkBackend backend,
        Loopback loopback) {
    /** No recording, no impairment, the fastest back-end that works. */
    public static final DeviceOptions DEFAULT = new DeviceOptions(null, Impairment.NONE,
            NetworkBackend.AUTO, Loopback.AUTO);

    /** {@return the same options with packets recorded in a file, which is overwritten} */
    public DeviceOptions withCapture(Path file) {
        return new DeviceOptions(file, impairment, backend, loopback);
    }

    /** {@return the same options over a network made worse} */
    public DeviceOptions withImpairment(Impairment value) {
        return new DeviceOptions(capture, value, backend, loopback);
    }

    /** {@return the same options over another kind of sockets} */
    public DeviceOptions withBackend(NetworkBackend value) {
        return new DeviceOptions(capture, impairment, value, loopback);
    }

    /** {@return the same options with another path of packets that stay on this machine} */
    public DeviceOptions withLoopback(Loopback value) {
        return new DeviceOptions(capture, impairment, backend, value);
    }

    /**
     * Opens a device with these options.
     *
     * @throws RdmaException EOPNOTSUPP if it is no device of the software NIC, EBUSY if it is open in this process with
     *         other options, and as from {@link RdmaDevice#open}
     */
    public DeviceContext open(RdmaDevice device) throws RdmaException {
        if (device instanceof SoftwareDevice software) {
            return software.open(this);
        }
        throw RdmaException.unsupported("open device", device.name()
                + " is no device of the software NIC, which alone has these options");
    }
}
