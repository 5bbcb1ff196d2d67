// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.sharing;

import io.rdma4j.softnic.network.ReceivedDatagram;
import io.rdma4j.softnic.network.linux.calls.LinuxSocket;
import io.rdma4j.softnic.network.linux.calls.SocketAddress;
import org.jspecify.annotations.Nullable;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Sends datagrams for an unknown process to the others of a group, by a {@link DatagramPasser} for each address family. Thread safe. */
final class DatagramPassers implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger(DatagramPassers.class.getName());

    private final SharedTable table;
    private final int prefix;
    /** Those that were needed, by address family. */
    private final Map<Integer, DatagramPasser> passers = new HashMap<>();

    /** @param prefix that this process began with */
    DatagramPassers(SharedTable table, int prefix) {
        this.table = table;
        this.prefix = prefix;
    }

    /**
     * Sends copies to the places of other processes.
     *
     * @param scope the interface of a link-local address, else 0
     */
    void passOn(ReceivedDatagram datagram, int scope, List<Integer> places) {
        synchronized (passers) {
            DatagramPasser passer = passer(SocketAddress.family(datagram.local()));
            if (passer == null || !passer.mayPass(places.size())) {
                return;
            }
            for (int place = 0; place < places.size(); place++) {
                if (places.get(place) != prefix) {
                    passer.send(datagram, datagram.local(), scope, place, table.key());
                }
            }
        }
    }

    private @Nullable DatagramPasser passer(int family) {
        DatagramPasser known = passers.get(family);
        if (known != null) {
            return known;
        }
        try {
            DatagramPasser made = new DatagramPasser(family);
            passers.put(family, made);
            return made;
        } catch (LinuxSocket.Refused e) {
            LOG.log(System.Logger.Level.DEBUG, "messages for other processes are lost", e);
            return null;
        }
    }

    @Override
    public void close() {
        synchronized (passers) {
            passers.values().forEach(DatagramPasser::close);
            passers.clear();
        }
    }
}
