// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.sharing;

import io.rdma4j.softnic.network.linux.calls.LinuxSocket;

/** Makes a socket a member of a group: allows sharing and binds it. */
public interface SocketBinding {
    /** @throws LinuxSocket.Refused if the address cannot be bound, or not beside the sockets that are there */
    void bind(LinuxSocket socket) throws LinuxSocket.Refused;
}
