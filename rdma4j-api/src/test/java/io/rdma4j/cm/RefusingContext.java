// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.cm;

import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.AsyncEventChannel;
import io.rdma4j.verbs.CompletionQueueInitAttributes;
import io.rdma4j.verbs.DeviceAttributes;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.DeviceMemory;
import io.rdma4j.verbs.EthernetAddress;
import io.rdma4j.verbs.ExtendedCompletionQueue;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.GidEntry;
import io.rdma4j.verbs.PortAttributes;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.RdmaDevice;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ThreadDomain;
import io.rdma4j.verbs.WorkCompletion;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Map;

/** An open device that refuses everything but being closed: as that of the testkit, which is built after this module. */
class RefusingContext implements DeviceContext {
    private final RdmaDevice device;

    RefusingContext(RdmaDevice device) {
        this.device = device;
    }

    @Override
    public RdmaDevice device() {
        return device;
    }

    private RdmaException refusal() {
        return RdmaException.unsupported("use the device",
                device.name() + " refuses everything that its test does not need");
    }

    @Override
    public DeviceAttributes queryDevice() throws RdmaException {
        throw refusal();
    }

    @Override
    public long queryClock() throws RdmaException {
        throw refusal();
    }

    @Override
    public PortAttributes queryPort(int port) throws RdmaException {
        throw refusal();
    }

    @Override
    public long queryPortSpeedMbps(int port) throws RdmaException {
        throw refusal();
    }

    @Override
    public Gid queryGid(int port, int index) throws RdmaException {
        throw refusal();
    }

    @Override
    public GidEntry queryGidEntry(int port, int index) throws RdmaException {
        throw refusal();
    }

    @Override
    public List<GidEntry> queryGidTable() throws RdmaException {
        throw refusal();
    }

    @Override
    public int queryPkey(int port, int index) throws RdmaException {
        throw refusal();
    }

    @Override
    public int pkeyIndex(int port, int pkey) throws RdmaException {
        throw refusal();
    }

    @Override
    public AddressHandleAttributes pathBack(int port, WorkCompletion completion,
            MemorySegment header) throws RdmaException {
        throw refusal();
    }

    @Override
    public EthernetAddress resolveEthernet(AddressHandleAttributes path) throws RdmaException {
        throw refusal();
    }

    @Override
    public ProtectionDomain allocateProtectionDomain() throws RdmaException {
        throw refusal();
    }

    @Override
    public ExtendedCompletionQueue createExtendedCompletionQueue(
            CompletionQueueInitAttributes attributes) throws RdmaException {
        throw refusal();
    }

    @Override
    public ThreadDomain allocateThreadDomain() throws RdmaException {
        throw refusal();
    }

    @Override
    public DeviceMemory allocateDeviceMemory(long byteSize, long byteAlignment)
            throws RdmaException {
        throw refusal();
    }

    @Override
    public Map<String, Long> counters() {
        return Map.of();
    }

    @Override
    public AsyncEventChannel asyncEventChannel() {
        throw new UnsupportedOperationException("it has no asynchronous events");
    }

    @Override
    public @Nullable QueuePair queuePair(int number) {
        return null;
    }

    @Override
    public void close() throws RdmaException {}

    @Override
    public void closeAll() throws RdmaException {
        close();
    }
}
