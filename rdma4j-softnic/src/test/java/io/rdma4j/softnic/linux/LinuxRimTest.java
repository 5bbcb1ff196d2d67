package io.rdma4j.softnic.linux;

import io.rdma4j.softnic.rim.NioRim;
import io.rdma4j.softnic.rim.Rim;
import io.rdma4j.softnic.rim.RimContract;
import io.rdma4j.verbs.RdmaException;
import org.junit.jupiter.api.Test;

import java.net.NetworkInterface;

import static org.assertj.core.api.Assumptions.assumeThat;

/** The rim on Linux does what every rim does. */
class LinuxRimTest extends RimContract {
    @Override
    protected Rim newRim(NetworkInterface networkInterface) throws RdmaException {
        assumeThat(LinuxRim.obstacle()).isNull();
        return new LinuxRim(networkInterface);
    }

    @Test
    void burstReachesAPortableRim() throws Exception {
        burstArrives(rim(), portable());
    }

    @Test
    void portableRimReachesThis() throws Exception {
        burstArrives(portable(), rim());
    }

    private Rim portable() throws Exception {
        return closedAtEnd(new NioRim(loopback()));
    }
}
