// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.host;

import io.rdma4j.testkit.Wait;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

@Timeout(60)
class HostWatchTest {
    private final List<ScriptedSource> opened = new CopyOnWriteArrayList<>();
    private final Host atFirst = host("lo");
    private final HostWatch watch = new HostWatch(() -> {
        ScriptedSource source = new ScriptedSource(atFirst);
        opened.add(source);
        return source;
    });
    private final List<Host> heard = new CopyOnWriteArrayList<>();
    private final Runnable listener = new Runnable() {
        @Override
        public void run() {
            try {
                heard.add(watch.now());
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        }
    };

    private static Host host(String... names) {
        List<HostInterface> interfaces = new ArrayList<>();
        for (String name : names) {
            interfaces.add(new HostInterface(name, interfaces.size() + 1, true, true, false, 1500,
                    List.of()));
        }
        return new Host(interfaces);
    }

    private ScriptedSource source() {
        return opened.getLast();
    }

    @Test
    void whoWatchesHearsOfEachChange() {
        watch.watch(listener);
        source().change(host("lo", "eth0"));
        Wait.until("the first is heard", () -> heard.equals(List.of(host("lo", "eth0"))));
        source().change(host("lo"));
        Wait.until("the second is heard",
                () -> heard.equals(List.of(host("lo", "eth0"), host("lo"))));
        watch.forget(listener);
    }

    @Test
    void reportWithoutAChangeIsNotPassedOn() {
        watch.watch(listener);
        source().change(host("lo"));
        Wait.until("it has looked", () -> source().looks() == 2);
        source().change(host("lo", "eth0"));
        Wait.until("the change is heard", () -> !heard.isEmpty());
        assertThat(heard).containsExactly(host("lo", "eth0"));
        watch.forget(listener);
    }

    /** What it has seen took the report from the thread, which has to tell it nevertheless. */
    @Test
    void whoAsksSeesAChangeThatNobodyHasHeardOfAndAllHearOfItAfterwards() throws Exception {
        watch.watch(listener);
        source().change(host("lo", "eth0"));
        assertThat(watch.now()).isEqualTo(host("lo", "eth0"));
        Wait.until("it is heard", () -> heard.equals(List.of(host("lo", "eth0"))));
        watch.forget(listener);
    }

    @Test
    void whileNothingChangesTheSystemIsAskedOnce() throws Exception {
        watch.watch(listener);
        for (int i = 0; i < 10; i++) {
            watch.now();
        }
        assertThat(source().looks()).isOne();
        watch.forget(listener);
    }

    @Test
    void systemThatCannotBeAskedIsAskedAgain() {
        watch.watch(listener);
        source().isUnknown(true);
        source().change(host("lo", "eth0"));
        Wait.until("it has been asked in vain", () -> source().looks() > 3);
        assertThatIOException().isThrownBy(watch::now).withMessage("Too many open files");
        assertThat(heard).isEmpty();
        source().isUnknown(false);
        Wait.until("the change is heard", () -> heard.equals(List.of(host("lo", "eth0"))));
        watch.forget(listener);
    }

    @Test
    void listenerThatFailsKeepsNoOtherFromHearing() {
        Runnable failing = () -> {
            throw new IllegalStateException("for this test");
        };
        watch.watch(failing);
        watch.watch(listener);
        source().change(host("lo", "eth0"));
        Wait.until("the other has heard", () -> !heard.isEmpty());
        watch.forget(failing);
        watch.forget(listener);
    }

    @Test
    void whoWatchesAfterTheLastHasEndedHearsOfChanges() {
        for (int i = 0; i < 20; i++) {
            watch.watch(listener);
            Host next = i % 2 == 0 ? host("lo", "eth0") : host("lo");
            source().change(next);
            Wait.until("it is heard", () -> !heard.isEmpty());
            assertThat(heard).containsExactly(next);
            heard.clear();
            watch.forget(listener);
        }
        assertThat(opened).hasSize(1);
    }

    @Test
    void withoutListenersTheSystemIsAskedAfterAChange() throws Exception {
        assertThat(watch.now()).isEqualTo(host("lo"));
        assertThat(watch.now()).isEqualTo(host("lo"));
        assertThat(source().looks()).isOne();
        source().change(host("lo", "eth0"));
        assertThat(watch.now()).isEqualTo(host("lo", "eth0"));
    }
}
