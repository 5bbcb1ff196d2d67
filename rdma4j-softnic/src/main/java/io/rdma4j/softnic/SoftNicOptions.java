package io.rdma4j.softnic;

import io.rdma4j.protocol.cm.CmSettings;
import io.rdma4j.softnic.rim.CapturingRim;
import io.rdma4j.softnic.rim.NioRim;
import io.rdma4j.softnic.rim.Rim;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.nio.file.Path;

/**
 * How a device is opened, from system properties.
 *
 * @param capture {@code rdma4j.pcap}: the file that all packets are recorded in, or null
 * @param responseTimeout {@code rdma4j.cm.responseTimeout}: the connection manager's wait for an answer,
 *        4.096 us times 2 to this power; null for the default
 * @param maxRetries {@code rdma4j.cm.maxRetries}: how often it asks again; null for the default
 */
record SoftNicOptions(@Nullable Path capture, @Nullable Integer responseTimeout,
        @Nullable Integer maxRetries) {

    static SoftNicOptions ofSystem() throws RdmaException {
        String file = System.getProperty("rdma4j.pcap");
        return new SoftNicOptions(file == null ? null : Path.of(file),
                number("rdma4j.cm.responseTimeout", 31), number("rdma4j.cm.maxRetries", 15));
    }

    private static @Nullable Integer number(String property, int highest) throws RdmaException {
        String text = System.getProperty(property);
        if (text == null) {
            return null;
        }
        try {
            int value = Integer.parseInt(text);
            Limits.checkRange("open device", property, value, 0, highest);
            return value;
        } catch (NumberFormatException e) {
            throw new RdmaException(Errno.EINVAL, "open device",
                    property + " must be a number, not '" + text + "'");
        }
    }

    Rim newRim(SoftDevice device) throws RdmaException {
        Rim rim = new NioRim(device.networkInterface());
        return capture == null ? rim : CapturingRim.open(rim, capture);
    }

    CmSettings patience(CmSettings defaults) {
        return defaults.withPatience(
                responseTimeout == null ? defaults.responseTimeout() : responseTimeout,
                maxRetries == null ? defaults.maxRetries() : maxRetries);
    }
}
