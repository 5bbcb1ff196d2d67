package io.rdma4j.softnic.network.linux;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** The folder where processes of one user, and of no other, find each other. */
@EnabledOnOs(OS.LINUX)
class SharedFolderTest {
    @TempDir
    private Path place = Path.of("unset");

    private static String permissions(Path file) throws Exception {
        return PosixFilePermissions.toString(Files.getPosixFilePermissions(file));
    }

    @Test
    void theFolderOfTheSessionIsTheFirstChoice() {
        List<Path> candidates = SharedFolder.candidates("/run/user/7", Path.of("/somewhere"));
        assertThat(candidates).hasSize(3).startsWith(Path.of("/run/user/7/rdma4j"));
        assertThat(candidates.get(1).getParent()).isEqualTo(Path.of("/dev/shm"));
        assertThat(candidates.get(2).getParent()).isEqualTo(Path.of("/somewhere"));
    }

    @ParameterizedTest
    @NullSource
    @ValueSource(strings = {"", " "})
    void whereThereIsNoSessionItIsTheUsersFolderInMemory(String runtime) {
        List<Path> candidates = SharedFolder.candidates(runtime, Path.of("/somewhere"));
        assertThat(candidates).hasSize(2);
        assertThat(candidates.getFirst().getParent()).isEqualTo(Path.of("/dev/shm"));
        assertThat(candidates.getFirst().getFileName().toString()).matches("rdma4j-[0-9]+");
    }

    @Test
    void itIsMadeForTheUserAlone() throws Exception {
        Path folder = place.resolve("rdma4j");
        assertThat(SharedFolder.firstTrusted(List.of(folder))).isEqualTo(folder);
        assertThat(permissions(folder)).isEqualTo("rwx------");
        assertThat(SharedFolder.firstTrusted(List.of(folder))).isEqualTo(folder);
    }

    @Test
    void itsFilesAreForTheUserAlone() throws Exception {
        SharedPort.open(place, "port4791-test").close();
        assertThat(permissions(place.resolve("port4791-test"))).isEqualTo("rw-------");
    }

    @ParameterizedTest
    @ValueSource(strings = {"rwxrwx---", "rwx---rwx", "rwxr-x---"})
    void oneThatOthersCanUseIsPassedOver(String permissions) throws Exception {
        Path open = Files.createDirectory(place.resolve("open"));
        Files.setPosixFilePermissions(open, PosixFilePermissions.fromString(permissions));
        Path own = place.resolve("own");
        assertThat(SharedFolder.firstTrusted(List.of(open, own))).isEqualTo(own);
        assertThat(SharedFolder.firstTrusted(List.of(open))).isNull();
    }

    @Test
    void aLinkThatSomebodyMayHaveLaidIsPassedOver() throws Exception {
        Path own = Files.createDirectory(place.resolve("own"),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        Path link = Files.createSymbolicLink(place.resolve("link"), own);
        assertThat(SharedFolder.firstTrusted(List.of(link, own))).isEqualTo(own);
    }

    @Test
    void oneThatCannotBeMadeIsPassedOver() {
        Path own = place.resolve("own");
        assertThat(SharedFolder.firstTrusted(List.of(place.resolve("nowhere/rdma4j"), own)))
                .isEqualTo(own);
    }

    private Path folder(String name, int mode) throws Exception {
        Path folder = Files.createDirectory(place.resolve(name));
        Files.setAttribute(folder, "unix:mode", mode);
        return folder;
    }

    @Test
    void theFolderOfASessionIsUsed() throws Exception {
        Path session = folder("session", 0700);
        assertThat(SharedFolder.ofUser(session.toString(), place))
                .isEqualTo(session.resolve("rdma4j"));
    }

    /** Somebody could rename the folder in it, and make another. The sticky bit does not make it a session's. */
    @ParameterizedTest
    @ValueSource(ints = {0777, 01777, 0770, 0702})
    void aFolderOfASessionThatOthersCanWriteToIsPassedOver(int mode) throws Exception {
        Path session = folder("session", mode);
        assertThat(SharedFolder.ofUser(session.toString(), place)).isNotNull()
                .isNotEqualTo(session.resolve("rdma4j"));
        assertThat(session).isEmptyDirectory();
    }

    @Test
    void aFolderOfASessionWithoutARootIsPassedOver() {
        assertThat(SharedFolder.ofUser("target", place)).isNotNull()
                .isNotEqualTo(Path.of("target/rdma4j"));
    }

    @Test
    void aFolderInWhichOthersCanRenameIsPassedOver() throws Exception {
        Path own = place.resolve("own");
        Path open = folder("open", 0777);
        assertThat(SharedFolder.firstTrusted(List.of(open.resolve("rdma4j"), own))).isEqualTo(own);
        Path temporary = folder("temporary", 01777);
        assertThat(SharedFolder.firstTrusted(List.of(temporary.resolve("rdma4j"), own)))
                .isEqualTo(temporary.resolve("rdma4j"));
    }
}
