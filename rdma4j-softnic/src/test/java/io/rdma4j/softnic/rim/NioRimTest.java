package io.rdma4j.softnic.rim;

import io.rdma4j.verbs.RdmaException;

import java.net.NetworkInterface;

/** The portable rim does what every rim does. */
class NioRimTest extends RimContract {
    @Override
    protected Rim newRim(NetworkInterface networkInterface) throws RdmaException {
        return new NioRim(networkInterface);
    }
}
