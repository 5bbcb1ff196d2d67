// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.diagnosis;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.file.Path;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** Each thing that can be missing has a sentence of its own, which says what to do. */
class DiagnosisTest {
    @TempDir
    private Path root;

    private FakeMachine complete() {
        return FakeMachine.complete(root);
    }

    private FakeMachine empty() {
        return new FakeMachine(root);
    }

    private static void assertOne(FakeMachine machine, Level level, String sentence) {
        assertThat(machine.findings()).containsExactly(new Finding(level, sentence));
    }

    @Test
    void nothingIsSaidOfAMachineThatHasEverything() {
        assertThat(complete().findings()).isEmpty();
    }

    @Test
    void otherSystemsHaveNoNativeDevices() {
        FakeMachine machine = empty().operatingSystem("Mac OS X");
        assertOne(machine, Level.OBSTACLE, "native devices need Linux, and this is Mac OS X; use"
                + " the software devices, which need nothing");
        assertThat(machine.isLibraryAsked()).isFalse();
    }

    @Test
    void missingLibraryIsToBeInstalled() {
        assertOne(complete().libraryError("libibverbs.so.1: no such file\nand more"),
                Level.OBSTACLE,
                "libibverbs cannot be loaded (libibverbs.so.1: no such file): install libibverbs1,"
                        + " ibverbs-providers and librdmacm1 (Debian, Ubuntu), or rdma-core,"
                        + " libibverbs and librdmacm (Fedora, RHEL)");
    }

    @Test
    void withoutNativeAccessTheLibraryIsNotTouched() {
        FakeMachine machine = complete().withoutNativeAccess();
        assertOne(machine, Level.OBSTACLE, "native devices are not used, for the JVM may not call"
                + " native code: start it with --enable-native-access=io.rdma4j.ibverbs, or with"
                + " --enable-native-access=ALL-UNNAMED if rdma4j is on the class path");
        assertThat(machine.isLibraryAsked()).isFalse();
    }

    @Test
    void kernelWithoutRdmaNeedsModules() {
        assertOne(empty(), Level.OBSTACLE, "the kernel has no RDMA: modprobe ib_uverbs and the"
                + " driver of the NIC, such as mlx5_ib (for a container, on its host)");
    }

    @Test
    void deviceWithoutVerbsNeedsOneModule() {
        assertOne(empty().deviceWithoutVerbs("irdma0").deviceWithoutVerbs("mlx5_0"),
                Level.OBSTACLE, "the kernel has irdma0, mlx5_0, but no verbs for programs:"
                        + " modprobe ib_uverbs (for a container, on its host)");
    }

    @Test
    void kernelWithoutADeviceNeedsADriver() {
        assertOne(empty().verbs(), Level.OBSTACLE, "the kernel has no RDMA device: load the driver"
                + " of the NIC, such as modprobe mlx5_ib, or make a device of an ordinary one:"
                + " rdma link add rxe0 type rxe netdev eth0");
    }

    @Test
    void deviceWithoutAFileIsGivenToTheContainer() {
        assertOne(complete().device("mlx5_1", "uverbs1"), Level.OBSTACLE, "mlx5_1 cannot be used,"
                + " for /dev/infiniband/uverbs1 is missing: start a container with --device"
                + " /dev/infiniband; elsewhere udev makes it, with the rules of the package"
                + " rdma-core");
    }

    @Test
    void deviceThatMayNotBeOpenedNeedsPermission() {
        assertOne(complete().denied("uverbs0"), Level.OBSTACLE, "mlx5_0 cannot be used, for"
                + " /dev/infiniband/uverbs0 cannot be opened (permission denied): let this user"
                + " read and write it, by chmod, by its group or by the rules of the package"
                + " rdma-core; start a container with --device /dev/infiniband");
    }

    /** The permissions of the file are right and the container may not open it. */
    @Test
    void deviceThatAContainerMayNotOpenTellsTheSystemsReason() {
        assertThat(complete().forbidden("uverbs0").findings()).singleElement()
                .extracting(Finding::sentence).asString()
                .contains("(Operation not permitted)", "--device /dev/infiniband");
    }

    @Test
    void missingLibraryOfTheConnectionManagerIsToBeInstalled() {
        assertOne(complete().connectionLibraryError("librdmacm.so.1: no such file\nand more"),
                Level.RESTRICTION,
                "librdmacm cannot be loaded (librdmacm.so.1: no such file): install librdmacm1"
                        + " (Debian, Ubuntu) or librdmacm (Fedora, RHEL); without it native"
                        + " devices have verbs and no connection manager");
    }

    /** The remark about libibverbs names the packages of both. */
    @Test
    void libraryOfTheConnectionManagerIsNotMentionedBesideThatOfVerbs() {
        assertThat(complete().libraryError("missing").connectionLibraryError("missing").findings())
                .singleElement().extracting(Finding::sentence).asString()
                .startsWith("libibverbs cannot");
    }

    @Test
    void withoutTheFileOfTheConnectionManagerThereAreVerbs() {
        FakeMachine machine = empty().verbs().device("mlx5_0", "uverbs0").node("uverbs0");
        assertOne(machine, Level.RESTRICTION, "/dev/infiniband/rdma_cm is missing: modprobe"
                + " rdma_ucm, and start a container with --device /dev/infiniband; without it"
                + " native devices have verbs and no connection manager");
    }

    @Test
    void connectionManagerThatMayNotBeOpenedNeedsPermission() {
        assertOne(complete().denied("rdma_cm"), Level.RESTRICTION, "/dev/infiniband/rdma_cm cannot"
                + " be opened (permission denied): let this user read and write it, and start a"
                + " container with --device /dev/infiniband; without it native devices have verbs"
                + " and no connection manager");
    }

    @Test
    void lowLimitOfLockedMemoryIsToBeRaised() {
        assertOne(complete().limit("8388608"), Level.RESTRICTION, "this process may lock 8192 KiB,"
                + " and native devices lock all memory that is registered: raise it with ulimit -l"
                + " unlimited, LimitMEMLOCK=infinity (systemd) or --ulimit memlock=-1 (docker)");
    }

    @ParameterizedTest
    @ValueSource(strings = {"unlimited", "67108864", "18446744073709551615"})
    void highLimitOfLockedMemoryIsEnough(String limit) {
        assertThat(complete().limit(limit).findings()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"000001ffffffffff, 0", "0000000000004000, 0", "00000000a80425fb, 1"})
    void limitDoesNotCountForWhoMayLockMemory(String capabilities, int findings) {
        assertThat(complete().limit("65536").capabilities(capabilities).findings())
                .hasSize(findings);
    }

    /** Without a device no remark is about locked memory or a missing file. */
    @Test
    void withoutADeviceItsFilesAndLimitsAreNotMentioned() {
        assertThat(empty().verbs().limit("0").connectionLibraryError("missing").findings())
                .hasSize(1);
    }

    @ParameterizedTest
    @CsvSource({"udp, 00000000", "udp6, 00000000000000000000000000000000"})
    void kernelsRoceDriverThatHoldsThePortIsNamed(String table, String address) {
        assertOne(complete().modules("ib_core", "rdma_rxe").socket(table, address, 0),
                Level.RESTRICTION, "the kernel's RoCE driver rdma_rxe holds UDP port 4791, so the"
                        + " software RoCE devices cannot be used: use its own devices, which rdma"
                        + " link lists, or unload it with modprobe -r rdma_rxe");
    }

    @Test
    void portOfAnotherProgramIsNotTheKernels() {
        assertThat(complete().modules("rdma_rxe").socket("udp", "0100007F", 0).findings())
                .isEmpty();
        assertThat(complete().modules("rdma_rxe").socket("udp", "00000000", 1000).findings())
                .isEmpty();
        assertThat(complete().modules("mlx5_ib").socket("udp", "00000000", 0).findings())
                .isEmpty();
    }

    /** Ids find devices by IP addresses, which a link of InfiniBand has by a module alone. */
    @Test
    void infinibandWithoutANetworkInterfaceNeedsAModule() {
        assertOne(complete().link("mlx5_0", "InfiniBand").networkInterface("eth0", 1),
                Level.RESTRICTION,
                "mlx5_0 has an InfiniBand link and no network interface, by whose"
                        + " IP address ids would find it: modprobe ib_ipoib, ip address add ADDRESS"
                        + " dev ib0, and start a container with --network host");
        assertThat(complete().link("mlx5_0", "InfiniBand").networkInterface("ib0", 32).findings())
                .isEmpty();
        assertThat(complete().link("mlx5_0", "Ethernet").networkInterface("eth0", 1).findings())
                .isEmpty();
    }

    @Test
    void deviceThatTheLibraryDoesNotListNeedsItsDriver() {
        FakeMachine machine = complete().device("rxe0", "uverbs1").node("uverbs1");
        assertThat(machine.diagnosis().unlisted(List.of("mlx5_0", "rxe0"))).isEmpty();
        assertThat(machine.diagnosis().unlisted(List.of("mlx5_0"))).containsExactly(
                new Finding(Level.OBSTACLE, "rxe0 cannot be used, for libibverbs has no driver for"
                        + " it: install ibverbs-providers (Debian, Ubuntu) or libibverbs (Fedora,"
                        + " RHEL) in the version of the kernel's driver, or what the NIC's vendor"
                        + " ships"));
    }

    /** In the order in which they are to be mended. */
    @Test
    void whatHasNothingToDoWithEachOtherIsSaidAtOnce() {
        assertThat(empty().libraryError("missing").findings()).extracting(Finding::sentence)
                .satisfiesExactly(first -> assertThat(first).startsWith("libibverbs cannot"),
                        second -> assertThat(second).startsWith("the kernel has no RDMA:"));
    }

    @Test
    void sentencesAreOneLineEach() {
        FakeMachine worst = empty().verbs().device("mlx5_0", "uverbs0").limit("0")
                .libraryError("a\nb").modules("rdma_rxe").socket("udp", "00000000", 0);
        assertThat(worst.findings()).hasSize(5)
                .allSatisfy(finding -> assertThat(finding.sentence()).doesNotContain("\n"));
    }
}
