// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.event;

import io.rdma4j.verbs.RdmaException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** Which device a thread drives that waits for events of several, and what the others are told. */
class DrivenDeviceTest {
    private static final Duration BRIEFLY = Duration.ofMillis(1);

    private final List<String> calls = new ArrayList<>();
    private final EventQueue<String, RdmaException> events = Events.queue();
    private final Device first = new Device("first");
    private final Device second = new Device("second");
    private final Device third = new Device("third");

    /** A device that publishes an event as soon as it is driven, or nothing. */
    private final class Device extends IdleDriver {
        private final String name;
        private boolean isBusy;

        Device(String name) {
            this.name = name;
        }

        @Override
        public boolean tryAcquire(Waiter waiter) {
            calls.add(name + " driven");
            return !isBusy;
        }

        @Override
        public void drive(long timeoutNs) {
            events.publish(new EventQueue.Published<>(name, null), this);
        }

        @Override
        public void waitElsewhere() {
            calls.add(name + " left");
        }
    }

    @BeforeEach
    void threeDevicesPublish() {
        events.addDriver(first);
        events.addDriver(second);
        events.addDriver(third);
    }

    private List<String> callsOfAWait() throws RdmaException {
        calls.clear();
        events.poll(BRIEFLY);
        return List.copyOf(calls);
    }

    @Test
    void firstDeviceIsDrivenUntilOneHasPublished() throws Exception {
        assertThat(callsOfAWait()).containsExactlyInAnyOrder("second left", "third left",
                "first driven");
    }

    @Test
    void deviceThatHasPublishedLastIsDriven() throws Exception {
        events.publish(new EventQueue.Published<>("by itself", null), second);
        assertThat(callsOfAWait()).isEmpty();
        assertThat(callsOfAWait()).containsExactlyInAnyOrder("first left", "third left",
                "second driven");
        assertThat(callsOfAWait()).contains("second driven");
    }

    /** Its packets would wait until it had noticed that nobody polls any more. */
    @Test
    void deviceThatCannotBeDrivenNowLeavesTheOthersInformed() throws Exception {
        first.isBusy = true;
        assertThat(callsOfAWait()).contains("second left", "third left").doesNotContain(
                "second driven", "third driven");
    }

    @Test
    void deviceThatHasLeftIsDrivenNoMore() throws Exception {
        events.publish(new EventQueue.Published<>("by itself", null), second);
        events.poll(BRIEFLY);
        events.removeDriver(second);
        assertThat(callsOfAWait()).containsExactlyInAnyOrder("third left", "first driven");
    }

    @Test
    void deviceOfWhichNothingIsKnownIsNotDriven() throws Exception {
        events.publish(new EventQueue.Published<>("by itself", null), new Device("stranger"));
        events.poll(BRIEFLY);
        assertThat(callsOfAWait()).contains("first driven");
    }
}
