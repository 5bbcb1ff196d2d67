// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.provider;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

import static org.assertj.core.api.Assertions.assertThat;

/** The interface whose addresses are looked for is {@code lo}: every machine has it. */
@EnabledOnOs(OS.LINUX)
class DeviceAddressesTest {
    private static final InetAddress OF_LO = InetAddress.ofLiteral("127.0.0.1");
    private static final String INFINIBAND_GID = "fe80:0000:0000:0000:0002:c903:00a1:b2c3";
    /** Of IP over InfiniBand: flags and queue pair number, then the GID. */
    private static final String INFINIBAND_ADDRESS = "80:00:02:08:fe:80:00:00:00:00:00:00"
            + ":00:02:c9:03:00:a1:b2:c3";

    @TempDir
    private Path root;
    private KernelFolder kernel;

    @BeforeEach
    void makeFolder() {
        kernel = new KernelFolder(root);
    }

    private Map<InetAddress, Integer> addresses(String device) {
        return new DeviceAddresses(kernel.device(device), kernel.classes().resolve("net"))
                .byPort();
    }

    @Test
    void addressesAreThoseOfTheInterfaceThatIsNamedBesideAGid() {
        kernel.gid("mlx5_0", 0, KernelFolder.ROCE_GID, "lo");
        assertThat(addresses("mlx5_0")).containsEntry(OF_LO, 1);
    }

    @Test
    void eachAddressHasThePortWhoseTableNamesItsInterface() {
        kernel.gid("mlx4_0", 1, 0, KernelFolder.NO_GID, "no such")
                .gid("mlx4_0", 2, 0, KernelFolder.ROCE_GID, "lo");
        assertThat(addresses("mlx4_0")).containsEntry(OF_LO, 2);
    }

    @Test
    void ipOverInfinibandHasTheGidOfItsPortBehindTheQueuePairNumber() {
        kernel.gid("mlx5_0", 0, INFINIBAND_GID, "").hardware("lo", INFINIBAND_ADDRESS);
        assertThat(addresses("mlx5_0")).containsEntry(OF_LO, 1);
    }

    /** A port has a GID for each prefix, and each virtual function. */
    @Test
    void ipOverInfinibandMayHaveAnyGidOfItsPort() {
        kernel.gid("mlx5_0", 1, 0, "fe80:0000:0000:0000:0002:c903:00a1:b2c2", "")
                .gid("mlx5_0", 2, 0, "fe80:0000:0000:0000:0002:c903:00a1:ffff", "")
                .gid("mlx5_0", 2, 1, KernelFolder.NO_GID, "")
                .gid("mlx5_0", 2, 2, INFINIBAND_GID, "").hardware("lo", INFINIBAND_ADDRESS);
        assertThat(addresses("mlx5_0")).containsEntry(OF_LO, 2);
    }

    @Test
    void interfaceOfAnotherPortIsNotOne() {
        kernel.gid("mlx5_0", 0, "fe80:0000:0000:0000:0002:c903:00a1:b2c4", "")
                .hardware("lo", INFINIBAND_ADDRESS);
        assertThat(addresses("mlx5_0")).isEmpty();
    }

    @Test
    void rnicHasTheHardwareAddressInFrontOfItsFirstGid() {
        kernel.gid("siw0", 0, "5254:0012:3456:0000:0000:0000:0000:0000", "")
                .hardware("lo", "52:54:00:12:34:56");
        assertThat(addresses("siw0")).containsEntry(OF_LO, 1);
    }

    /** As of a loopback interface beside a table without entries. */
    @Test
    void zerosAreNobodysAddress() {
        kernel.gid("siw0", 0, KernelFolder.NO_GID, "").hardware("lo", "00:00:00:00:00:00");
        assertThat(addresses("siw0")).isEmpty();
    }

    @Test
    void deviceThatIsGoneHasNoAddress() throws Exception {
        assertThat(addresses("mlx5_0")).isEmpty();
        Files.createDirectories(kernel.device("mlx5_0").resolve("ports"));
        assertThat(addresses("mlx5_0")).isEmpty();
    }
}
