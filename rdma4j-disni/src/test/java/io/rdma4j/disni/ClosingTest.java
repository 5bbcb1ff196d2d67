// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.disni;

import io.rdma4j.testkit.Wait;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.RdmaDevices;
import io.rdma4j.verbs.RdmaException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;

import static org.assertj.core.api.Assertions.assertThat;

/** Objects are destroyed in any order, as DiSNI does; nothing is left of them. */
class ClosingTest {
    private static final int OBJECTS = 15;

    /** {@return what destroys the objects of a connection, each once} */
    private static List<Callable<Integer>> destroying(Connection connection) {
        List<Callable<Integer>> all = new ArrayList<>();
        for (End end : List.of(connection.client, connection.server)) {
            all.add(end.id::disconnect);
            all.add(() -> end.id.isOpen() ? end.id.destroyQP() : 0);
            all.add(end.id::destroyId);
            all.add(end.queue::destroyCQ);
            all.add(end.channel::destroyCompChannel);
            all.add(end.domain::deallocPd);
        }
        all.add(connection.listener::destroyId);
        all.add(connection.clientEvents::destroyEventChannel);
        all.add(connection.serverEvents::destroyEventChannel);
        assertThat(all).hasSize(OBJECTS);
        return all;
    }

    @Test
    void orderOfDisniLeavesNothing() throws Exception {
        Connection connection = new Connection();
        for (End end : List.of(connection.client, connection.server)) {
            end.id.disconnect();
            end.id.destroyQP();
            end.id.destroyId();
        }
        connection.listener.destroyId();
        connection.clientEvents.destroyEventChannel();
        connection.serverEvents.destroyEventChannel();
        for (End end : List.of(connection.client, connection.server)) {
            end.channel.destroyCompChannel();
            end.queue.destroyCQ();
            end.domain.deallocPd();
        }
        requireNothingOpen();
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void anyOrderLeavesNothing(long seed) throws Exception {
        Connection connection = new Connection();
        List<Callable<Integer>> all = destroying(connection);
        // Both ends end first: an id that is destroyed cannot disconnect.
        all.remove(6).call();
        all.removeFirst().call();
        Collections.shuffle(all, new Random(seed));
        for (Callable<Integer> each : all) {
            assertThat(each.call()).isZero();
        }
        requireNothingOpen();
    }

    /** A device counts from nothing when it is opened anew, which it is not as long as anything uses it. */
    private static void requireNothingOpen() throws RdmaException {
        Wait.until("the device is closed", ClosingTest::isDeviceNew);
    }

    private static boolean isDeviceNew() throws RdmaException {
        try (DeviceContext context = RdmaDevices.find("roce_lo").open()) {
            return context.counters().getOrDefault("sent_bytes", 1L) == 0;
        }
    }
}
