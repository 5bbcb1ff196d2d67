// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.examples.course;

import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.RdmaDevices;
import io.rdma4j.verbs.RdmaException;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.TreeSet;

/** Memory that a device may touch: protection domain, region, keys, access flags. */
public final class Lesson02 {
    private Lesson02() {}

    private interface Step {
        void run() throws RdmaException;
    }

    /** Takes the name of a device; {@code roce_lo} without one. */
    public static void main(String... words) throws RdmaException {
        String device = words.length > 0 ? words[0] : "roce_lo";
        try (Arena arena = Arena.ofShared();
                DeviceContext context = RdmaDevices.find(device).open();
                ProtectionDomain domain = context.allocateProtectionDomain()) { // 1
            MemorySegment buffer = arena.allocate(4096); // 2
            try (MemoryRegion own = domain.register(buffer, AccessFlag.LOCAL_WRITE); // 3
                    MemoryRegion shared = domain.register(buffer.asSlice(0, 64),
                            AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ)) { // 4
                show("own", own);
                show("shared", shared);
                System.out.println("same address: " + (own.address() == shared.address())
                        + ", same key: " + (own.rkey() == shared.rkey()));

                refuse("close the domain", domain::close); // 5
                refuse("REMOTE_WRITE alone",
                        () -> domain.register(buffer, AccessFlag.REMOTE_WRITE)); // 6
                refuse("an array of the heap",
                        () -> domain.register(MemorySegment.ofArray(new byte[64]))); // 7
            } // 8
        }
    }

    private static void show(String name, MemoryRegion region) {
        System.out.printf("%s: address 0x%x, %d bytes, lkey 0x%08x, rkey 0x%08x, %s%n", name,
                region.address(), region.length(), region.lkey(), region.rkey(),
                new TreeSet<>(region.access()));
    }

    private static void refuse(String what, Step step) {
        try {
            step.run();
            System.out.println(what + ": done");
        } catch (RdmaException e) {
            System.out.println(what + ": " + e.getMessage());
        }
    }
}
