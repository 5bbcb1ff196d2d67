// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.diagnosis;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Finds what a machine lacks for native devices, and says what to do about it. A finding hides those that follow from
 * it: without verbs in the kernel there is no finding about devices, without devices none about their files and limits.
 * Not synchronized; reads the files each time.
 */
public final class Diagnosis {
    /** A few queue pairs and buffers use up less than this; it is also more than the default of systems. */
    private static final long ENOUGH_TO_LOCK = 64L << 20;
    private static final String CONNECTION_MANAGER = "rdma_cm";
    private static final String WITHOUT_CONNECTIONS = "; without it native devices have verbs and"
            + " no connection manager";
    private static final String CONTAINER = "start a container with --device /dev/infiniband";

    private final KernelFiles files;
    private final String operatingSystem;
    private final boolean isNativeAccessEnabled;
    private final LibraryErrors libraryErrors;

    /** Why a library cannot be loaded, empty if it can. Called only on Linux and with native access. */
    public interface LibraryErrors {
        /** {@return the reason for libibverbs} */
        Optional<String> ofVerbs();

        /** {@return the reason for librdmacm} Called only if libibverbs can be loaded and there is a device. */
        Optional<String> ofConnectionManager();
    }

    /**
     * Of this machine.
     *
     * @param root the root of the file paths, {@code /} for the kernel's files
     * @param isNativeAccessEnabled whether the JVM lets this module call native code
     */
    public Diagnosis(Path root, boolean isNativeAccessEnabled, LibraryErrors libraryErrors) {
        this(new KernelFiles(root, Opening.FOR_READING_AND_WRITING),
                System.getProperty("os.name", "an unknown system"), isNativeAccessEnabled,
                libraryErrors);
    }

    Diagnosis(KernelFiles files, String operatingSystem, boolean isNativeAccessEnabled,
            LibraryErrors libraryErrors) {
        this.files = files;
        this.operatingSystem = operatingSystem;
        this.isNativeAccessEnabled = isNativeAccessEnabled;
        this.libraryErrors = libraryErrors;
    }

    /** {@return the findings, in the order in which to solve them; empty if nothing is missing} */
    public List<Finding> findings() {
        if (!operatingSystem.equals("Linux")) {
            return List.of(Finding.obstacle("native devices need Linux, and this is "
                    + operatingSystem + "; use the software devices, which need nothing"));
        }
        List<Finding> findings = new ArrayList<>();
        boolean isLoaded = judgeLibrary(findings);
        if (!files.hasVerbs()) {
            findings.add(noModule());
        } else if (files.verbsDevices().isEmpty()) {
            findings.add(Finding.obstacle("the kernel has no RDMA device: load the driver of the"
                    + " NIC, such as modprobe mlx5_ib, or make a device of an ordinary one:"
                    + " rdma link add rxe0 type rxe netdev eth0"));
        } else {
            files.verbsDevices().forEach(device -> judgeNode(device, findings));
            if (isLoaded) {
                judgeConnectionLibrary(findings);
            }
            judgeConnectionManager(findings);
            judgeInfinibandAddresses(findings);
            judgeLockedMemory(findings);
        }
        if (files.hasRocePort()) {
            findings.add(Finding.restriction("the kernel's RoCE driver rdma_rxe holds UDP port"
                    + " 4791, so the software RoCE devices cannot be used: use its own devices,"
                    + " which rdma link lists, or unload it with modprobe -r rdma_rxe"));
        }
        return List.copyOf(findings);
    }

    /**
     * {@return the devices that the kernel offers and the library does not list}
     *
     * @param listed the names of those that it lists
     */
    public List<Finding> unlisted(Collection<String> listed) {
        return files.verbsDevices().stream().map(KernelDevice::name)
                .filter(name -> !listed.contains(name))
                .map(name -> Finding.obstacle(name + " cannot be used, for libibverbs has no driver"
                        + " for it: install ibverbs-providers (Debian, Ubuntu) or libibverbs"
                        + " (Fedora, RHEL) in the version of the kernel's driver, or what the"
                        + " NIC's vendor ships"))
                .toList();
    }

    /** {@return whether the library of verbs can be used} */
    private boolean judgeLibrary(List<Finding> findings) {
        if (!isNativeAccessEnabled) {
            findings.add(Finding.obstacle("native devices are not used, for the JVM may not call"
                    + " native code: start it with --enable-native-access=io.rdma4j.ibverbs, or"
                    + " with --enable-native-access=ALL-UNNAMED if rdma4j is on the class path"));
            return false;
        }
        Optional<String> error = libraryErrors.ofVerbs();
        error.ifPresent(reason -> findings.add(Finding.obstacle("libibverbs cannot be loaded ("
                + firstLine(reason) + "): install libibverbs1, ibverbs-providers and librdmacm1"
                + " (Debian, Ubuntu), or rdma-core, libibverbs and librdmacm (Fedora, RHEL)")));
        return error.isEmpty();
    }

    private void judgeConnectionLibrary(List<Finding> findings) {
        libraryErrors.ofConnectionManager().ifPresent(reason -> findings.add(
                Finding.restriction("librdmacm cannot be loaded (" + firstLine(reason)
                        + "): install librdmacm1 (Debian, Ubuntu) or librdmacm (Fedora, RHEL)"
                        + WITHOUT_CONNECTIONS)));
    }

    private static String firstLine(String reason) {
        return reason.lines().findFirst().orElse("no reason given");
    }

    private Finding noModule() {
        List<String> devices = files.devices();
        String what = devices.isEmpty()
                ? "the kernel has no RDMA: modprobe ib_uverbs and the driver of the NIC, such as"
                        + " mlx5_ib"
                : "the kernel has " + String.join(", ", devices) + ", but no verbs for programs:"
                        + " modprobe ib_uverbs";
        return Finding.obstacle(what + " (for a container, on its host)");
    }

    private void judgeNode(KernelDevice device, List<Finding> findings) {
        String file = device.name() + " cannot be used, for /dev/infiniband/" + device.node();
        if (!files.hasNode(device.node())) {
            findings.add(Finding.obstacle(file + " is missing: " + CONTAINER + "; elsewhere udev"
                    + " makes it, with the rules of the package rdma-core"));
            return;
        }
        String refusal = files.refusal(device.node());
        if (refusal != null) {
            findings.add(Finding.obstacle(file + " cannot be opened (" + refusal + "): let this"
                    + " user read and write it, by chmod, by its group or by the rules of the"
                    + " package rdma-core; " + CONTAINER));
        }
    }

    private void judgeConnectionManager(List<Finding> findings) {
        String file = "/dev/infiniband/" + CONNECTION_MANAGER;
        if (!files.hasNode(CONNECTION_MANAGER)) {
            findings.add(Finding.restriction(
                    file + " is missing: modprobe rdma_ucm, and " + CONTAINER
                            + WITHOUT_CONNECTIONS));
            return;
        }
        String refusal = files.refusal(CONNECTION_MANAGER);
        if (refusal != null) {
            findings.add(Finding.restriction(file + " cannot be opened (" + refusal
                    + "): let this user read and write it, and " + CONTAINER
                    + WITHOUT_CONNECTIONS));
        }
    }

    private void judgeInfinibandAddresses(List<Finding> findings) {
        List<String> devices = files.verbsDevices().stream().map(KernelDevice::name)
                .filter(files::hasInfinibandLink).toList();
        if (!devices.isEmpty() && !files.hasInfinibandInterface()) {
            findings.add(Finding.restriction(String.join(", ", devices)
                    + " has an InfiniBand link and no network interface, by whose IP address ids"
                    + " would find it: modprobe ib_ipoib, ip address add ADDRESS dev ib0, and start"
                    + " a container with --network host"));
        }
    }

    private void judgeLockedMemory(List<Finding> findings) {
        OptionalLong limit = files.lockedMemoryLimit();
        if (limit.isPresent() && Long.compareUnsigned(limit.getAsLong(), ENOUGH_TO_LOCK) < 0) {
            findings.add(Finding.restriction("this process may lock " + limit.getAsLong() / 1024
                    + " KiB, and native devices lock all memory that is registered: raise it with"
                    + " ulimit -l unlimited, LimitMEMLOCK=infinity (systemd) or"
                    + " --ulimit memlock=-1 (docker)"));
        }
    }
}
