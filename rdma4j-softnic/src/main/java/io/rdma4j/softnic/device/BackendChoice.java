package io.rdma4j.softnic.device;

import io.rdma4j.softnic.network.DatagramNetwork;
import io.rdma4j.softnic.network.PortableNetwork;
import io.rdma4j.softnic.network.linux.LinuxNetwork;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.RimKind;

import java.net.NetworkInterface;

/**
 * Which network serves a device.
 *
 * @param kind the one that does, never {@link RimKind#AUTO}
 * @param reason why this one, for people
 */
record BackendChoice(RimKind kind, String reason) {
    /**
     * {@return the network for what is wanted}
     *
     * @throws RdmaException EOPNOTSUPP saying why the one that is wanted does not work here
     */
    static BackendChoice of(RimKind wanted) throws RdmaException {
        if (wanted == RimKind.PORTABLE) {
            return new BackendChoice(RimKind.PORTABLE, "asked for");
        }
        String obstacle = LinuxNetwork.obstacle();
        if (obstacle == null) {
            return new BackendChoice(RimKind.LINUX, "UDP segmentation and receive offload");
        }
        if (wanted == RimKind.LINUX) {
            throw RdmaException.unsupported("open device",
                    "the network linux does not work: " + obstacle);
        }
        return new BackendChoice(RimKind.PORTABLE, obstacle);
    }

    /** {@return a network of this kind} */
    DatagramNetwork open(NetworkInterface on) throws RdmaException {
        return kind == RimKind.LINUX ? new LinuxNetwork(on) : new PortableNetwork(on);
    }

    @Override
    public String toString() {
        return kind.text() + " (" + reason + ")";
    }
}
