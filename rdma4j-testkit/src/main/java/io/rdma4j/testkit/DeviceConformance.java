// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.testkit;

import io.rdma4j.verbs.AtomicCapability;
import io.rdma4j.verbs.DeviceAttributes;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.DeviceLimit;
import io.rdma4j.verbs.DeviceMemory;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.GidEntry;
import io.rdma4j.verbs.LinkLayer;
import io.rdma4j.verbs.Mtu;
import io.rdma4j.verbs.NodeType;
import io.rdma4j.verbs.PortAttributes;
import io.rdma4j.verbs.PortState;
import io.rdma4j.verbs.RdmaDevice;
import io.rdma4j.verbs.RdmaDevices;
import io.rdma4j.verbs.RdmaException;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;

/** Devices: listing, opening, asking; the memory of the device itself. */
public abstract class DeviceConformance extends Conformance {
    private static final int PAGE = 4096;
    private static final int PORT = Player.PORT;

    /** Called by subclasses. */
    protected DeviceConformance() {}

    @ConformanceCase(after = "test_device.dev_list")
    void deviceIsListed() throws RdmaException {
        assertThat(RdmaDevices.list()).extracting(RdmaDevice::name).contains(device().name());
        assertThat(RdmaDevices.find(device().name()).nodeGuid()).isEqualTo(device().nodeGuid());
        assertThat(device().transport()).as("the transport of the profile")
                .isEqualTo(run().profile().transport());
    }

    @ConformanceCase(after = "test_device.open_dev")
    void deviceOpensSeveralTimes() throws RdmaException {
        DeviceContext first = open();
        DeviceContext second = open();
        assertThat(first).isNotSameAs(second);
        assertThat(first.device().name()).isEqualTo(device().name());
        first.close();
        assertThat(second.queryDevice()).isNotNull();
    }

    @ConformanceCase(after = "test_device.query_device")
    void attributesNameTheDeviceAndItsLimits() throws RdmaException {
        assertSound(open().queryDevice());
    }

    @ConformanceCase(after = "test_device.query_device_ex")
    void extendedAttributesAreSound() throws RdmaException {
        DeviceAttributes attributes = open().queryDevice();
        assertSound(attributes);
        assertThat(attributes.clockKhz()).isNotNegative();
        assertThat(attributes.maxDeviceMemory()).isNotNegative();
        assertThat(attributes.onDemandPaging().values()).doesNotContain(Set.of());
    }

    private void assertSound(DeviceAttributes attributes) throws RdmaException {
        assertThat(attributes.nodeGuid()).isNotZero().isEqualTo(device().nodeGuid());
        assertThat(attributes.systemImageGuid()).isNotZero();
        assertThat(attributes.vendorId()).isNotZero();
        assertThat(attributes.atomicCapability())
                .isEqualTo(AtomicCapability.ofCode(attributes.atomicCapabilityCode()));
        assertThat(attributes.capabilities()).allMatch(
                capability -> (attributes.capabilityFlags() & capability.bit()) != 0);
        assertThat(attributes.onDemandPagingBits().keySet())
                .containsAll(attributes.onDemandPaging().keySet());
        assertThat(attributes.limit(DeviceLimit.MAX_MR_SIZE)).isGreaterThan(PAGE);
        assertThat(attributes.limit(DeviceLimit.PAGE_SIZE_CAP)).isGreaterThanOrEqualTo(PAGE);
        for (DeviceLimit limit : List.of(DeviceLimit.MAX_QP, DeviceLimit.MAX_QP_WR,
                DeviceLimit.MAX_SGE, DeviceLimit.MAX_CQ, DeviceLimit.MAX_CQE, DeviceLimit.MAX_MR,
                DeviceLimit.MAX_PD)) {
            assertThat(attributes.limit(limit)).as(limit.field()).isPositive();
        }
        assertThat(attributes.limit(DeviceLimit.MAX_SGE_RD)).isNotNegative();
        if (device().nodeType() == NodeType.CHANNEL_ADAPTER) {
            assertThat(attributes.limit(DeviceLimit.MAX_PKEYS)).isPositive();
        }
    }

    @ConformanceCase(after = "test_device.phys_port_cnt_ex")
    void portsAreCounted() throws RdmaException {
        DeviceContext context = open();
        int ports = context.queryDevice().physicalPortCount();
        assertThat(ports).isPositive();
        assertThat(context.queryPort(ports).state()).isNotNull();
    }

    @ConformanceCase(after = "test_device.query_port")
    void portIsDescribed() throws RdmaException {
        PortAttributes port = open().queryPort(PORT);
        assertThat(port.state()).isNotNull();
        assertThat(port.activeMtu()).isLessThanOrEqualTo(port.maxMtu());
        assertThat(port.activeWidthCode()).isPositive();
        assertThat(port.activeSpeedCode()).isPositive();
        assertThat(port.linkLayer()).isEqualTo(LinkLayer.ofCode(port.linkLayerCode()));
        assertThat(Mtu.ofCode(port.maxMtuCode())).isIn(port.maxMtu(), null);
        assertThat(Mtu.ofCode(port.activeMtuCode())).isIn(port.activeMtu(), null);
        assertThat(port.flags()).allMatch(flag -> (port.flagBits() & flag.bit()) != 0);
        assertThat(port.maxMessageSize()).isGreaterThan(0x1000);
    }

    @ConformanceCase(after = "test_device.query_port_bad_flow")
    void portThatIsNotThereIsRefused() throws RdmaException {
        DeviceContext context = open();
        int beyond = context.queryDevice().physicalPortCount() + 1;
        assertRefused(() -> context.queryPort(beyond), Errno.EINVAL, Integer.toString(beyond));
        assertRefused(() -> context.queryPort(0), Errno.EINVAL, "0");
    }

    @ConformanceCase(after = "test_device.query_port_speed")
    void portHasASpeed() throws RdmaException {
        DeviceContext context = open();
        long speed = context.queryPortSpeedMbps(PORT);
        // A port that is down may have none.
        if (context.queryPort(PORT).state() == PortState.ACTIVE) {
            assertThat(speed).isPositive();
        }
        int beyond = context.queryDevice().physicalPortCount() + 1;
        assertRefused(() -> context.queryPortSpeedMbps(beyond), Errno.EINVAL,
                Integer.toString(beyond));
    }

    @ConformanceCase(after = "test_device.query_gid")
    void everyIndexOfTheGidTableCanBeAskedFor() throws RdmaException {
        DeviceContext context = open();
        int length = context.queryPort(PORT).gidTableLength();
        Set<Integer> used = usedGids(context);
        for (int index = 0; index < length; index++) {
            assertThat(context.queryGid(PORT, index).isZero()).as("GID %d is empty", index)
                    .isEqualTo(!used.contains(index));
        }
    }

    @ConformanceCase(after = "test_device.query_gid_table")
    void gidTableHoldsTheEntriesInUse() throws RdmaException {
        DeviceContext context = open();
        List<GidEntry> table = context.queryGidTable();
        assertThat(table).isNotEmpty().doesNotHaveDuplicates()
                .hasSizeLessThanOrEqualTo(tableLengths(context));
        for (GidEntry entry : table) {
            assertThat(entry.gid()).isEqualTo(context.queryGid(entry.port(), entry.index()));
        }
    }

    private static int tableLengths(DeviceContext context) throws RdmaException {
        int sum = 0;
        for (int port = 1; port <= context.queryDevice().physicalPortCount(); port++) {
            sum += context.queryPort(port).gidTableLength();
        }
        return sum;
    }

    /** In C the buffer can be too small; here what is left of that is an index beyond the table. */
    @ConformanceCase(after = "test_device.query_gid_table_bad_flow")
    void indexBeyondTheGidTableIsRefused() throws RdmaException {
        DeviceContext context = open();
        int length = context.queryPort(PORT).gidTableLength();
        assertRefused(() -> context.queryGid(PORT, length), Errno.EINVAL);
        assertRefused(() -> context.queryGid(PORT, -1), Errno.EINVAL);
        int noPort = context.queryDevice().physicalPortCount() + 1;
        assertRefused(() -> context.queryGid(noPort, 0), Errno.EINVAL);
    }

    @ConformanceCase(after = "test_device.query_gid_ex")
    void gidEntryHasItsTypeAndPlace() throws RdmaException {
        DeviceContext context = open();
        for (GidEntry entry : context.queryGidTable()) {
            assertThat(context.queryGidEntry(entry.port(), entry.index())).isEqualTo(entry);
            assertThat(entry.type()).isNotNull();
        }
    }

    @ConformanceCase(after = "test_device.query_gid_ex_bad_flow")
    void emptyGidEntryIsRefused() throws RdmaException {
        DeviceContext context = open();
        Set<Integer> used = usedGids(context);
        int length = context.queryPort(PORT).gidTableLength();
        int empty = 0;
        while (used.contains(empty)) {
            empty++;
        }
        assumeOffered(empty < length, "every entry of the GID table is in use");
        int index = empty;
        assertRefused(() -> context.queryGidEntry(PORT, index), Errno.ENODATA);
    }

    private static Set<Integer> usedGids(DeviceContext context) throws RdmaException {
        Set<Integer> used = new HashSet<>();
        for (GidEntry entry : context.queryGidTable()) {
            if (entry.port() == PORT) {
                used.add(entry.index());
            }
        }
        return used;
    }

    @ConformanceCase(after = "test_device.query_pkey")
    void firstPkeyIsOneOfAPartition() throws RdmaException {
        DeviceContext context = open();
        assertThat(context.queryPkey(PORT, 0) & 0x7fff).isNotZero();
        int length = context.queryPort(PORT).pkeyTableLength();
        assertRefused(() -> context.queryPkey(PORT, length), Errno.EINVAL);
    }

    @ConformanceCase(after = "test_device.get_pkey_index")
    void pkeyIsFoundAtItsIndex() throws RdmaException {
        DeviceContext context = open();
        assertThat(context.pkeyIndex(PORT, context.queryPkey(PORT, 0))).isZero();
        assertRefused(() -> context.pkeyIndex(PORT, 0x1234), Errno.ENOENT);
    }

    // ---------------------------------------------------------------- device memory

    private DeviceContext openWithMemory() throws RdmaException {
        DeviceContext context = open();
        assumeOffered(context.queryDevice().maxDeviceMemory() > 0, "maxDeviceMemory is 0");
        return context;
    }

    @ConformanceCase(after = "test_device.create_dm")
    void deviceMemoryOfManySizesCanBeAllocated() throws RdmaException {
        DeviceContext context = openWithMemory();
        long largest = context.queryDevice().maxDeviceMemory();
        for (long size : new long[]{4, 64, largest / 2}) {
            DeviceMemory memory = keep(context.allocateDeviceMemory(size, 4));
            assertThat(memory.length()).isEqualTo(size);
            assertThat(memory.context()).isSameAs(context);
        }
    }

    @ConformanceCase(after = "test_device.destroy_dm")
    void freedDeviceMemoryCanBeAllocatedAgain() throws RdmaException {
        DeviceContext context = openWithMemory();
        long largest = context.queryDevice().maxDeviceMemory();
        context.allocateDeviceMemory(largest, 4).close();
        context.allocateDeviceMemory(largest, 4).close();
    }

    @ConformanceCase(after = "test_device.create_dm_bad_flow")
    void moreDeviceMemoryThanThereIsIsRefused() throws RdmaException {
        DeviceContext context = openWithMemory();
        long largest = context.queryDevice().maxDeviceMemory();
        assertThat(refusalOf(() -> context.allocateDeviceMemory(largest + 1, 4)).errno())
                .isIn(Errno.EINVAL, Errno.ENOMEM);
        assertRefused(() -> context.allocateDeviceMemory(0, 4), Errno.EINVAL);
        assertRefused(() -> context.allocateDeviceMemory(64, 3), Errno.EINVAL, "3");
        DeviceMemory most = keep(context.allocateDeviceMemory(largest, 4));
        assertRefused(() -> context.allocateDeviceMemory(4, 4), Errno.ENOMEM);
        most.close();
    }

    @ConformanceCase(after = "test_device.destroy_dm_bad_flow")
    void deviceMemoryCanBeFreedTwice() throws RdmaException {
        DeviceContext context = openWithMemory();
        long largest = context.queryDevice().maxDeviceMemory();
        DeviceMemory memory = context.allocateDeviceMemory(largest, 4);
        memory.close();
        memory.close();
        // What is freed twice is there once.
        keep(context.allocateDeviceMemory(largest, 4));
        assertRefused(() -> context.allocateDeviceMemory(4, 4), Errno.ENOMEM);
    }

    @ConformanceCase(after = "test_device.dm_write")
    void deviceMemoryCanBeWritten() throws RdmaException {
        DeviceMemory memory = keep(openWithMemory().allocateDeviceMemory(1024, 4));
        byte[] expected = new byte[1024];
        for (int[] stretch : new int[][]{{0, 1024, 1}, {512, 256, 2}, {1020, 4, 3}}) {
            byte[] written = new byte[stretch[1]];
            Arrays.fill(written, (byte) stretch[2]);
            memory.copyFrom(stretch[0], MemorySegment.ofArray(written));
            Arrays.fill(expected, stretch[0], stretch[0] + stretch[1], (byte) stretch[2]);
        }
        byte[] read = new byte[1024];
        memory.copyTo(0, MemorySegment.ofArray(read));
        assertThat(read).isEqualTo(expected);
    }

    @ConformanceCase(after = "test_device.dm_write_bad_flow")
    void writingBeyondDeviceMemoryIsRefused() throws RdmaException {
        DeviceMemory memory = keep(openWithMemory().allocateDeviceMemory(1024, 4));
        MemorySegment source = MemorySegment.ofArray(new byte[8]);
        assertRefused(() -> memory.copyFrom(1020, source), Errno.EINVAL, "1024");
        assertRefused(() -> memory.copyFrom(-4, source), Errno.EINVAL, "1024");
        assertRefused(() -> memory.copyFrom(Long.MAX_VALUE - 3, source), Errno.EINVAL, "1024");
        assertRefused(() -> memory.copyTo(0, MemorySegment.ofArray(new byte[1028])),
                Errno.EINVAL, "1024");
    }

    @ConformanceCase(after = "test_device.dm_read")
    void deviceMemoryGivesBackWhatWasWritten() throws RdmaException {
        DeviceMemory memory = keep(openWithMemory().allocateDeviceMemory(1024, 4));
        byte[] read = new byte[1024];
        memory.copyTo(0, MemorySegment.ofArray(read));
        assertThat(read).containsOnly(0);
        byte[] written = new byte[512];
        for (int i = 0; i < written.length; i++) {
            written[i] = (byte) (3 * i + 1);
        }
        memory.copyFrom(256, MemorySegment.ofArray(written));
        byte[] back = new byte[512];
        memory.copyTo(256, MemorySegment.ofArray(back));
        assertThat(back).isEqualTo(written);
    }
}
