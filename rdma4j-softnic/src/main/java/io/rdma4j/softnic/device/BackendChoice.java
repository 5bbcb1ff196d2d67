package io.rdma4j.softnic.device;

import io.rdma4j.softnic.network.DatagramNetwork;
import io.rdma4j.softnic.network.PortableNetwork;
import io.rdma4j.softnic.network.linux.LinuxNetwork;
import io.rdma4j.softnic.options.NetworkBackend;
import io.rdma4j.verbs.RdmaException;

import java.net.NetworkInterface;

/**
 * Which network serves a device.
 *
 * @param kind the one that does, never {@link NetworkBackend#AUTO}
 * @param reason why this one, for people
 */
public record BackendChoice(NetworkBackend kind, String reason) {
    /**
     * {@return the network for what is wanted}
     *
     * @throws RdmaException EOPNOTSUPP saying why the one that is wanted does not work here
     */
    public static BackendChoice of(NetworkBackend wanted) throws RdmaException {
        if (wanted == NetworkBackend.PORTABLE) {
            return new BackendChoice(NetworkBackend.PORTABLE, "asked for");
        }
        String obstacle = LinuxNetwork.obstacle();
        if (obstacle == null) {
            return new BackendChoice(NetworkBackend.LINUX, "UDP segmentation and receive offload");
        }
        if (wanted == NetworkBackend.LINUX) {
            throw RdmaException.unsupported("open device",
                    "the network linux does not work: " + obstacle);
        }
        return new BackendChoice(NetworkBackend.PORTABLE, obstacle);
    }

    /** {@return a network of this kind} */
    public DatagramNetwork open(NetworkInterface on) throws RdmaException {
        return kind == NetworkBackend.LINUX ? new LinuxNetwork(on) : new PortableNetwork(on);
    }

    @Override
    public String toString() {
        return kind.text() + " (" + reason + ")";
    }
}
