package io.rdma4j.softnic;

import io.rdma4j.cm.CmId;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.MemoryWindowBind;
import io.rdma4j.verbs.MemoryWindowType;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RdmaDevices;
import io.rdma4j.verbs.ScatterGatherElement;
import io.rdma4j.verbs.SharedReceiveQueueInitAttributes;
import org.junit.jupiter.api.Test;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;

/** What logs and error messages say of an object: its kind, its number in hex, its state, its device. */
class ResourceTextTest {
    @Test
    void eachObjectSaysInOneLineWhatItIs() throws Exception {
        try (DeviceContext context = RdmaDevices.find("roce_lo").open();
                ProtectionDomain domain = context.allocateProtectionDomain();
                CompletionQueue queue = context.createCompletionQueue(64);
                MemoryRegion region = domain.allocateRegion(4096, AccessFlag.LOCAL_WRITE,
                        AccessFlag.MW_BIND);
                var window = domain.allocateMemoryWindow(MemoryWindowType.TYPE_2);
                var shared = domain.createSharedReceiveQueue(
                        new SharedReceiveQueueInitAttributes().maxRequests(4));
                var handle = domain.createAddressHandle(
                        AddressHandleAttributes.to(context.queryGid(1, 1), 1));
                var memory = context.allocateDeviceMemory(64, 8);
                var threads = context.allocateThreadDomain()) {
            assertThat(context).hasToString("context of roce_lo");
            assertThat(domain).hasToString("protection domain on roce_lo");
            assertThat(queue).hasToString("completion queue of 64 on roce_lo");
            assertThat(region.toString())
                    .matches("memory region 0x[0-9a-f]+\\+4096 rkey 0x[0-9a-f]{8} on roce_lo");
            assertThat(window.toString())
                    .matches("memory window TYPE_2 rkey 0x[0-9a-f]{8} on roce_lo");
            assertThat(shared).hasToString("shared receive queue BASIC on roce_lo");
            assertThat(handle.toString()).matches("address handle to [0-9a-f.:]+ on roce_lo");
            assertThat(memory).hasToString("device memory of 64 bytes on roce_lo");
            assertThat(threads).hasToString("thread domain on roce_lo");
            assertThat(ScatterGatherElement.of(region, 8, 16).toString())
                    .matches("0x[0-9a-f]+\\+16 lkey 0x[0-9a-f]{8}");
            assertThat(new MemoryWindowBind(region, region.address(), 8,
                    Set.of(AccessFlag.REMOTE_WRITE)).toString())
                    .matches("0x[0-9a-f]+\\+8 \\[REMOTE_WRITE] of rkey 0x[0-9a-f]{8}");
        }
    }

    @Test
    void aQueuePairSaysItsStateAndThatItIsClosed() throws Exception {
        try (DeviceContext context = RdmaDevices.find("roce_lo").open();
                ProtectionDomain domain = context.allocateProtectionDomain();
                CompletionQueue queue = context.createCompletionQueue(64)) {
            QueuePair queuePair = domain.createQueuePair(
                    new QueuePairInitAttributes().completionQueue(queue));
            try (queuePair) {
                assertThat(queuePair.toString())
                        .matches("queue pair 0x[0-9a-f]{6} RC RESET on roce_lo");
            }
            assertThat(queuePair.toString())
                    .matches("queue pair 0x[0-9a-f]{6} RC closed on roce_lo");
        }
    }

    @Test
    void anIdSaysItsStateItsAddressesAndItsDevice() throws Exception {
        CmId id = CmId.create(PortSpace.TCP);
        assertThat(id).hasToString("id TCP IDLE");
        id.device("roce");
        id.bindAddress(new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), 0));
        assertThat(id).hasToString("id TCP BOUND 127.0.0.1:" + id.localPort() + " on roce_lo");
        id.close();
        assertThat(id.toString()).startsWith("id TCP CLOSED");
    }
}
