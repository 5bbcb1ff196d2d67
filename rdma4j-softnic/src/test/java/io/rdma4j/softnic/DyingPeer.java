// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.cm.CmId;
import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.SendFlag;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;

/** A program that sends long messages without end, until it is killed. */
final class DyingPeer {
    static final int LENGTH = 1 << 22;

    private DyingPeer() {}

    public static void main(String[] arguments) throws Exception {
        try (CmId id = CmId.create(PortSpace.TCP); Arena arena = Arena.ofShared()) {
            id.resolveAddress(new InetSocketAddress(InetAddress.ofLiteral(arguments[0]),
                    Integer.parseInt(arguments[1])), Duration.ofSeconds(2));
            id.resolveRoute(Duration.ofSeconds(2));
            id.createQueuePair();
            MemorySegment memory = arena.allocate(LENGTH).fill((byte) 7);
            MemoryRegion region = id.registerMessages(memory);
            id.connect(new ConnectionParameters());
            for (long count = 0;; count++) {
                memory.set(ValueLayout.JAVA_LONG, 0, count);
                id.postSend(count, region, 0, LENGTH, SendFlag.SIGNALED);
                id.awaitSendCompletion();
            }
        }
    }
}
