// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.litmus;

import io.rdma4j.softnic.litmus.Litmus.Order;
import io.rdma4j.softnic.litmus.Litmus.Outcome;
import io.rdma4j.softnic.litmus.Litmus.Step;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import java.util.function.Predicate;

import static io.rdma4j.softnic.litmus.Litmus.Order.ACQUIRE;
import static io.rdma4j.softnic.litmus.Litmus.Order.PLAIN;
import static io.rdma4j.softnic.litmus.Litmus.Order.RELEASE;
import static io.rdma4j.softnic.litmus.Litmus.Order.VOLATILE;
import static io.rdma4j.softnic.litmus.Litmus.SKIPPED;
import static io.rdma4j.softnic.litmus.Litmus.copy;
import static io.rdma4j.softnic.litmus.Litmus.fence;
import static io.rdma4j.softnic.litmus.Litmus.increment;
import static io.rdma4j.softnic.litmus.Litmus.read;
import static io.rdma4j.softnic.litmus.Litmus.update;
import static io.rdma4j.softnic.litmus.Litmus.write;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * What threads and processes share without a lock, as models: the accesses of one place of the code each, in the order in
 * which they stand there. Each must hold as it is written, and must break when one order is taken away: so it is known that
 * the model would see it.
 *
 * <p>x86 keeps most of these orders whatever the code says, so a run there shows little. The models do not follow the code by
 * themselves: who changes one of these places changes its model.
 */
class MemoryOrderTest {
    private static void assertHolds(Litmus litmus) {
        assertThat(litmus.counterexample()).isNull();
    }

    private static void assertBreaks(Litmus litmus) {
        assertThat(litmus.counterexample()).isNotNull();
    }

    private static @Nullable Step fenceIf(boolean isThere) {
        return isThere ? fence() : null;
    }

    // ---------------------------------------------------------------- records of a ring between processes

    /** RingWriter.write against RingReader.read. The next word is cleared first, for it may be one of the last lap. */
    @Test
    void whoSeesTheWordOfARecordSeesAllOfIt() {
        assertHolds(record(RELEASE, ACQUIRE));
        assertBreaks(record(PLAIN, ACQUIRE));
        assertBreaks(record(RELEASE, PLAIN));
    }

    private static Litmus record(Order publishing, Order looking) {
        return new Litmus()
                .thread(write("payload", 1), write("next word", 0), write("word", 1, publishing))
                .thread(read("word", "w", looking), read("next word", "n", looking).ifSet("w"),
                        read("payload", "p").ifSet("w"))
                .with("next word", 9)
                .forbid(seen -> seen.of("w") == 1 && (seen.of("p") != 1 || seen.of("n") == 9));
    }

    /** RingReader.tell against RingWriter.look. */
    @Test
    void memoryOfARecordIsUsedAgainOnlyAfterItWasRead() {
        assertHolds(handedBack(RELEASE));
        assertBreaks(handedBack(PLAIN));
    }

    private static Litmus handedBack(Order telling) {
        return new Litmus()
                .thread(read("payload", "p"), write("head", 1, telling))
                .thread(read("head", "h", ACQUIRE), write("payload", 7).ifSet("h"))
                .with("payload", 1)
                .forbid(seen -> seen.of("p") == 7);
    }

    /** RingReader.isEmpty by a thread that goes to sleep, while the owner reads on and the writer begins the next lap. */
    @Test
    void wordOfAnOldPositionThatIsOverwrittenLosesNoRecord() {
        assertHolds(oldPosition(true));
        assertBreaks(oldPosition(false));
    }

    private static Litmus oldPosition(boolean isToldFirst) {
        Step telling = write("told", 1, RELEASE);
        Step head = write("head", 1, RELEASE);
        return new Litmus()
                .thread(read("word 1", "q", ACQUIRE), isToldFirst ? telling : head,
                        isToldFirst ? head : telling)
                .thread(read("head", "h", ACQUIRE), write("word 0", 0).ifSet("h"),
                        write("word 1", 1, RELEASE), fence(), read("asleep", "a", ACQUIRE))
                .thread(write("asleep", 1, RELEASE), fence(), read("told", "t", VOLATILE),
                        read("word 0", "w0", ACQUIRE), read("word 1", "w1", ACQUIRE))
                .with("word 0", 1)
                .forbid(seen -> seen.of("q") == 0 && seen.of("a") == 0
                        && (seen.of("t") == 0 ? seen.of("w0") == 0 : seen.of("w1") == 0));
    }

    /** Claiming a ring by CAS, after RingPath.close: the records are written before the owner is 0. */
    @Test
    void whoClaimsARingFindsTheRecordsOfItsLastWriter() {
        assertHolds(claimed(RELEASE));
        assertBreaks(claimed(PLAIN));
    }

    private static Litmus claimed(Order leaving) {
        return new Litmus()
                .thread(write("record", 1), write("owner", 0, leaving))
                .thread(update("owner", "o", owner -> owner == 0 ? 5 : owner),
                        read("record", "r", ACQUIRE))
                .with("owner", 3)
                .forbid(seen -> seen.of("o") == 0 && seen.of("r") == 0);
    }

    /**
     * Loans.withdraw, after which a program changes the memory, against PacketView.settle, which looks whether it was withdrawn
     * after the memory was copied.
     */
    @Test
    void whatIsChangedAfterItWasWithdrawnIsNotDelivered() {
        assertHolds(withdrawn(true, true));
        assertBreaks(withdrawn(false, true));
        assertBreaks(withdrawn(true, false));
    }

    private static Litmus withdrawn(boolean isLenderFenced, boolean isReaderFenced) {
        return new Litmus()
                .thread(write("withdrawn", 1, RELEASE), fenceIf(isLenderFenced),
                        write("memory", 1))
                .thread(read("memory", "m"), fenceIf(isReaderFenced),
                        read("withdrawn", "w", ACQUIRE))
                .forbid(seen -> seen.of("m") == 1 && seen.of("w") == 0);
    }

    /** RingWriter.write fills the words of a loan before it completes the record, and the program its memory before that. */
    @Test
    void whoReadsARecordReadsTheMemoryThatItLends() {
        assertHolds(borrowed(RELEASE, ACQUIRE));
        assertBreaks(borrowed(PLAIN, ACQUIRE));
        assertBreaks(borrowed(RELEASE, PLAIN));
    }

    private static Litmus borrowed(Order completing, Order reading) {
        return new Litmus()
                .thread(write("memory", 1), write("record", 1, completing))
                .thread(read("record", "r", reading), read("memory", "m"))
                .forbid(seen -> seen.of("r") == 1 && seen.of("m") == 0);
    }

    // ---------------------------------------------------------------- sleeping and waking between processes

    /** HostMemory.flush and RingPath.send against Mailbox.beginSleep. */
    @Test
    void recordIsSeenByWhoFallsAsleepOrTheSleeperByTheWriter() {
        assertHolds(asleep(true, true));
        assertBreaks(asleep(false, true));
        assertBreaks(asleep(true, false));
    }

    private static Litmus asleep(boolean isWriterFenced, boolean isSleeperFenced) {
        return new Litmus()
                .thread(write("record", 1, RELEASE), fenceIf(isWriterFenced),
                        read("asleep", "a", ACQUIRE))
                .thread(write("asleep", 1, RELEASE), fenceIf(isSleeperFenced),
                        read("record", "r", ACQUIRE))
                .forbid(seen -> seen.of("a") == 0 && seen.of("r") == 0);
    }

    /** RingPath.send into a ring that was at rest, against Mailbox.beginSleep, which compares the number of changes. */
    @Test
    void ringThatIsUsedAgainIsSeenByWhoFallsAsleep() {
        assertHolds(usedAgain(true));
        assertBreaks(usedAgain(false));
    }

    private static Litmus usedAgain(boolean isFenced) {
        return new Litmus()
                .thread(write("active", 1, RELEASE), increment("changes"),
                        write("record", 1, RELEASE), fenceIf(isFenced),
                        read("asleep", "a", ACQUIRE))
                .thread(write("asleep", 1, RELEASE), fenceIf(isFenced),
                        read("changes", "c", ACQUIRE))
                .forbid(seen -> seen.of("a") == 0 && seen.of("c") == 0);
    }

    /**
     * Mailbox.receive by the owner of the engine, which publishes the rings in use and then the number of changes that it has
     * seen, while another thread of its process falls asleep and compares both.
     */
    @Test
    void ringsInUseArePublishedBeforeTheNumberOfChangesSeen() {
        assertHolds(seenChanges(true, false));
        assertBreaks(seenChanges(false, false));
        assertHolds(seenChanges(true, true));
        assertBreaks(seenChanges(false, true));
    }

    /** @param isOverBudget whether the owner leaves the record to the next round */
    private static Litmus seenChanges(boolean isActiveFirst, boolean isOverBudget) {
        Step active = write("active", 1, VOLATILE).ifSet("c");
        Step seenChanges = write("seen", 1, VOLATILE).ifSet("c");
        return new Litmus()
                .thread(increment("changes"), write("record", 1, RELEASE), fence(),
                        read("asleep", "a", ACQUIRE))
                .thread(read("changes", "c", ACQUIRE), isActiveFirst ? active : seenChanges,
                        isActiveFirst ? seenChanges : active,
                        isOverBudget ? null : read("record", "read", ACQUIRE).ifSet("c"))
                .thread(write("asleep", 1, RELEASE), fence(), read("changes", "sc", ACQUIRE),
                        read("seen", "ss", VOLATILE), read("active", "sa", VOLATILE),
                        read("record", "sr", ACQUIRE))
                .forbid(seen -> seen.of("a") == 0 && seen.of("sc") == seen.of("ss")
                        && (seen.of("sa") == 0 || seen.of("sr") == 0)
                        && (isOverBudget || seen.of("read") <= 0));
    }

    /** RingPath.sleeps against RingReader.takeWanted. */
    @Test
    void roomIsSeenByWhoWaitsForItOrTheWaiterByTheReader() {
        assertHolds(room(true, true));
        assertBreaks(room(false, true));
        assertBreaks(room(true, false));
    }

    private static Litmus room(boolean isWaiterFenced, boolean isReaderFenced) {
        return new Litmus()
                .thread(write("wants room", 1, RELEASE), fenceIf(isWaiterFenced),
                        read("head", "h", ACQUIRE))
                .thread(write("head", 1, RELEASE), fenceIf(isReaderFenced),
                        read("wants room", "w", ACQUIRE))
                .forbid(seen -> seen.of("h") == 0 && seen.of("w") == 0);
    }

    /** RingPath.waitForRoom by the owner of the engine, while another thread of its process sleeps in the network. */
    @Test
    void ownerWhoWantsRoomForASleeperLooksForRoomOnceMore() {
        assertHolds(roomForSleeper(true, true));
        assertBreaks(roomForSleeper(true, false));
        assertBreaks(roomForSleeper(false, true));
    }

    private static Litmus roomForSleeper(boolean isFenced, boolean looksAgain) {
        return new Litmus()
                .thread(read("head", "h", ACQUIRE), write("full", 1, VOLATILE).ifZero("h"),
                        fence(), read("asleep", "a", ACQUIRE).ifZero("h"),
                        write("wants room", 1, RELEASE).ifSet("a"), fenceIf(isFenced),
                        looksAgain ? read("head", "again", ACQUIRE).ifSet("a") : null)
                .thread(write("asleep", 1, RELEASE), fence(), read("full", "f", VOLATILE))
                .thread(write("head", 1, RELEASE), fence(), read("wants room", "w", ACQUIRE))
                .forbid(seen -> seen.of("h") == 0 && seen.of("f") == 0 && seen.of("w") == 0
                        && seen.of("a") == 1 && (!looksAgain || seen.of("again") == 0));
    }

    // ---------------------------------------------------------------- who has which mailbox

    /** MailboxTable: the fields, the prefix, the number of changes; readers the other way round. */
    @Test
    void whoSeesAChangeOfTheTableSeesTheWholeEntry() {
        assertHolds(entryAdded(RELEASE, ACQUIRE));
        assertBreaks(entryAdded(PLAIN, ACQUIRE));
        assertBreaks(entryAdded(RELEASE, PLAIN));
    }

    private static Litmus entryAdded(Order prefix, Order looking) {
        return new Litmus()
                .thread(write("nonce", 1), write("prefix", 1, prefix), increment("changes"))
                .thread(read("changes", "c", ACQUIRE), read("prefix", "p", looking),
                        read("nonce", "n").ifSet("p"))
                .forbid(seen -> (seen.of("c") == 1 && seen.of("p") == 0)
                        || (seen.of("p") == 1 && seen.of("n") == 0));
    }

    /** An entry is removed and another put into its slot: a reader may see a mixture, but not without seeing another change. */
    @Test
    void mixtureOfTwoEntriesLastsUntilTheNextLookOnly() {
        assertBreaks(entryReplaced(mixture()));
        assertHolds(entryReplaced(mixture()
                .and(seen -> seen.of("c") == seen.at("changes"))));
    }

    private static Predicate<Outcome> mixture() {
        return seen -> (seen.of("p") == 1 && seen.of("n") == 2)
                || (seen.of("p") == 2 && seen.of("n") == 1);
    }

    /** PeerDevices.known: what a look found is kept by the next, unless nonce and prefix say that it is another. */
    @Test
    void neighbourOfAMixtureIsKeptOnlyWithItsPrefix() {
        assertHolds(entryReplaced(kept(true)));
        assertBreaks(entryReplaced(kept(false)));
    }

    private static Predicate<Outcome> kept(boolean comparesPrefix) {
        return seen -> seen.of("c2") == seen.at("changes") && seen.of("n") == seen.of("n2")
                && (!comparesPrefix || seen.of("p") == seen.of("p2"))
                && seen.of("p") != seen.at("prefix");
    }

    private static Litmus entryReplaced(Predicate<Outcome> forbidden) {
        return new Litmus()
                .thread(write("prefix", 0, RELEASE), increment("changes"), write("nonce", 2),
                        write("prefix", 2, RELEASE), increment("changes"))
                .thread(read("changes", "c", ACQUIRE), read("prefix", "p", ACQUIRE),
                        read("nonce", "n").ifSet("p"), read("changes", "c2", ACQUIRE),
                        read("prefix", "p2", ACQUIRE), read("nonce", "n2").ifSet("p2"))
                .with("prefix", 1).with("nonce", 1)
                .forbid(forbidden);
    }

    /** RoceQueuePair.findWay: the version is read once, before the way, and kept with it. */
    @Test
    void wayIsKeptWithTheVersionReadBeforeIt() {
        assertHolds(way(false));
        assertBreaks(way(true));
    }

    private static Litmus way(boolean readsVersionAgain) {
        String kept = readsVersionAgain ? "v2" : "v1";
        return new Litmus()
                .thread(write("entry", 1), increment("version"))
                .thread(read("version", "v1", ACQUIRE), read("entry", "way", ACQUIRE),
                        readsVersionAgain ? read("version", "v2", ACQUIRE) : null)
                .forbid(seen -> seen.of(kept) == seen.at("version") && seen.of("way") == 0);
    }

    // ---------------------------------------------------------------- within a process

    /** CompletionRing.arm, SendRing.publish, ReceivePosting, SharedReceiveRing: each writes its own and reads the other's. */
    @Test
    void ofTwoWhoTellEachOtherOneSeesTheOther() {
        assertHolds(telling(VOLATILE, VOLATILE));
        assertBreaks(telling(RELEASE, VOLATILE));
        assertBreaks(telling(VOLATILE, ACQUIRE));
    }

    private static Litmus telling(Order writing, Order reading) {
        return new Litmus()
                .thread(write("end", 1, writing), read("armed", "a", reading))
                .thread(write("armed", 1, VOLATILE), read("end", "e", VOLATILE))
                .forbid(seen -> seen.of("a") == 0 && seen.of("e") == 0);
    }

    /** EngineDriver.ring against the owner who gives the engine back and looks at the doorbells once more. */
    @Test
    void doorbellIsSeenByWhoGivesTheEngineBackOrTheEngineIsFree() {
        assertHolds(doorbell(true));
        assertBreaks(doorbell(false));
    }

    private static Litmus doorbell(boolean looksAfterwards) {
        Step unlock = write("owner", 0, VOLATILE);
        Step look = read("rung", "r", VOLATILE);
        return new Litmus()
                .thread(update("rung", "before", _ -> 1), read("owner", "o", VOLATILE))
                .thread(looksAfterwards ? unlock : look, looksAfterwards ? look : unlock)
                .with("owner", 1)
                .forbid(seen -> seen.of("o") == 1 && seen.of("r") == 0);
    }

    /** MemoryReference.write: two WRITEs of one queue pair, placed one after the other, and a program that polls memory. */
    @Test
    void flagThatIsWrittenAfterItsPayloadIsSeenAfterIt() {
        assertHolds(payloadThenFlag(true, ACQUIRE));
        assertBreaks(payloadThenFlag(false, ACQUIRE));
        assertBreaks(payloadThenFlag(true, PLAIN));
    }

    private static Litmus payloadThenFlag(boolean isFenced, Order polling) {
        return new Litmus()
                .thread(write("payload", 1), fenceIf(isFenced), write("flag", 1))
                .thread(read("flag", "f", polling), read("payload", "p"))
                .forbid(seen -> seen.of("f") == 1 && seen.of("p") == 0);
    }

    // ---------------------------------------------------------------- native devices

    /** QueuePairControl: a post that was accepted against the queue pair's change to ERR. */
    @Test
    void acceptedPostIsSeenByWhoMovesToErrorOrTheErrorByThePoster() {
        assertHolds(acceptedPost(true));
        assertBreaks(acceptedPost(false));
    }

    private static Litmus acceptedPost(boolean isFenced) {
        return new Litmus()
                .thread(write("accepted", 1, RELEASE), fenceIf(isFenced),
                        read("state", "s", VOLATILE))
                .thread(write("state", 1, VOLATILE), read("accepted", "a", VOLATILE))
                .forbid(seen -> seen.of("s") == 0 && seen.of("a") == 0);
    }

    /** IwarpStates.Accepting: followed by the thread of events, accept by the application's. */
    @Test
    void acceptedConnectionKnowsItsQueuePairWhoeverIsFirst() {
        assertHolds(accepting(true));
        assertBreaks(accepting(false));
    }

    private static Litmus accepting(boolean looksAgain) {
        return new Litmus()
                .thread(write("number", 1, VOLATILE), read("following", "f", VOLATILE),
                        write("followed number", 1, VOLATILE).ifSet("f"))
                .thread(read("number", "n", VOLATILE), copy("followed number", "n", VOLATILE),
                        write("following", 1, VOLATILE),
                        looksAgain ? read("number", "n2", VOLATILE) : null,
                        looksAgain ? write("followed number", 1, VOLATILE).ifSet("n2") : null)
                .forbid(seen -> seen.at("followed number") == 0);
    }

    /** RegionTable: a reference in a plain array, whose fields are final: stored before it, and read through it. */
    @Test
    void regionInAPlainArrayIsSeenWhole() {
        assertHolds(region(RELEASE));
        assertBreaks(region(PLAIN));
    }

    private static Litmus region(Order constructor) {
        return new Litmus()
                .thread(write("field", 1), write("reference", 1, constructor))
                .thread(read("reference", "r", ACQUIRE), read("field", "f").ifSet("r"))
                .forbid(seen -> seen.of("r") == 1 && seen.of("f") == 0);
    }

    /** OutstandingWork: the id and the count of posts, then the driver; the completion, then the count and the id. */
    @Test
    void idOfACompletionIsThatOfItsPost() {
        assertHolds(ledger(RELEASE));
        assertBreaks(ledger(PLAIN));
    }

    private static Litmus ledger(Order posting) {
        return new Litmus()
                .thread(write("id", 7), write("posted", 1, posting),
                        posting == PLAIN ? null : fence(), write("device", 1))
                .thread(read("device", "d", ACQUIRE), read("posted", "p", VOLATILE),
                        read("id", "i").ifSet("p"))
                .forbid(seen -> seen.of("d") == 1 && (seen.of("p") == 0 || seen.of("i") != 7));
    }

    /** The model itself: what is read behind a condition that does not hold is not read. */
    @Test
    void conditionThatDoesNotHoldSkipsItsStep() {
        assertHolds(new Litmus()
                .thread(read("a", "a", ACQUIRE), read("b", "b").ifSet("a"),
                        write("c", 1).ifSet("a"))
                .forbid(seen -> seen.of("b") != SKIPPED || seen.at("c") != 0));
    }
}
