package io.rdma4j.softnic.options;

import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.RdmaDevice;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.nio.file.Path;

/**
 * How a software device is opened: with its packets recorded, over a network made worse, over
 * another kind of sockets, or with what stays on this machine on another way.
 *
 * <p>Contexts of one process share a device, so all of them share these options: a device that is open
 * already can be opened again without options, or with the same. What is not asked for here is left to the
 * system properties {@code rdma4j.pcap=FILE}, {@code rdma4j.impair=}{@link Impairment#parse TEXT},
 * {@code rdma4j.network=}{@link NetworkBackend#parse NAME} and {@code rdma4j.loopback=}{@link Loopback#parse NAME}.
 *
 * @param capture the file that all packets are recorded in, in the format that Wireshark opens: those that
 *        really leave, after the impairment, and those that arrive intact; null asks for none
 * @param impairment what happens to the packets this device sends; {@link Impairment#NONE} asks for nothing
 * @param backend how the device reaches the network; {@link NetworkBackend#AUTO} asks for nothing
 * @param loopback how packets travel that stay on this machine; {@link Loopback#AUTO} asks for nothing
 */
public record DeviceOptions(@Nullable Path capture, Impairment impairment, NetworkBackend backend,
        Loopback loopback) {
    /** Nothing recorded, nothing impaired, the fastest that works. */
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

    /** {@return the same options with what stays on this machine on another way} */
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
