// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.memory;

import io.rdma4j.softnic.network.linux.calls.LinuxSocket;
import io.rdma4j.softnic.network.linux.calls.ProcessFiles;
import io.rdma4j.softnic.network.linux.calls.ProcessIdentity;
import io.rdma4j.softnic.network.linux.calls.SharedPages;
import io.rdma4j.softnic.network.linux.calls.SocketPoller;
import io.rdma4j.softnic.network.linux.datagram.LinuxNetwork;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.lang.foreign.Arena;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assumptions.assumeThat;

/** Pipes by which processes wake each other; here it is always this one. */
class WakePipeTest {
    private static final long PROCESS = ProcessIdentity.own();

    @BeforeEach
    void onLinux() {
        assumeThat(LinuxNetwork.obstacle()).isNull();
    }

    private static WakePipe open(WakePipe pipe) throws LinuxSocket.Refused {
        return WakePipe.open(PROCESS, pipe.readable(), pipe.inode());
    }

    @Test
    void aPipeIsWrittenToAsLongAsItIsRead() throws Exception {
        WakePipe pipe = WakePipe.create();
        try (WakePipe waker = open(pipe)) {
            assertThat(waker.wake()).isTrue();
            pipe.drain();
            assertThat(waker.wake()).isTrue();
            pipe.close();
            assertThat(waker.wake()).isFalse();
        }
    }

    /** Who sleeps in sockets as well need not ask them when it was the pipe. */
    @Test
    void aWaitTellsWhetherItWasOnlyThePipe() throws Exception {
        try (Arena arena = Arena.ofShared();
                WakePipe pipe = WakePipe.create();
                WakePipe waker = open(pipe)) {
            SocketPoller poller = new SocketPoller(arena, pipe);
            try {
                waker.wake();
                assertThat(poller.await(Long.MAX_VALUE)).isFalse();
                waker.wake();
                poller.wake();
                assertThat(poller.await(Long.MAX_VALUE)).as("woken by a thread as well").isTrue();
                assertThat(poller.await(0)).as("nothing").isFalse();
            } finally {
                poller.close();
            }
        }
    }

    @Test
    void aPipeThatIsFullWakesAsWell() throws Exception {
        try (WakePipe pipe = WakePipe.create(); WakePipe waker = open(pipe)) {
            for (int i = 0; i < 100_000; i++) {
                assertThat(waker.wake()).isTrue();
            }
        }
    }

    @Test
    void anotherPipeOfTheSameNumberIsNotOpened() throws Exception {
        WakePipe gone = WakePipe.create();
        gone.close();
        try (WakePipe other = WakePipe.create()) {
            assertThat(other.inode()).isNotEqualTo(gone.inode());
            assertThatExceptionOfType(LinuxSocket.Refused.class).isThrownBy(
                    () -> WakePipe.open(PROCESS, other.readable(), gone.inode()).close());
            try (WakePipe waker = open(other)) {
                assertThat(waker.wake()).isTrue();
            }
        }
    }

    @Test
    void whatIsNoPipeIsNotOpened() throws Exception {
        try (SharedPages pages = SharedPages.create("rdma4j-test", 4096)) {
            assertThatExceptionOfType(LinuxSocket.Refused.class)
                    .isThrownBy(() -> WakePipe.open(PROCESS, pages.descriptor(),
                            ProcessFiles.inode(pages.descriptor())).close());
        }
    }
}
