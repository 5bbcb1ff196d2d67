package io.rdma4j.softnic.roce;

import io.rdma4j.softnic.network.DatagramNetwork;
import io.rdma4j.softnic.network.PortableNetwork;
import io.rdma4j.softnic.network.linux.LinuxNetwork;
import io.rdma4j.softnic.options.Loopback;
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

    /**
     * {@return a network of this kind}
     *
     * @param loopback how packets travel that stay on this machine, never {@link Loopback#AUTO} if they are to be seen
     * @throws RdmaException EOPNOTSUPP if they cannot travel so
     */
    public DatagramNetwork open(NetworkInterface on, Loopback loopback) throws RdmaException {
        if (kind == NetworkBackend.LINUX) {
            return new LinuxNetwork(on, switch (loopback) {
                case AUTO -> LinuxNetwork.Meeting.OTHERS;
                case SHARED -> LinuxNetwork.Meeting.ALL;
                case DIRECT, NETWORK -> LinuxNetwork.Meeting.NEVER;
            });
        }
        if (loopback == Loopback.SHARED) {
            throw RdmaException.unsupported("open device",
                    "the loopback shared needs the network back-end linux");
        }
        return new PortableNetwork(on);
    }

    @Override
    public String toString() {
        return kind.text() + " (" + reason + ")";
    }
}
