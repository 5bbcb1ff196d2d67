package io.rdma4j.softnic;

import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.AddressHandle;
import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.CompletionQueueInitAttributes;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.ExtendedCompletionQueue;
import io.rdma4j.verbs.ExtendedQueuePair;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.MemoryWindowType;
import io.rdma4j.verbs.Mtu;
import io.rdma4j.verbs.PostException;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaDevices;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendOpcode;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.SharedReceiveQueue;
import io.rdma4j.verbs.SharedReceiveQueueAttributes;
import io.rdma4j.verbs.WorkCompletion;
import io.rdma4j.verbs.WorkCompletionOpcode;
import io.rdma4j.verbs.WorkCompletionStatus;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Many threads at once on shared objects of the real loopback device: no completion is lost or comes twice,
 * what arrives is what was sent, nothing hangs, and no exception comes but those that are promised.
 */
@Tag("stress")
class StressTest {
    private static final int DEPTH = 32;
    private static final int LENGTH = 3000;
    private static final int QKEY = 0x1111;
    private static final int SHARED_DEPTH = 256;
    /** A completion queue has room for more, whoever takes from it how slowly. */
    private static final int MOST_OPEN = 900;

    private final DeviceContext context = RdmaDevices.find("roce_lo").open();
    private final ProtectionDomain domain = context.allocateProtectionDomain();
    private final Arena arena = Arena.ofShared();
    private final Race race = new Race();
    private final AtomicLong nextId = new AtomicLong();

    StressTest() throws RdmaException {}

    @AfterEach
    void everythingCanBeClosed() throws RdmaException {
        domain.close();
        context.close();
        arena.close();
    }

    // ---------------------------------------------------------------- what all need

    private QueuePair create(QueuePairType type, CompletionQueue sends, CompletionQueue receives,
            @Nullable SharedReceiveQueue shared) throws RdmaException {
        SendOpcode[] operations = type == QueuePairType.UD
                ? new SendOpcode[]{SendOpcode.SEND}
                : new SendOpcode[]{SendOpcode.SEND, SendOpcode.RDMA_WRITE};
        return domain.createQueuePair(new QueuePairInitAttributes().type(type)
                .sendCompletionQueue(sends).receiveCompletionQueue(receives)
                .sharedReceiveQueue(shared).sendOperations(operations)
                .capabilities(QueuePairCapabilities.ofDepth(DEPTH, DEPTH).withElements(1, 1)
                        .withInlineData(64)));
    }

    private void connect(QueuePair own, QueuePair peer) throws RdmaException {
        QueuePairAttributes init = new QueuePairAttributes().state(QueuePairState.INIT).port(1)
                .pkeyIndex(0);
        QueuePairAttributes receive = new QueuePairAttributes().state(QueuePairState.RTR);
        QueuePairAttributes send = new QueuePairAttributes().state(QueuePairState.RTS).sendPsn(9);
        if (own.type() == QueuePairType.UD) {
            init.qkey(QKEY);
        } else {
            init.accessFlags(AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ,
                    AccessFlag.REMOTE_ATOMIC);
            receive.addressVector(path()).pathMtu(Mtu.MTU_1024)
                    .destinationQueuePair(peer.number()).receivePsn(9);
        }
        if (own.type() == QueuePairType.RC) {
            receive.maxDestinationReadAtomic(4).minRnrTimer(1);
            send.timeout(14).retryCount(7).rnrRetry(7).maxReadAtomic(4);
        }
        own.modify(init);
        own.modify(receive);
        own.modify(send);
    }

    private AddressHandleAttributes path() throws RdmaException {
        return AddressHandleAttributes.to(context.queryGid(1, 1), 1);
    }

    private static boolean isFull(RdmaException refused) {
        return refused.errno() == Errno.ENOMEM;
    }

    private static void fail(QueuePair queuePair) throws RdmaException {
        queuePair.modify(new QueuePairAttributes().state(QueuePairState.ERR));
    }

    // ---------------------------------------------------------------- everything at once

    @Test
    void manyThreadsOnSharedObjectsLoseNothingAndSeeNothingTwice() throws Exception {
        try (Everything everything = new Everything()) {
            everything.run();
        }
    }

    private final class Everything implements AutoCloseable {
        final CompletionChannel channel = CompletionChannel.create();
        final ExtendedCompletionQueue sends = context.createCompletionQueue(
                new CompletionQueueInitAttributes().capacity(1024).channel(channel));
        final ExtendedCompletionQueue receives = context.createCompletionQueue(
                new CompletionQueueInitAttributes().capacity(2048).channel(channel));
        final SharedReceiveQueue shared = domain.createSharedReceiveQueue(
                new SharedReceiveQueueAttributes(SHARED_DEPTH, 1, 0), null);
        final MemoryRegion source = domain.register(arena.allocate(LENGTH, 64),
                AccessFlag.REMOTE_READ);
        final MemoryRegion target = domain.register(arena.allocate(LENGTH, 64),
                AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
        final MemoryRegion counter = domain.register(arena.allocate(8, 8), AccessFlag.LOCAL_WRITE,
                AccessFlag.REMOTE_ATOMIC);
        final MemoryRegion inbox = domain.register(arena.allocate(LENGTH + 40, 64),
                AccessFlag.LOCAL_WRITE);
        final AddressHandle toSelf = domain.createAddressHandle(path());
        final List<QueuePair> posting = new ArrayList<>();
        final List<QueuePair> receiving = new ArrayList<>();

        final Set<Long> openSends = ConcurrentHashMap.newKeySet();
        final Set<Long> openReceives = ConcurrentHashMap.newKeySet();
        final Set<Long> openShared = ConcurrentHashMap.newKeySet();
        final AtomicLong additions = new AtomicLong();
        final AtomicLong reliableMessages = new AtomicLong();
        final AtomicLong reliableArrivals = new AtomicLong();
        final Set<Integer> reliableReceivers = ConcurrentHashMap.newKeySet();
        final AtomicLong working = new AtomicLong();
        final AtomicBoolean isFlushing = new AtomicBoolean();

        Everything() throws RdmaException {
            for (QueuePairType type : List.of(QueuePairType.RC, QueuePairType.UC,
                    QueuePairType.UD)) {
                add(type, null);
                add(type, shared);
            }
        }

        private void add(QueuePairType type, @Nullable SharedReceiveQueue from)
                throws RdmaException {
            QueuePair a = create(type, sends, receives, null);
            QueuePair b = create(type, sends, receives, from);
            connect(a, b);
            connect(b, a);
            posting.add(a);
            receiving.add(b);
            if (type == QueuePairType.RC) {
                reliableReceivers.add(b.number());
            }
        }

        void run() throws Exception {
            for (int i = 0; i < 3; i++) {
                Random random = new Random(i);
                poster("poster " + i, () -> post(random));
            }
            poster("receiver", this::postReceives);
            poster("queue pairs", this::churnQueuePair);
            Random sizes = new Random(7);
            poster("objects", () -> churnObjects(sizes));
            taker("single", () -> takeSingle(sends));
            taker("array", () -> takeArray(receives));
            taker("batch", () -> takeBatch(sends));
            taker("events", this::awaitEvent);
            race.once("end", this::end);
            race.run();
            assertThat(target.segment().mismatch(source.segment())).isEqualTo(-1);
            assertThat(counter.segment().get(ValueLayout.JAVA_LONG, 0))
                    .isEqualTo(additions.get());
            assertThat(reliableArrivals.get()).isEqualTo(reliableMessages.get()).isPositive();
        }

        private void poster(String name, Race.Course course) {
            working.incrementAndGet();
            race.once(name, () -> {
                while (!race.isOver()) {
                    course.run();
                }
                working.decrementAndGet();
            });
        }

        /** Takers go on until everything has been taken. */
        private void taker(String name, Race.Course course) {
            race.once(name, () -> {
                while (!race.hasFailed() && !isEnded()) {
                    course.run();
                }
            });
        }

        private boolean isEnded() {
            return isFlushing.get() && openSends.isEmpty() && openReceives.isEmpty();
        }

        /** When nobody posts any more: all sends complete, then all receives are flushed. */
        private void end() throws Exception {
            Race.until("all posters are done", () -> working.get() == 0 || race.hasFailed(),
                    StressTest::pause);
            ReceiveWorkRequest more = new ReceiveWorkRequest();
            Race.until("all sends complete: " + openSends,
                    () -> openSends.isEmpty() || race.hasFailed(), () -> {
                        topUp(more);
                        pause();
                    });
            isFlushing.set(true);
            for (QueuePair queuePair : receiving) {
                StressTest.fail(queuePair);
            }
            for (QueuePair queuePair : posting) {
                StressTest.fail(queuePair);
            }
            Race.until("all receives complete", () -> openReceives.isEmpty() || race.hasFailed(),
                    StressTest::pause);
        }

        // ------------------------------------------------------------ posting

        private void post(Random random) throws RdmaException {
            if (openSends.size() > MOST_OPEN) {
                pause();
                return;
            }
            int index = random.nextInt(posting.size());
            QueuePair queuePair = posting.get(index);
            switch (random.nextInt(3)) {
                case 0 -> {
                    SendWorkRequest request = request(queuePair, random, index);
                    try {
                        queuePair.postSend(request);
                    } catch (RdmaException refused) {
                        unpost(request, queuePair);
                        backOff(refused);
                    }
                }
                case 1 -> {
                    List<SendWorkRequest> requests = List.of(request(queuePair, random, index),
                            request(queuePair, random, index), request(queuePair, random, index));
                    try {
                        queuePair.postSend(requests);
                    } catch (PostException refused) {
                        requests.subList(refused.failedIndex(), 3)
                                .forEach(request -> unpost(request, queuePair));
                        backOff(refused);
                    }
                }
                default -> postBatch(queuePair, random, index);
            }
        }

        private SendWorkRequest request(QueuePair queuePair, Random random, int index)
                throws RdmaException {
            SendWorkRequest request = new SendWorkRequest().id(nextId.incrementAndGet())
                    .set(SendFlag.SIGNALED);
            boolean isDatagram = queuePair.type() == QueuePairType.UD;
            int longest = isDatagram ? 1000 : LENGTH;
            switch (random.nextInt(switch (queuePair.type()) {
                case RC -> 5;
                case UC -> 3;
                case UD, RAW_PACKET, XRC_SEND, XRC_RECEIVE, DRIVER -> 2;
            })) {
                case 0 -> request.send().add(source, 0, random.nextInt(longest));
                case 1 -> request.sendWithImmediate(7)
                        .inline(source.segment().asSlice(0, random.nextInt(65)));
                case 2 -> request.write(target.address(), target.rkey()).add(source, 0, LENGTH);
                case 3 -> request.read(source.address(), source.rkey()).add(target, 0, LENGTH);
                default -> {
                    request.fetchAndAdd(counter.address(), counter.rkey(), 1).add(inbox, 0, 8);
                    additions.incrementAndGet();
                }
            }
            if (isDatagram) {
                request.to(toSelf, receiving.get(index).number(), QKEY);
            }
            posted(request, queuePair);
            return request;
        }

        private void posted(SendWorkRequest request, QueuePair queuePair) {
            openSends.add(request.id());
            if (consumesReceive(request, queuePair)) {
                reliableMessages.incrementAndGet();
            }
        }

        private void unpost(SendWorkRequest request, QueuePair queuePair) {
            openSends.remove(request.id());
            if (consumesReceive(request, queuePair)) {
                reliableMessages.decrementAndGet();
            }
            if (request.opcode() == SendOpcode.ATOMIC_FETCH_AND_ADD) {
                additions.decrementAndGet();
            }
        }

        private static boolean consumesReceive(SendWorkRequest request, QueuePair queuePair) {
            return queuePair.type() == QueuePairType.RC && (request.opcode() == SendOpcode.SEND
                    || request.opcode() == SendOpcode.SEND_WITH_IMMEDIATE);
        }

        private void postBatch(QueuePair queuePair, Random random, int index)
                throws RdmaException {
            ExtendedQueuePair batch = queuePair.extended();
            List<SendWorkRequest> staged = new ArrayList<>();
            batch.start();
            for (int i = random.nextInt(4); i >= 0; i--) {
                SendWorkRequest mirror = new SendWorkRequest().id(nextId.incrementAndGet()).send();
                batch.id(mirror.id()).flags(SendFlag.SIGNALED).send();
                if (random.nextBoolean()) {
                    batch.inline(source.segment().asSlice(0, 60));
                } else {
                    batch.element(source, 0, 60);
                }
                if (queuePair.type() == QueuePairType.UD) {
                    batch.to(toSelf, receiving.get(index).number(), QKEY);
                }
                posted(mirror, queuePair);
                staged.add(mirror);
            }
            if (random.nextInt(4) == 0) {
                batch.abort();
                staged.forEach(request -> unpost(request, queuePair));
                return;
            }
            try {
                batch.complete();
            } catch (RdmaException refused) {
                staged.forEach(request -> unpost(request, queuePair));
                backOff(refused);
            }
        }

        private static void backOff(RdmaException refused) throws RdmaException {
            if (!isFull(refused)) {
                throw refused;
            }
            pause();
        }

        private void postReceives() throws RdmaException {
            topUp(new ReceiveWorkRequest());
            pause();
        }

        /** Posts receives until all queues are full. */
        private void topUp(ReceiveWorkRequest request) throws RdmaException {
            for (QueuePair queuePair : receiving) {
                boolean hasRoom = true;
                while (hasRoom && openReceives.size() + openShared.size() < 2 * MOST_OPEN) {
                    long id = nextId.incrementAndGet();
                    request.clear().id(id).add(inbox, 0, inbox.length());
                    boolean isShared = queuePair.sharedReceiveQueue() != null;
                    Set<Long> opened = isShared ? openShared : openReceives;
                    opened.add(id);
                    try {
                        if (isShared) {
                            shared.post(request);
                        } else {
                            queuePair.postReceive(request);
                        }
                    } catch (RdmaException refused) {
                        opened.remove(id);
                        if (!isFull(refused)) {
                            throw refused;
                        }
                        hasRoom = false;
                    }
                }
            }
        }

        // ------------------------------------------------------------ making and closing

        private void churnQueuePair() throws Exception {
            QueuePair queuePair = create(QueuePairType.RC, sends, receives, null);
            queuePair.modify(new QueuePairAttributes().state(QueuePairState.INIT).port(1)
                    .pkeyIndex(0).accessFlags(AccessFlag.REMOTE_WRITE));
            List<Long> ids = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                long id = nextId.incrementAndGet();
                openReceives.add(id);
                ids.add(id);
                queuePair.postReceive(new ReceiveWorkRequest().id(id));
            }
            StressTest.fail(queuePair);
            // Not more than the queue can hold.
            Race.until("flushed receives are taken",
                    () -> ids.stream().noneMatch(openReceives::contains) || race.hasFailed(),
                    StressTest::pause);
            queuePair.close();
        }

        private void churnObjects(Random random) throws RdmaException {
            domain.allocateMemoryWindow(MemoryWindowType.TYPE_2).close();
            domain.register(source.segment(), AccessFlag.REMOTE_READ).close();
            domain.createAddressHandle(path()).close();
            context.createCompletionQueue(16).close();
            context.device().open().close();
            sends.resize(1024 + random.nextInt(1024));
            receives.moderate(random.nextInt(4), random.nextInt(100));
            try {
                shared.resize(SHARED_DEPTH + random.nextInt(SHARED_DEPTH));
            } catch (RdmaException refused) {
                assertThat(refused.errno()).isEqualTo(Errno.EINVAL);
            }
            shared.arm(0);
        }

        // ------------------------------------------------------------ taking

        private void takeSingle(CompletionQueue queue) throws RdmaException {
            WorkCompletion completion = new WorkCompletion();
            if (queue.poll(completion)) {
                taken(completion);
            }
        }

        private void takeArray(CompletionQueue queue) throws RdmaException {
            WorkCompletion[] completions = WorkCompletion.array(8);
            int count = queue.poll(completions);
            for (int i = 0; i < count; i++) {
                taken(completions[i]);
            }
        }

        private void takeBatch(ExtendedCompletionQueue queue) throws RdmaException {
            if (!queue.startPoll()) {
                return;
            }
            try {
                // Entries are free again at the end, so a batch must have one.
                int left = 16;
                do {
                    taken(queue.current());
                    left--;
                } while (left > 0 && queue.nextPoll());
            } finally {
                queue.endPoll();
            }
        }

        private void awaitEvent() throws RdmaException {
            sends.requestNotification(false);
            receives.requestNotification(false);
            CompletionQueue ready = channel.pollEvent(Duration.ofMillis(5));
            if (ready != null) {
                ready.acknowledgeEvents(1);
                takeArray(ready);
            }
        }

        private void taken(WorkCompletion completion) {
            boolean isReceive = completion.opcode() == WorkCompletionOpcode.RECEIVE;
            long id = completion.id();
            if (isReceive) {
                boolean isSuccess = completion.isSuccess();
                assertThat(isSuccess
                        || completion.status() == WorkCompletionStatus.WORK_REQUEST_FLUSHED)
                        .as(completion.toString()).isTrue();
                if (isSuccess && reliableReceivers.contains(completion.queuePairNumber())) {
                    reliableArrivals.incrementAndGet();
                }
                assertThat(openReceives.remove(id) || openShared.remove(id))
                        .as("%s is open", completion).isTrue();
            } else {
                assertThat(completion.isSuccess()).as(completion.toString()).isTrue();
                assertThat(openSends.remove(id)).as("%s is open", completion).isTrue();
            }
        }

        @Override
        public void close() throws RdmaException {
            for (QueuePair queuePair : posting) {
                queuePair.close();
            }
            for (QueuePair queuePair : receiving) {
                acknowledgeEvents();
                queuePair.close();
            }
            acknowledgeEvents();
            shared.close();
            toSelf.close();
            sends.close();
            receives.close();
            channel.close();
            for (MemoryRegion region : List.of(source, target, counter, inbox)) {
                region.close();
            }
        }
    }

    private void acknowledgeEvents() throws RdmaException {
        var event = context.pollAsyncEvent(Duration.ZERO);
        while (event != null) {
            event.acknowledge();
            event = context.pollAsyncEvent(Duration.ZERO);
        }
    }

    private static void pause() {
        LockSupport.parkNanos(50_000);
    }

    // ---------------------------------------------------------------- the end of a queue pair

    /** One queue pair after another, and two threads that post to the latest. */
    private final class Succession {
        private final CompletionQueue completions = context.createCompletionQueue(1024);
        private final CyclicBarrier turns = new CyclicBarrier(3);
        private final Set<Long> open = ConcurrentHashMap.newKeySet();
        private final AtomicLong accepted = new AtomicLong();
        private QueuePair peer;
        private volatile QueuePair current;
        private volatile boolean isEnded;
        private volatile boolean isStopped;

        Succession() throws RdmaException {
            peer = create(QueuePairType.RC, completions, completions, null);
            current = newPeerOfPeer();
        }

        private QueuePair newPeerOfPeer() throws RdmaException {
            QueuePair own = create(QueuePairType.RC, completions, completions, null);
            connect(own, peer);
            connect(peer, own);
            return own;
        }

        /** Posts until the queue pair refuses for good, or is told to stop. */
        private void postWhilePossible(boolean isSender) throws RdmaException {
            QueuePair to = current;
            SendWorkRequest send = new SendWorkRequest();
            ReceiveWorkRequest receive = new ReceiveWorkRequest();
            while (!isStopped && !race.hasFailed()) {
                if (open.size() > MOST_OPEN) {
                    pause();
                    continue;
                }
                long id = nextId.incrementAndGet();
                open.add(id);
                try {
                    if (isSender) {
                        to.postSend(send.clear().id(id).write(0, 0).set(SendFlag.SIGNALED)
                                .inline(MemorySegment.ofArray(new byte[16])));
                    } else {
                        to.postReceive(receive.clear().id(id));
                    }
                    accepted.incrementAndGet();
                } catch (RdmaException refused) {
                    open.remove(id);
                    if (!isFull(refused)) {
                        throw refused;
                    }
                    Thread.onSpinWait();
                } catch (IllegalStateException closed) {
                    assertThat(closed).hasMessageContaining("closed");
                    open.remove(id);
                    return;
                }
            }
        }

        private void takeAll() throws RdmaException {
            WorkCompletion completion = new WorkCompletion();
            while (completions.poll(completion)) {
                assertThat(open.remove(completion.id())).as("%s is open", completion).isTrue();
            }
        }

        void run(Race.Course end) throws Exception {
            for (boolean isSender : new boolean[]{true, false}) {
                race.once(isSender ? "sender" : "receiver", () -> {
                    while (true) {
                        turns.await();
                        if (isEnded) {
                            return;
                        }
                        postWhilePossible(isSender);
                        turns.await();
                    }
                });
            }
            race.once("end", () -> {
                while (!race.isOver()) {
                    isStopped = false;
                    turns.await();
                    long wanted = accepted.get() + DEPTH;
                    Race.until("enough is posted",
                            () -> accepted.get() >= wanted || race.hasFailed(), this::takeAll);
                    end.run();
                    peer.close();
                    peer = create(QueuePairType.RC, completions, completions, null);
                    current = newPeerOfPeer();
                }
                isEnded = true;
                turns.await();
            });
            race.run();
            current.close();
            peer.close();
            completions.close();
        }
    }

    @Test
    void whatIsPostedWhileTheQueuePairFailsCompletesOnce() throws Exception {
        Succession succession = new Succession();
        succession.run(() -> {
            StressTest.fail(succession.current);
            long wanted = succession.accepted.get() + 8;
            Race.until("some is posted after the failure",
                    () -> succession.accepted.get() >= wanted || race.hasFailed(),
                    succession::takeAll);
            succession.isStopped = true;
            succession.turns.await();
            Race.until("all is flushed: " + succession.open,
                    () -> succession.open.isEmpty() || race.hasFailed(), succession::takeAll);
            succession.current.close();
        });
    }

    @Test
    void whoeverPostsToAQueuePairThatIsBeingClosedIsToldSo() throws Exception {
        Succession succession = new Succession();
        succession.run(() -> {
            succession.current.close();
            succession.takeAll();
            // What had not completed when it was closed never does.
            succession.open.clear();
            succession.turns.await();
            succession.open.clear();
        });
    }

    // ---------------------------------------------------------------- the end of a region

    @Test
    void closedRegionsAreNotWrittenAnyMore() throws Exception {
        CompletionQueue completions = context.createCompletionQueue(4 * DEPTH);
        QueuePair writer = create(QueuePairType.UC, completions, completions, null);
        QueuePair written = create(QueuePairType.UC, completions, completions, null);
        connect(writer, written);
        connect(written, writer);
        AtomicLong writes = new AtomicLong();
        AtomicLong arrivals = new AtomicLong();
        long[] where = new long[2];
        AtomicBoolean isEnded = new AtomicBoolean();
        race.once("writer", () -> {
            SendWorkRequest request = new SendWorkRequest();
            WorkCompletion completion = new WorkCompletion();
            while (!isEnded.get() && !race.hasFailed()) {
                synchronized (where) {
                    request.clear().write(where[0], (int) where[1]).set(SendFlag.SIGNALED)
                            .inline(MemorySegment.ofArray(new byte[64]));
                }
                writer.postSend(request);
                Race.until("the write", () -> race.hasFailed() || take(completions, completion),
                        Thread::onSpinWait);
                writes.incrementAndGet();
            }
        });
        race.once("owner", () -> {
            while (!race.isOver()) {
                try (Arena shortLived = Arena.ofShared()) {
                    MemorySegment memory = shortLived.allocate(64, 64).fill((byte) 1);
                    MemoryRegion region = domain.register(memory, AccessFlag.LOCAL_WRITE,
                            AccessFlag.REMOTE_WRITE);
                    synchronized (where) {
                        where[0] = region.address();
                        where[1] = region.rkey();
                    }
                    passWrites(writes, 3);
                    region.close();
                    arrivals.addAndGet(memory.get(ValueLayout.JAVA_BYTE, 0) == 0 ? 1 : 0);
                    memory.fill((byte) 2);
                    passWrites(writes, 3);
                    for (int i = 0; i < 64; i++) {
                        assertThat(memory.get(ValueLayout.JAVA_BYTE, i)).isEqualTo((byte) 2);
                    }
                }
            }
            isEnded.set(true);
        });
        race.run();
        assertThat(arrivals.get()).isPositive();
        writer.close();
        written.close();
        completions.close();
    }

    private static boolean take(CompletionQueue completions, WorkCompletion completion) {
        try {
            return completions.poll(completion);
        } catch (RdmaException e) {
            throw new AssertionError(e);
        }
    }

    private void passWrites(AtomicLong writes, int count) throws Exception {
        long wanted = writes.get() + count;
        Race.until("writes", () -> writes.get() >= wanted || race.hasFailed(),
                Thread::onSpinWait);
    }
}
