// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network;

import io.rdma4j.verbs.RdmaException;

import java.net.NetworkInterface;

/** The portable network does what every network does. */
class PortableNetworkTest extends NetworkContract {
    @Override
    protected DatagramNetwork newNetwork(NetworkInterface networkInterface) throws RdmaException {
        return new PortableNetwork(networkInterface);
    }
}
