// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import org.jspecify.annotations.Nullable;

import java.lang.ref.WeakReference;
import java.net.DatagramPacket;
import java.util.Map;
import java.util.WeakHashMap;

/**
 * How long a datagram may be that a packet takes. Programs receive into the same packet again and again; the JDK keeps its room beside the length of what it holds, but
 * outside of the JDK there is one number for both. So the room of each packet that was filled is kept here, until the program gives the packet another array or length.
 * Thread safe.
 */
final class PacketRooms {
    /** Guarded by itself. */
    private final Map<DatagramPacket, Filled> filled = new WeakHashMap<>();

    private record Filled(WeakReference<byte[]> data, int offset, int length, int room) {
        boolean isStillIn(DatagramPacket packet) {
            return data.refersTo(packet.getData()) && offset == packet.getOffset()
                    && length == packet.getLength();
        }
    }

    /** {@return how many bytes a packet takes, from its offset on} */
    int of(DatagramPacket packet) {
        synchronized (filled) {
            @Nullable
            Filled known = filled.get(packet);
            return known != null && known.isStillIn(packet) ? known.room() : packet.getLength();
        }
    }

    /** A datagram of a length was received into a packet. */
    void fill(DatagramPacket packet, int length) {
        int room = of(packet);
        packet.setLength(length);
        synchronized (filled) {
            filled.put(packet, new Filled(new WeakReference<>(packet.getData()),
                    packet.getOffset(), length, room));
        }
    }
}
