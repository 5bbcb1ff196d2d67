// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.testkit;

import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendOpcode;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import java.util.function.Consumer;

/** How a test wants its players. */
final class PlayerSettings {
    /** The acknowledgement timeout of a test that needs no other one. */
    static final int TIMEOUT = 14;
    private static final int MESSAGE = 3000;
    /** Long enough that a device may lend it to another process. */
    private static final int LONG_MESSAGE = 12_000;

    QueuePairType type = QueuePairType.RC;
    DomainMaker domain = DeviceContext::allocateProtectionDomain;
    QueueMaker queue = (context, domain) -> context.createCompletionQueue(4 * Player.DEPTH);
    /** Makes the memory, if it is to be a special one. */
    @Nullable
    MemoryMaker memory;
    /** Has its memory from {@link ProtectionDomain#allocateRegion}, unless it is a special one. */
    boolean isMemoryOfDevice;
    RegionMaker region = ProtectionDomain::register;
    Set<AccessFlag> regionAccess = Set.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ,
            AccessFlag.REMOTE_WRITE);
    Set<AccessFlag> queuePairAccess = Set.of(AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE,
            AccessFlag.REMOTE_ATOMIC);
    SendOpcode @Nullable [] sendOperations;
    /** Waits for each completion in a channel. */
    boolean usesEvents;
    /** Has its memory in the device. */
    boolean usesDeviceMemory;
    boolean usesSharedReceiveQueue;
    boolean signalAll;
    /** Has messages copied when they are posted, unless they are posted piece by piece. */
    boolean sendsInline;
    int messageLength = MESSAGE;
    int inlineData;
    int readAtomic = 1;
    int timeout = TIMEOUT;
    int retryCount = 7;
    int rnrRetry = 7;
    int minRnrTimer = 12;

    /** Makes the protection domain. */
    @FunctionalInterface
    interface DomainMaker {
        ProtectionDomain make(DeviceContext context) throws RdmaException;
    }

    /** Makes the completion queue. */
    @FunctionalInterface
    interface QueueMaker {
        CompletionQueue make(DeviceContext context, ProtectionDomain domain) throws RdmaException;
    }

    /** Makes the memory. */
    @FunctionalInterface
    interface MemoryMaker {
        MemorySegment make();
    }

    /** Makes the memory region. */
    @FunctionalInterface
    interface RegionMaker {
        MemoryRegion make(ProtectionDomain domain, MemorySegment memory, Set<AccessFlag> access)
                throws RdmaException;
    }

    PlayerSettings type(QueuePairType value) {
        type = value;
        // A datagram is one packet, and every path carries one of this size.
        messageLength = value == QueuePairType.UD ? 1000 : messageLength;
        return this;
    }

    /** Has its memory from the device, and long messages where a test does not ask for others. */
    PlayerSettings memoryOfDevice() {
        isMemoryOfDevice = true;
        if (messageLength == MESSAGE) {
            messageLength = LONG_MESSAGE;
        }
        return this;
    }

    /** Changes whatever has no method of its own. */
    PlayerSettings with(Consumer<PlayerSettings> change) {
        change.accept(this);
        return this;
    }

    PlayerSettings region(RegionMaker value) {
        region = value;
        return this;
    }

    PlayerSettings regionAccess(AccessFlag... value) {
        regionAccess = Set.of(value);
        return this;
    }

    PlayerSettings queuePairAccess(AccessFlag... value) {
        queuePairAccess = Set.of(value);
        return this;
    }

    /** Posts piece by piece, through the extended queue pair, made for these operations. */
    PlayerSettings sendOperations(SendOpcode... value) {
        sendOperations = value;
        return this;
    }
}
