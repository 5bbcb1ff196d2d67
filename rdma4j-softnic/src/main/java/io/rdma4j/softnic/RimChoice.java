package io.rdma4j.softnic;

import io.rdma4j.softnic.linux.LinuxRim;
import io.rdma4j.softnic.rim.NioRim;
import io.rdma4j.softnic.rim.Rim;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.RimKind;

import java.net.NetworkInterface;

/**
 * Which rim serves a device.
 *
 * @param kind the one that does, never {@link RimKind#AUTO}
 * @param reason why this one, for people
 */
record RimChoice(RimKind kind, String reason) {
    /**
     * {@return the rim for what is wanted}
     *
     * @throws RdmaException EOPNOTSUPP saying why the one that is wanted does not work here
     */
    static RimChoice of(RimKind wanted) throws RdmaException {
        if (wanted == RimKind.PORTABLE) {
            return new RimChoice(RimKind.PORTABLE, "asked for");
        }
        String obstacle = LinuxRim.obstacle();
        if (obstacle == null) {
            return new RimChoice(RimKind.LINUX, "UDP segmentation and receive offload");
        }
        if (wanted == RimKind.LINUX) {
            throw RdmaException.unsupported("open device",
                    "the rim linux does not work: " + obstacle);
        }
        return new RimChoice(RimKind.PORTABLE, obstacle);
    }

    /** {@return a rim of this kind} */
    Rim open(NetworkInterface on) throws RdmaException {
        return kind == RimKind.LINUX ? new LinuxRim(on) : new NioRim(on);
    }

    @Override
    public String toString() {
        return kind.text() + " (" + reason + ")";
    }
}
