// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.device;

import io.rdma4j.softnic.options.DeviceOptions;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.RdmaDevices;
import io.rdma4j.verbs.RdmaException;

import java.net.InetAddress;

/**
 * The loopback device at an address that other processes do not use. At a shared address a packet is lost now and then
 * while another process closes its device (ADR 43), and an error that the peer reports once with it.
 */
public final class OwnLoopback {
    private OwnLoopback() {}

    /** {@return the device at an address} */
    public static DeviceContext open(String address, DeviceOptions options) throws RdmaException {
        return SoftNic.open((SoftDevice) RdmaDevices.find("roce_lo"),
                InetAddress.ofLiteral(address), options);
    }
}
