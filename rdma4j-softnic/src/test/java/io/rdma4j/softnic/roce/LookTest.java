// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.roce;

import io.rdma4j.protocol.ibcm.CmSettings;
import io.rdma4j.protocol.ibcm.IbConnectionManager;
import io.rdma4j.protocol.roce.wire.Path;
import io.rdma4j.softnic.network.MemoryPath;
import io.rdma4j.softnic.network.PacketHandler;
import io.rdma4j.softnic.network.PacketPort;
import io.rdma4j.softnic.network.SharedMemory;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import java.util.concurrent.atomic.AtomicLong;

import static org.assertj.core.api.Assertions.assertThat;

/** What a look for packets asks for. */
class LookTest {
    private static final long LONG_AGO_NS = 10_000_000;
    /** What is taken of a port at once. */
    private static final int BUDGET = 64;

    private final Stocked busy = new Stocked();
    private final Stocked quiet = new Stocked();
    private final AtomicLong clock = new AtomicLong(LONG_AGO_NS);
    private final RoceLink link = link(new FixedPorts(busy, quiet));

    private static RoceLink link(FixedPorts network) {
        return new RoceLink(network, new IbConnectionManager(CmSettings.defaults(1), () -> 1),
                new MulticastGroups(), () -> 100,
                new ProcessNumbers(network.sharing(), () -> 100), to -> Path.NONE);
    }

    /** Counts how often it is asked, and tells that it has handed up what it was given to have. */
    private static final class Stocked extends FixedPorts.Port {
        int stock;
        int asked;
        int askedBriefly;

        @Override
        public int receive(PacketHandler handler, int budget) {
            asked++;
            int found = stock;
            stock = 0;
            return found;
        }

        @Override
        public int receiveBriefly(PacketHandler handler, int budget) {
            askedBriefly++;
            return receive(handler, budget);
        }
    }

    private void pollWith(int stock) {
        busy.stock = stock;
        link.receive(clock.get(), true);
    }

    @Test
    void whoPollsOnTakesWhatThePortHasThatHadSomethingLast() {
        pollWith(1);
        pollWith(1);
        assertThat(busy.asked).isEqualTo(2);
        assertThat(busy.askedBriefly).isEqualTo(1);
        assertThat(quiet.asked).isEqualTo(1);
    }

    /** So that they are handed up together; to learn that no more follow takes a system call. */
    @Test
    void whatHasSomethingAtEachLookIsEmptied() {
        pollWith(1);
        for (int look = 0; look < 3; look++) {
            pollWith(1);
        }
        assertThat(busy.askedBriefly).isEqualTo(3);
        pollWith(1);
        pollWith(0);
        assertThat(busy.askedBriefly).isEqualTo(3);
        pollWith(1);
        assertThat(busy.askedBriefly).as("after a look in vain").isEqualTo(4);
        assertThat(busy.asked).isEqualTo(7);
        assertThat(quiet.asked).isEqualTo(1);
    }

    @Test
    void allPortsAreEmptiedAfterSomeLooksInVain() {
        pollWith(1);
        for (int look = 0; look < 16; look++) {
            pollWith(0);
        }
        assertThat(quiet.asked).isEqualTo(1);
        pollWith(0);
        assertThat(quiet.asked).isEqualTo(2);
        assertThat(busy.askedBriefly).isEqualTo(16);
        assertThat(busy.asked).isEqualTo(18);
    }

    @Test
    void aBusyPortDoesNotKeepTheOthersWaitingForLong() {
        pollWith(1);
        for (int look = 0; look < 100; look++) {
            clock.addAndGet(5_000);
            pollWith(1);
        }
        assertThat(quiet.asked).isEqualTo(1 + 100 / 20);
    }

    @Test
    void whoLooksSeldomTakesEverything() {
        pollWith(1);
        clock.addAndGet(50_000);
        pollWith(1);
        assertThat(busy.askedBriefly).isZero();
        assertThat(quiet.asked).isEqualTo(2);
    }

    /** Memory that other processes write into. */
    private static final class StockedMemory implements SharedMemory {
        int stock;

        @Override
        public boolean isQuiet() {
            return stock == 0;
        }

        @Override
        public int version() {
            return 0;
        }

        @Override
        public @Nullable MemoryPath path(Path path, int queuePair) {
            return null;
        }

        @Override
        public int receive(Handler handler, int budget) {
            return stock;
        }

        @Override
        public void flush() {
            throw new AssertionError("this test needs it not");
        }
    }

    @Test
    void aPortThatHadMoreThanWasTakenIsEmptiedWhileMemoryHasPackets() {
        StockedMemory memory = new StockedMemory();
        RoceLink both = link(memory);
        busy.stock = BUDGET;
        both.receive(clock.get(), false);
        memory.stock = 1;
        busy.stock = BUDGET;
        both.receive(clock.get(), false);
        busy.stock = 1;
        both.receive(clock.get(), false);
        assertThat(busy.asked).isEqualTo(3);
        both.receive(clock.get(), false);
        assertThat(busy.asked).as("when it has no more").isEqualTo(3);
    }

    private RoceLink link(SharedMemory memory) {
        return link(new FixedPorts(busy, quiet) {
            @Override
            public SharedMemory sharedMemory() {
                return memory;
            }
        });
    }

    /** The background thread as well: it comes back at once, and a look at each port is a system call. */
    @Test
    void portsAreAskedNowAndThenWhileMemoryHasPackets() {
        StockedMemory memory = new StockedMemory();
        RoceLink both = link(memory);
        both.receive(clock.get(), false);
        assertThat(quiet.asked).isEqualTo(1);
        memory.stock = 1;
        for (int look = 0; look < 100; look++) {
            clock.addAndGet(20_000);
            both.receive(clock.get(), false);
        }
        assertThat(quiet.asked).isEqualTo(1 + 100 / 5);
        assertThat(busy.asked).isEqualTo(quiet.asked);
        memory.stock = 0;
        both.receive(clock.get(), false);
        assertThat(quiet.asked).as("without packets").isEqualTo(2 + 100 / 5);
    }

    /** Of ports it can tell nothing without a system call. */
    @Test
    void aGlanceTellsWhetherMemoryHasPacketsAsLongAsPacketsComeThroughIt() {
        StockedMemory memory = new StockedMemory();
        RoceLink both = link(memory);
        assertThat(both.isQuiet()).as("before any packet").isFalse();
        memory.stock = 1;
        both.receive(clock.get(), true);
        assertThat(both.isQuiet()).isFalse();
        memory.stock = 0;
        assertThat(both.isQuiet()).isTrue();
        clock.addAndGet(LONG_AGO_NS);
        busy.stock = 1;
        both.receive(clock.get(), true);
        assertThat(both.isQuiet()).as("after a packet at a port").isFalse();
    }

    @Test
    void withoutMemoryNoGlanceTellsAnything() {
        pollWith(1);
        assertThat(link.isQuiet()).isFalse();
    }

    /** Says once that the system has just checked all ports. */
    private static final class ToldPorts extends FixedPorts {
        boolean areQuiet;

        ToldPorts(PacketPort... ports) {
            super(ports);
        }

        @Override
        public boolean takePortsQuiet() {
            boolean areTold = areQuiet;
            areQuiet = false;
            return areTold;
        }
    }

    /** A thread that sleeps between messages through memory would ask each socket after each sleep. */
    @Test
    void portsOfWhichASleepHasShownThatTheyHaveNothingAreNotAsked() {
        ToldPorts network = new ToldPorts(busy, quiet);
        RoceLink told = link(network);
        network.areQuiet = true;
        told.receive(clock.get(), false);
        assertThat(busy.asked + quiet.asked).isZero();
        told.receive(clock.get(), false);
        assertThat(quiet.asked).as("without another sleep").isEqualTo(1);
    }

    @Test
    void aPortThatHadMoreThanWasTakenIsAskedWhateverASleepHasShown() {
        ToldPorts network = new ToldPorts(busy, quiet);
        RoceLink told = link(network);
        busy.stock = BUDGET;
        told.receive(clock.get(), false);
        network.areQuiet = true;
        told.receive(clock.get(), false);
        assertThat(busy.asked).isEqualTo(2);
    }
}
