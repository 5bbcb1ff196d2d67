// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.provider;

import io.rdma4j.ibverbs.abi.CmSymbol;
import io.rdma4j.ibverbs.abi.FakeLibrary;
import io.rdma4j.ibverbs.abi.VerbsSymbol;
import io.rdma4j.spi.CmDevice;
import io.rdma4j.spi.PortAuthority;
import io.rdma4j.verbs.DeviceKind;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.NodeType;
import io.rdma4j.verbs.RdmaDevice;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.TransportType;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

import java.lang.foreign.SymbolLookup;
import java.net.InetAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

@EnabledOnOs(OS.LINUX)
class NativeProviderTest {
    private static final String VERBS = "libibverbs.so.1";
    private static final String CONNECTIONS = "librdmacm.so.1";
    private static final InetAddress OF_LO = InetAddress.ofLiteral("127.0.0.1");

    @TempDir
    private Path root;
    private final FakeVerbs verbs = new FakeVerbs();
    private final Map<String, SymbolLookup> libraries = new HashMap<>();
    private final List<String> loaded = new ArrayList<>();
    private KernelFolder kernel;
    private NativeProvider provider;

    @BeforeEach
    void makeProvider() {
        kernel = new KernelFolder(root);
        libraries.put(VERBS, verbs.functions.lookup());
        provider = new NativeProvider(root, library -> {
            loaded.add(library);
            SymbolLookup found = libraries.get(library);
            if (found == null) {
                throw new IllegalArgumentException("no " + library + "\nand more");
            }
            return found;
        });
    }

    @AfterEach
    void libraryWasUsedWell() {
        assertThat(verbs.faults()).isEmpty();
    }

    /** A machine with a device at the address of {@code lo}, without librdmacm. */
    private CmDevice oneDevice() {
        kernel.gid("mlx5_0", 0, KernelFolder.ROCE_GID, "lo").verbs("mlx5_0");
        verbs.device("mlx5_0", NodeType.CHANNEL_ADAPTER, TransportType.INFINIBAND);
        return (CmDevice) provider.devices().getFirst();
    }

    // ---------------------------------------------------------------- which devices there are

    @Test
    void machineWithoutADeviceLoadsNoLibrary() {
        assertThat(provider.devices()).isEmpty();
        assertThat(loaded).isEmpty();
    }

    @Test
    void devicesAreThoseThatTheLibraryLists() {
        oneDevice();
        verbs.device("siw0", NodeType.RNIC, TransportType.IWARP);
        assertThat(provider.devices()).extracting(RdmaDevice::name).containsExactly("mlx5_0",
                "siw0");
        CmDevice first = (CmDevice) provider.devices().getFirst();
        assertThat(first.kind()).isEqualTo(DeviceKind.NATIVE);
        assertThat(first.index()).isEqualTo(7);
        assertThat(first.nodeGuid()).isEqualTo(0x0002_c903_00a1_b2c3L);
        assertThat(first.hostedAddresses()).contains(OF_LO);
        assertThat(first.hosts(OF_LO)).isTrue();
        RdmaDevice second = provider.devices().getLast();
        assertThat(second.nodeType()).isEqualTo(NodeType.RNIC);
        assertThat(second.nodeTypeCode()).isEqualTo(4);
        assertThat(second.transport()).isEqualTo(TransportType.IWARP);
        assertThat(second.transportCode()).isEqualTo(1);
        // Listing is no reason to open the connection manager.
        assertThat(loaded).containsExactly(VERBS);
    }

    @Test
    void kindsThatThisVersionDoesNotKnowAreToldWithTheirNumbers() {
        oneDevice();
        verbs.device("newer0", 99, 77);
        RdmaDevice newer = provider.devices().getLast();
        assertThat(newer.nodeType()).isEqualTo(NodeType.UNKNOWN);
        assertThat(newer.nodeTypeCode()).isEqualTo(99);
        assertThat(newer.transport()).isEqualTo(TransportType.UNKNOWN);
        assertThat(newer.transportCode()).isEqualTo(77);
    }

    @Test
    void listEndsWhereTheLibraryEndsIt() {
        oneDevice();
        verbs.excess = 3;
        assertThat(provider.devices()).extracting(RdmaDevice::name).containsExactly("mlx5_0");
    }

    @Test
    void oldLibraryKnowsNoIndex() {
        verbs.functions.remove(VerbsSymbol.GET_DEVICE_INDEX);
        assertThat(oneDevice().index()).isEqualTo(-1);
    }

    @Test
    void withoutTheKernelsModuleThereAreNoDevices() {
        oneDevice();
        verbs.isThere = false;
        assertThat(provider.devices()).isEmpty();
    }

    @Test
    void withoutALibraryThereAreNoDevicesAndARemarkSaysWhy() {
        kernel.gid("mlx5_0", 0, KernelFolder.ROCE_GID, "lo").verbs("mlx5_0");
        libraries.clear();
        assertThat(provider.devices()).isEmpty();
        assertThat(provider.remarks()).singleElement().asString()
                .startsWith("libibverbs cannot be loaded (no libibverbs.so.1): install");
    }

    /** As on a system for which Java has no linker. */
    @Test
    void libraryThatCannotBeLookedIntoIsNotInTheWayOfOtherDevices() {
        kernel.gid("mlx5_0", 0, KernelFolder.ROCE_GID, "lo").verbs("mlx5_0");
        libraries.put(VERBS, function -> {
            throw new UnsupportedOperationException("no linker for this processor");
        });
        assertThat(provider.devices()).isEmpty();
        assertThat(provider.remarks()).singleElement().asString()
                .startsWith("libibverbs cannot be loaded (no linker for this processor): ");
    }

    @Test
    void libraryThatLacksAFunctionIsNotUsed() {
        kernel.gid("mlx5_0", 0, KernelFolder.ROCE_GID, "lo").verbs("mlx5_0");
        verbs.functions.remove(VerbsSymbol.CREATE_QP);
        assertThat(provider.devices()).isEmpty();
        assertThat(provider.remarks()).singleElement().asString().contains("ibv_create_qp");
    }

    // ---------------------------------------------------------------- opening one

    @Test
    void deviceThatMayNotBeOpenedSaysWhatToDo() {
        RdmaDevice device = oneDevice();
        verbs.openFailure = Errno.EACCES.number();
        assertThatExceptionOfType(RdmaException.class).isThrownBy(device::open)
                .withMessageContainingAll("mlx5_0", "/dev/infiniband/uverbs")
                .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.EACCES));
        assertThat(verbs.opened).containsExactly("mlx5_0");
    }

    @Test
    void deviceThatIsGoneCannotBeOpened() {
        RdmaDevice device = oneDevice();
        verbs.removeDevices();
        assertThatExceptionOfType(RdmaException.class).isThrownBy(device::open)
                .withMessageContaining("mlx5_0 is gone")
                .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.ENODEV));
        assertThat(verbs.opened).isEmpty();
    }

    // ---------------------------------------------------------------- the connection manager

    @Test
    void withoutTheLibraryOfTheConnectionManagerIdsCannotUseTheDevice() {
        CmDevice device = oneDevice();
        assertThat(device.obstacle()).contains("librdmacm cannot be loaded", "librdmacm1");
        assertThat(device.portAuthority()).isSameAs(PortAuthority.PROCESS);
        assertThat(provider.remarks()).anyMatch(
                remark -> remark.startsWith("librdmacm cannot be loaded (no librdmacm.so.1): "));
    }

    @Test
    void connectionManagerThatOpensIsUsedByAllDevices() {
        verbs.device("mlx5_1", NodeType.CHANNEL_ADAPTER, TransportType.INFINIBAND);
        CmDevice device = oneDevice();
        CmDevice other = (CmDevice) provider.devices().getLast();
        libraries.put(CONNECTIONS, FakeConnections.working().lookup());
        assertThat(device.obstacle()).isNull();
        assertThat(other.portAuthority()).isSameAs(device.portAuthority())
                .isNotSameAs(PortAuthority.PROCESS);
        assertThat(device.portAuthority().hasOneWildcardListener()).isTrue();
    }

    /** As without the module rdma_ucm. */
    @Test
    void withoutTheKernelsConnectionManagerIdsCannotUseTheDevice() {
        FakeLibrary broken = new FakeLibrary(List.of(CmSymbol.values()));
        broken.define(CmSymbol.CREATE_EVENT_CHANNEL,
                arguments -> FakeLibrary.fail(Errno.ENOENT.number()) + 1);
        libraries.put(CONNECTIONS, broken.lookup());
        assertThat(oneDevice().obstacle()).contains("/dev/infiniband/rdma_cm", "rdma_ucm");
    }
}
