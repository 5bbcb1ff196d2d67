package io.rdma4j.verbs;

import org.jspecify.annotations.Nullable;

import java.nio.file.Path;

/**
 * How a device is opened, beyond what C knows: with its packets recorded, or over a network made worse.
 *
 * <p>Contexts of one process share a device, so all of them share these options: a device that is open
 * already can be opened again without options, or with the same.
 *
 * @param capture the file that all packets are recorded in, in the format that Wireshark opens; null
 *        records nothing
 * @param impairment what happens to the packets this device sends
 */
public record DeviceOptions(@Nullable Path capture, Impairment impairment) {
    /** Nothing recorded, nothing impaired. */
    public static final DeviceOptions DEFAULT = new DeviceOptions(null, Impairment.NONE);

    /** {@return the same options with packets recorded in a file, which is overwritten} */
    public DeviceOptions withCapture(Path file) {
        return new DeviceOptions(file, impairment);
    }

    /** {@return the same options over a network made worse} */
    public DeviceOptions withImpairment(Impairment value) {
        return new DeviceOptions(capture, value);
    }
}
