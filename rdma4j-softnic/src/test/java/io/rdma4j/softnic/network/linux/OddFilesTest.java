package io.rdma4j.softnic.network.linux;

import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Something else has the name of the table's file: the opening ends, and says what is wrong and what to do. */
@EnabledOnOs(OS.LINUX)
@Timeout(30)
class OddFilesTest {
    private static final String NAME = "port4791-test";

    @TempDir
    private Path folder = Path.of("unset");

    enum Kind {
        LINK_TO_NOWHERE {
            @Override
            void make(Path at) throws IOException {
                Files.createSymbolicLink(at, at.resolveSibling("nowhere"));
            }
        },
        LINK_TO_ITSELF {
            @Override
            void make(Path at) throws IOException {
                Files.createSymbolicLink(at, at);
            }
        },
        LINK_TO_A_FILE {
            @Override
            void make(Path at) throws IOException {
                Files.createSymbolicLink(at, Files.createFile(at.resolveSibling("elsewhere")));
            }
        },
        DIRECTORY {
            @Override
            void make(Path at) throws IOException {
                Files.createDirectory(at);
            }
        },
        PIPE {
            @Override
            void make(Path at) throws Exception {
                assertThat(new ProcessBuilder("mkfifo", at.toString()).start().waitFor()).isZero();
            }
        },
        SOCKET {
            @Override
            void make(Path at) throws IOException {
                try (ServerSocketChannel socket = ServerSocketChannel
                        .open(StandardProtocolFamily.UNIX)) {
                    socket.bind(UnixDomainSocketAddress.of(at));
                }
            }
        };

        abstract void make(Path at) throws Exception;
    }

    @ParameterizedTest
    @EnumSource
    void whatIsNoRegularFileIsNamed(Kind kind) throws Exception {
        kind.make(folder.resolve(NAME));
        assertThatExceptionOfType(RdmaException.class)
                .isThrownBy(() -> SharedPort.open(folder, NAME))
                .withMessageContaining("share UDP port 4791: " + folder.resolve(NAME)
                        + " is no regular file; remove it")
                .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.EACCES));
    }

    /** They are those of other network namespaces, as far as their names tell. */
    @ParameterizedTest
    @EnumSource
    void whatIsNoRegularFileIsNotDeleted(Kind kind) throws Exception {
        kind.make(folder.resolve(NAME));
        SharedFile.deleteUnused(folder, "port4791-own");
        assertThat(Files.exists(folder.resolve(NAME), LinkOption.NOFOLLOW_LINKS)).isTrue();
    }
}
