// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.provider;

import io.rdma4j.ibverbs.abi.CmSymbol;
import io.rdma4j.ibverbs.abi.FakeLibrary;
import io.rdma4j.spi.PortAuthority;
import io.rdma4j.testkit.Wait;
import io.rdma4j.verbs.Errno;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

import static org.assertj.core.api.Assertions.assertThat;

@EnabledOnOs(OS.LINUX)
class KernelManagerTest {
    private final AtomicLong nowNs = new AtomicLong();
    private final AtomicLong attempts = new AtomicLong();
    private final FakeLibrary library = new FakeLibrary(List.of(CmSymbol.values()));
    private final KernelManager manager = new KernelManager(library::lookup,
            FakeConnections.system(), nowNs::get);
    private long channel;

    @BeforeEach
    void defineChannel() {
        library.define(CmSymbol.CREATE_EVENT_CHANNEL, arguments -> {
            attempts.incrementAndGet();
            return channel == 0 ? FakeLibrary.fail(Errno.ENOENT.number()) + 1 : channel;
        });
    }

    private static List<Thread> threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().equals("rdma4j-cm")).toList();
    }

    @Test
    void channelThatDoesNotOpenLeavesNoThreadBehind() {
        List<Thread> before = threads();
        assertThat(manager.obstacle()).contains("rdma_ucm");
        Wait.until("the thread of events has ended", () -> before.containsAll(threads()));
    }

    @Test
    void failureCountsForAWhile() {
        manager.obstacle();
        assertThat(manager.portAuthority()).isSameAs(PortAuthority.PROCESS);
        nowNs.set(KernelManager.FAILURE_COUNTS_NS - 1);
        assertThat(manager.obstacle()).contains("rdma_ucm");
        assertThat(attempts).hasValue(1);
        nowNs.set(KernelManager.FAILURE_COUNTS_NS);
        assertThat(manager.obstacle()).contains("rdma_ucm");
        assertThat(attempts).hasValue(2);
    }

    @Test
    void moduleThatIsLoadedWhileTheProgramRunsIsFoundThen() {
        assertThat(manager.obstacle()).isNotNull();
        channel = FakeConnections.channel();
        nowNs.set(KernelManager.FAILURE_COUNTS_NS);
        assertThat(manager.obstacle()).isNull();
        assertThat(manager.portAuthority()).isNotSameAs(PortAuthority.PROCESS)
                .isSameAs(manager.portAuthority());
    }
}
