// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import io.rdma4j.structure.Reach;
import org.junit.jupiter.api.Test;

import java.io.File;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.FileReader;
import java.io.FileWriter;
import java.io.RandomAccessFile;
import java.nio.channels.AsynchronousFileChannel;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;

/** What the thread that drives an engine may do: each connection of the device waits for it. */
class EngineThreadTest {
    private static final JavaClasses DEVICES = new ClassFileImporter().importPaths(
            Path.of("target", "classes"), Path.of("..", "rdma4j-protocol", "target", "classes"),
            Path.of("..", "rdma4j-api", "target", "classes"));
    /** Where the thread begins, and the methods that run in it what they are given. */
    private static final Set<String> DRIVING = Set.of("Engine", "EngineDriver", "EngineWaiters",
            "BackgroundThread");
    private static final Set<String> TAKERS = Set.of("call", "run");
    /** Who touches files in that thread, and why it may. But for recordings none is a disk's. No further one may come. */
    private static final Map<String, String> TOUCH_FILES = Map.of(
            "AddressSpace", "/proc, when an application gives memory for a new queue pair",
            "PcapWriter", "the recording that a program has asked for",
            "ProcessFiles", "/proc, when another process is met or has ended",
            "SelectorSearch", "/proc, before a thread drives that waits for a selector as well");

    @Test
    void whoTouchesFilesInTheThreadThatDrivesAnEngineIsKnown() {
        Map<String, String> found = Reach.of(DEVICES, DRIVING, TAKERS)
                .users(EngineThreadTest::isOfFiles);
        assertThat(found.keySet()).as("%s", found)
                .containsExactlyInAnyOrderElementsOf(TOUCH_FILES.keySet());
    }

    /** A path alone is a name. */
    private static boolean isOfFiles(JavaAccess<?> access) {
        JavaClass owner = access.getTargetOwner();
        return (owner.getPackageName().startsWith("java.nio.file")
                && owner.getName().endsWith("Files"))
                || owner.isAssignableTo(File.class) || owner.isAssignableTo(RandomAccessFile.class)
                || owner.isAssignableTo(FileChannel.class)
                || owner.isAssignableTo(AsynchronousFileChannel.class)
                || owner.isAssignableTo(FileInputStream.class)
                || owner.isAssignableTo(FileOutputStream.class)
                || owner.isAssignableTo(FileReader.class)
                || owner.isAssignableTo(FileWriter.class)
                || (owner.getSimpleName().equals("LinuxCalls") && access.getName().equals("open"));
    }
}
