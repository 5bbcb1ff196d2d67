// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.roce;

import io.rdma4j.verbs.Gid;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Which queue pairs are members of which multicast group. For the engine's owner. */
final class MulticastGroups {
    /** The destination queue pair of datagrams to a group. Source: IBTA 9.2. */
    static final int QUEUE_PAIR = 0xff_ffff;

    /**
     * A queue pair in a group.
     *
     * @param blocksMulticastLoopback whether its own datagrams are kept from it
     */
    record Member(RoceQueuePair queuePair, boolean blocksMulticastLoopback) {}

    private final Map<Gid, List<Member>> groups = new HashMap<>();

    /**
     * Makes a queue pair a member of a group.
     *
     * @param blocksMulticastLoopback whether its own datagrams are kept from it
     */
    void join(Gid group, RoceQueuePair queuePair, boolean blocksMulticastLoopback) {
        groups.computeIfAbsent(group, g -> new ArrayList<>())
                .add(new Member(queuePair, blocksMulticastLoopback));
    }

    /** Ends a membership. {@return whether the group has lost its last member} */
    boolean leave(Gid group, RoceQueuePair queuePair) {
        List<Member> members = groups.get(group);
        if (members == null) {
            return false;
        }
        members.removeIf(member -> member.queuePair.equals(queuePair));
        if (members.isEmpty()) {
            groups.remove(group);
            return true;
        }
        return false;
    }

    /** {@return the members of a group} */
    List<Member> members(Gid group) {
        return groups.getOrDefault(group, List.of());
    }
}
