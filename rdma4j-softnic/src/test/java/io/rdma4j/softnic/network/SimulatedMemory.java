// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network;

import io.rdma4j.protocol.roce.wire.Path;
import io.rdma4j.protocol.work.Registration;
import io.rdma4j.softnic.memory.LendableMemory;
import io.rdma4j.softnic.network.ring.Lender;
import io.rdma4j.softnic.network.ring.LentSection;
import io.rdma4j.softnic.network.ring.Mailbox;
import io.rdma4j.softnic.network.ring.MailboxSystem;
import io.rdma4j.softnic.network.ring.PeerProcess;
import io.rdma4j.softnic.network.ring.RingPath;
import io.rdma4j.verbs.Gid;
import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.function.LongSupplier;

/**
 * Shared memory between the nodes of a {@link SimulatedNetwork}. Until {@link #meet} there is none; then packets take it,
 * or, as a seed says, now this way and now that, and who reads does not always look.
 */
public final class SimulatedMemory {
    /** A process that writes what it likes has this nonce, and pages of zeros, which end after some sections. */
    public static final long HOSTILE = 1000;
    private static final long HOSTILE_SECTIONS = 4;
    /** A process that has ended. */
    public static final long GONE = 1001;
    private static final int RINGS = 8;
    private static final long PLACES = (1L << 46) - 1;

    private final LongSupplier clock;
    private final Map<Gid, OfNode> byAddress = new HashMap<>();
    private final List<OfNode> nodes = new ArrayList<>();
    private @Nullable Random random;
    private double switching;
    private double sloth;
    private boolean isMet;
    private int switches;
    private double withdrawing;
    private boolean isLending;

    SimulatedMemory(LongSupplier clock) {
        this.clock = clock;
    }

    /**
     * From now on packets take the memory.
     *
     * @param seed decides what follows
     * @param newSwitching the probability that the way changes before a packet
     * @param newSloth the probability that a node does not look what has arrived
     */
    public void meet(long seed, double newSwitching, double newSloth) {
        random = new Random(seed);
        switching = newSwitching;
        sloth = newSloth;
        isMet = true;
        nodes.forEach(OfNode::begin);
    }

    /**
     * From now on payloads are lent, wherever they lie.
     *
     * @param newWithdrawing the probability that a node withdraws what it has lent before it looks what has arrived, although the
     *        memory is still there
     */
    public void lend(double newWithdrawing) {
        withdrawing = newWithdrawing;
        isLending = true;
    }

    /** {@return the mailbox of the node that has an address, null if none has} */
    public @Nullable MemorySegment mailbox(Gid address) {
        OfNode node = byAddress.get(address);
        return node == null ? null : node.memory;
    }

    /** {@return how often the way has changed} */
    public int switches() {
        return switches;
    }

    /** {@return how many packets have taken it} */
    public long received() {
        return nodes.stream().mapToLong(node -> node.received).sum();
    }

    SharedMemory newNode() {
        OfNode node = new OfNode();
        nodes.add(node);
        return node;
    }

    void open(SharedMemory node, Gid address) {
        byAddress.put(address, (OfNode) node);
    }

    /** {@return whether something is to be read} */
    boolean isPending() {
        return isMet && nodes.stream().anyMatch(OfNode::isPending);
    }

    private boolean isSo(double probability) {
        return probability > 0 && Objects.requireNonNull(random).nextDouble() < probability;
    }

    private final class OfNode implements SharedMemory, MailboxSystem, LendableMemory {
        private final Map<OfNode, RingPath> paths = new HashMap<>();
        private final List<RingPath> unannounced = new ArrayList<>();
        private @Nullable MemorySegment memory;
        private @Nullable Mailbox mailbox;
        private int version;
        private boolean isTaken = true;
        private long received;

        void begin() {
            memory = Arena.ofAuto().allocate(Mailbox.length(RINGS), 64);
            mailbox = new Mailbox(memory, nodes.indexOf(this) + 1, this);
            version++;
        }

        boolean isPending() {
            boolean isPending = !Objects.requireNonNull(mailbox).beginSleep();
            mailbox.endSleep();
            return isPending;
        }

        @Override
        public int version() {
            if (isMet && isSo(switching)) {
                isTaken = !isTaken;
                switches++;
                version++;
            }
            return version;
        }

        @Override
        public @Nullable MemoryPath path(Path path, int queuePair) {
            OfNode to = byAddress.get(path.destination());
            return isMet && isTaken && to != null && to != this
                    ? paths.computeIfAbsent(to, this::claim)
                    : null;
        }

        /** {@return a way, null if a hostile process has spoilt all rings: the network is left then} */
        private @Nullable RingPath claim(OfNode to) {
            int number = nodes.indexOf(this) + 1;
            MemorySegment there = Objects.requireNonNull(to.memory);
            RingPath path = RingPath.claim(there, new RingPath.Owner(number, number, number, 0, 0),
                    Objects.requireNonNull(mailbox), new Peer(there), unannounced, _ -> false,
                    clock.getAsLong());
            if (path != null && isLending) {
                path.lendFrom(new LenderOf(number));
            }
            return path;
        }

        @Override
        public boolean isQuiet() {
            return isMet && Objects.requireNonNull(mailbox).isQuiet();
        }

        @Override
        public int receive(Handler handler, int budget) {
            if (!isMet || isSo(sloth)) {
                return 0;
            }
            if (isSo(withdrawing)) {
                ends(0, Long.MAX_VALUE);
            }
            int count = Objects.requireNonNull(mailbox).receive(handler, budget);
            received += count;
            return count;
        }

        @Override
        public void flush() {
            unannounced.forEach(RingPath::announce);
            unannounced.clear();
        }

        @Override
        public void wake(long process, int descriptor, long inode) {}

        // ------------------------------------------------------------ lending: all memory is lent by its address

        @Override
        public LendableMemory lendable() {
            return this;
        }

        @Override
        public @Nullable MemorySegment allocate(long byteSize, Arena arena) {
            return null;
        }

        @Override
        public long placeOf(MemorySegment lendable) {
            return lendable.address() & PLACES;
        }

        @Override
        public void ended(Registration registration) {
            paths.values().forEach(path -> path.withdraw(registration));
        }

        @Override
        public void ends(long place, long byteSize) {
            paths.values().forEach(path -> path.withdraw(place, byteSize));
        }

        @Override
        public void withdrawRequests(int queuePair) {
            paths.values().forEach(path -> path.withdrawRequests(queuePair));
        }

        @Override
        public @Nullable LentSection lentSection(long owner, int descriptor, long number) {
            if (isLending && owner > 0 && owner <= nodes.size()) {
                long high = Objects.requireNonNull(memory).address() & ~PLACES;
                return new LentSection(MemorySegment
                        .ofAddress(high | number * LentSection.LENGTH)
                        .reinterpret(LentSection.LENGTH));
            }
            if (owner == HOSTILE) {
                return number < HOSTILE_SECTIONS ? Sparse.SECTION : LentSection.gone();
            }
            return owner == GONE ? LentSection.gone() : null;
        }

        @Override
        public boolean isDead(int prefix) {
            return false;
        }

        @Override
        public void release(MemorySegment pages) {
            pages.fill((byte) 0);
        }
    }

    /** A process that lends its memory by address. */
    private record LenderOf(long nonce) implements Lender {
        @Override
        public int descriptor() {
            return 3;
        }
    }

    /** A section that takes no memory. */
    private static final class Sparse {
        static final LentSection SECTION = map();

        private static LentSection map() {
            try {
                java.nio.file.Path file = Files.createTempFile("rdma4j-test", ".pages");
                try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ,
                        StandardOpenOption.WRITE, StandardOpenOption.DELETE_ON_CLOSE)) {
                    return new LentSection(channel.map(FileChannel.MapMode.READ_WRITE, 0,
                            LentSection.LENGTH, Arena.global()));
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    /** No thread sleeps in virtual time. */
    private static final class Peer implements PeerProcess {
        private final MemorySegment mailbox;

        Peer(MemorySegment mailbox) {
            this.mailbox = mailbox;
        }

        @Override
        public MemorySegment map(long offset, long length) {
            return mailbox.asSlice(offset, length);
        }

        @Override
        public boolean wake() {
            return true;
        }

        @Override
        public boolean isAlive() {
            return true;
        }

        @Override
        public void release(MemorySegment pages) {
            pages.fill((byte) 0);
        }

        @Override
        public void close() {}
    }
}
