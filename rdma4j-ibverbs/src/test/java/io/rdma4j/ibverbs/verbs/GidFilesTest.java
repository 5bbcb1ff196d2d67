// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.verbs;

import io.rdma4j.device.ReportedGid;
import io.rdma4j.ibverbs.abi.FakeLibrary;
import io.rdma4j.ibverbs.abi.Layout.DeviceAttr;
import io.rdma4j.ibverbs.abi.Layout.PortAttr;
import io.rdma4j.ibverbs.abi.Native;
import io.rdma4j.ibverbs.abi.VerbsSymbol;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.GidType;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.TransportType;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.NetworkInterface;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** A library before {@code IBVERBS_1.11}, of a device with two ports of four GIDs each. */
@EnabledOnOs(OS.LINUX)
class GidFilesTest {
    private static final int PORTS = 2;
    private static final int LENGTH = 4;
    private static final int INFINIBAND = 1;
    private static final int ETHERNET = 2;
    private static final Gid OF_LINK = new Gid(0xfe80_0000_0000_0000L, 0x0002_c9ff_fea1_b2c3L);
    private static final Gid OF_IPV4 = new Gid(0, 0xffff_7f00_0001L);

    @TempDir
    private Path folder;
    private final FakeDriver driver = new FakeDriver();
    private final Map<Long, Gid> gids = new HashMap<>();
    private int linkLayer = ETHERNET;

    @BeforeEach
    void makeOld() {
        driver.kernelFolder = folder;
        driver.library.remove(VerbsSymbol.QUERY_GID_EX);
        driver.library.remove(VerbsSymbol.QUERY_GID_TABLE);
        driver.library.define(VerbsSymbol.QUERY_DEVICE, arguments -> {
            Native.putByte(Native.at(arguments[1], DeviceAttr.SIZE), DeviceAttr.PHYS_PORT_CNT,
                    PORTS);
            return 0;
        });
        driver.library.define(VerbsSymbol.QUERY_PORT, arguments -> {
            MemorySegment port = Native.at(arguments[2], PortAttr.SIZE);
            Native.putInt(port, PortAttr.GID_TBL_LEN, LENGTH);
            Native.putByte(port, PortAttr.LINK_LAYER, linkLayer);
            return 0;
        });
        driver.library.define(VerbsSymbol.QUERY_GID, arguments -> {
            if (arguments[2] >= LENGTH) {
                return FakeLibrary.fail(Errno.EINVAL.number());
            }
            Gid gid = gids.getOrDefault(place(arguments[1], arguments[2]), Gid.ZERO);
            MemorySegment target = Native.at(arguments[3], 2 * Long.BYTES);
            Native.putLong(target, 0, Native.bigEndian(gid.high()));
            Native.putLong(target, Long.BYTES, Native.bigEndian(gid.low()));
            return 0;
        });
    }

    @AfterEach
    void libraryDidNotFail() throws Exception {
        driver.close();
    }

    private static long place(long port, long index) {
        return port * LENGTH + index;
    }

    private void entry(int port, int index, Gid gid, String type, String networkInterface)
            throws IOException {
        gids.put(place(port, index), gid);
        Path attributes = folder.resolve("ports/" + port + "/gid_attrs");
        write(attributes.resolve("types/" + index), type);
        if (!networkInterface.isEmpty()) {
            write(attributes.resolve("ndevs/" + index), networkInterface);
        }
    }

    private static void write(Path file, String content) throws IOException {
        Files.createDirectories(file.getParent());
        Files.writeString(file, content + "\n");
    }

    @Test
    void tableOfRoceIsPutTogetherFromTheKernelsFiles() throws Exception {
        entry(1, 0, OF_LINK, "IB/RoCE v1", "lo");
        entry(1, 1, OF_LINK, "RoCE v2", "lo");
        // Entries that are not in use lie between others.
        entry(2, 3, OF_IPV4, "RoCE v2", "gone since");
        int lo = NetworkInterface.getByName("lo").getIndex();
        try (NativeContext context = driver.open()) {
            assertThat(context.queryGidTable()).containsExactly(
                    new ReportedGid(OF_LINK, 0, 1, GidType.ROCE_V1.code(), lo),
                    new ReportedGid(OF_LINK, 1, 1, GidType.ROCE_V2.code(), lo),
                    new ReportedGid(OF_IPV4, 3, 2, GidType.ROCE_V2.code(), 0));
            assertThat(context.queryGidEntry(1, 1))
                    .isEqualTo(new ReportedGid(OF_LINK, 1, 1, GidType.ROCE_V2.code(), lo));
        }
    }

    @Test
    void entriesOfAnInfinibandPortAreOfInfiniband() throws Exception {
        linkLayer = INFINIBAND;
        entry(1, 0, OF_LINK, "IB/RoCE v1", "");
        try (NativeContext context = driver.open()) {
            assertThat(context.queryGidTable())
                    .containsExactly(new ReportedGid(OF_LINK, 0, 1, GidType.INFINIBAND.code(), 0));
        }
    }

    @Test
    void entriesOfAnRnicAreAsOfInfiniband() throws Exception {
        driver.transport = TransportType.IWARP;
        entry(1, 0, OF_LINK, "IB/RoCE v1", "lo");
        try (NativeContext context = driver.open()) {
            assertThat(context.queryGidEntry(1, 0).type()).isEqualTo(GidType.INFINIBAND);
        }
    }

    @Test
    void entryThatIsEmptyOrNotThereIsRefused() throws Exception {
        try (NativeContext context = driver.open()) {
            assertThat(context.queryGidTable()).isEmpty();
            assertErrno(Errno.ENODATA, context, 0);
            assertErrno(Errno.EINVAL, context, LENGTH);
        }
    }

    private static void assertErrno(Errno expected, NativeContext context, int index) {
        assertThatExceptionOfType(RdmaException.class)
                .isThrownBy(() -> context.queryGidEntry(1, index))
                .satisfies(e -> assertThat(e.errno()).isEqualTo(expected));
    }
}
