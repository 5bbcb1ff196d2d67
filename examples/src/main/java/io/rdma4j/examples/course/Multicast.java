// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.examples.course;

import io.rdma4j.cm.CmId;
import io.rdma4j.cm.MulticastMembership;
import io.rdma4j.connection.DatagramParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.verbs.AddressHandle;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.WorkCompletion;

import java.lang.foreign.Arena;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;

import static java.util.Objects.requireNonNull;

/** A multicast group: two members receive what a sender sends once. */
public final class Multicast {
    private static final int GRH = AddressHandle.GLOBAL_ROUTE_LENGTH;

    private static final Duration TIMEOUT = Duration.ofSeconds(2);

    private Multicast() {}

    /** Takes the address to use; 127.0.0.1 without one. */
    public static void main(String... words) throws Exception {
        InetAddress address = InetAddress.getByName(words.length > 0 ? words[0] : "127.0.0.1");
        InetAddress group = InetAddress.getByName(address instanceof Inet6Address
                ? "ff1e::7174"
                : address.getHostAddress().replaceFirst("\\d+", "239"));
        try (Arena arena = Arena.ofShared();
                CmId first = bound(address);
                CmId second = bound(address);
                CmId sender = bound(address);
                MemoryRegion region = sender.registerMessages(arena.allocate(192))) {
            first.joinMulticast(group); // 9
            second.joinMulticast(group);
            sender.joinMulticast(group, MulticastMembership.SEND_ONLY_FULL_MEMBER, null);
            DatagramParameters members = requireNonNull(
                    requireNonNull(sender.event()).datagram()); // 10
            first.postReceive(1, region, 64, GRH + 24);
            second.postReceive(2, region, 128, GRH + 24);
            try (AddressHandle handle = sender.protectionDomain()
                    .createAddressHandle(members.path())) {
                region.segment().setString(0, "to all");
                sender.postDatagram(3, region, 0, 7, handle, members); // 11
                System.out.printf("sent to queue pair 0x%x%n", members.queuePairNumber());
                for (CmId member : new CmId[]{first, second}) {
                    WorkCompletion completion = member.pollReceiveCompletion(TIMEOUT);
                    System.out.println(completion == null ? "nothing came" // 12
                            : "member " + completion.id() + ": " + region.segment()
                                    .getString(completion.id() * 64 + GRH));
                }
            }
        }
    }

    private static CmId bound(InetAddress address) throws RdmaException {
        CmId id = CmId.create(PortSpace.UDP);
        id.bindAddress(new InetSocketAddress(address, 0));
        id.createQueuePair();
        return id;
    }
}
