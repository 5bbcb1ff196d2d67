// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.ring;

import io.rdma4j.protocol.roce.wire.Opcode;
import io.rdma4j.protocol.roce.wire.OutgoingPacket;
import io.rdma4j.protocol.roce.wire.PacketView;
import io.rdma4j.protocol.roce.wire.Path;
import io.rdma4j.protocol.work.CopyOutcome;
import io.rdma4j.protocol.work.MemoryReference;
import io.rdma4j.protocol.work.Registration;
import io.rdma4j.softnic.network.SharedMemory;
import io.rdma4j.verbs.Gid;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.function.BooleanSupplier;

/** A mailbox and who writes to it, in one process and in virtual time. */
final class TwoProcesses implements MailboxSystem, SharedMemory.Handler {
    static final Gid WRITER = Gid.of(InetAddress.ofLiteral("192.0.2.1"));
    static final Gid OTHER_WRITER = Gid.of(InetAddress.ofLiteral("192.0.2.2"));
    static final Gid READER = Gid.of(InetAddress.ofLiteral("192.0.2.3"));
    private static final int RINGS = 4;
    private static final long NONCE = 4711;
    static final long LENDER = 815;
    static final int DESCRIPTOR = 42;
    static final int PAGES = 4 << 20;
    static final Lender LENDING = new Lender() {
        @Override
        public long nonce() {
            return LENDER;
        }

        @Override
        public int descriptor() {
            return DESCRIPTOR;
        }
    };

    final Arena arena = Arena.ofAuto();
    final MemorySegment memory = arena.allocate(Mailbox.length(RINGS), 64);
    final Mailbox mailbox = new Mailbox(memory, NONCE, this);
    final Mailbox own = new Mailbox(arena.allocate(Mailbox.length(1), 64), 5, this);
    final List<Integer> received = new ArrayList<>();
    final List<byte[]> payloads = new ArrayList<>();
    final List<Integer> spans = new ArrayList<>();
    /** -1 for a packet without. */
    final List<Long> piggybacks = new ArrayList<>();
    final List<Gid> sources = new ArrayList<>();
    final List<RingPath> unannounced = new ArrayList<>();
    final Set<Integer> dead = new HashSet<>();
    final Reader reader = new Reader();
    int nonsense;
    int malformed;
    int wokenWriters;
    int released;
    int sectionsAsked;
    /** Whether the reader may map the pages of the writer. */
    boolean lends = true;
    /** What the writer lends. */
    final MemorySegment pages = arena.allocate(PAGES, 64);
    private LentSection section = new LentSection(pages.reinterpret(LentSection.LENGTH));
    /** Whether the payload of each packet was withdrawn when it had been read. */
    final List<Boolean> withdrawn = new ArrayList<>();
    /** What happens between copying a payload and looking whether it was withdrawn. */
    Runnable whileBorrowed = () -> {};
    /** What happens while memory is given back. */
    Runnable whileReleased = () -> {};

    /** The process that reads. */
    final class Reader implements PeerProcess {
        boolean isAlive = true;
        /** What happens while it is woken. */
        Runnable whileWoken = () -> {};
        /** What happens while a ring of it is mapped. */
        Runnable whileMapped = () -> {};
        int woken;
        int closed;

        @Override
        public boolean wake() {
            whileWoken.run();
            woken++;
            return isAlive;
        }

        @Override
        public MemorySegment map(long offset, long length) {
            whileMapped.run();
            return memory.asSlice(offset, length);
        }

        @Override
        public boolean isAlive() {
            return isAlive;
        }

        @Override
        public void release(MemorySegment pages) {
            TwoProcesses.this.release(pages);
        }

        @Override
        public void close() {
            closed++;
        }
    }

    RingPath claim(int prefix) {
        return Objects.requireNonNull(tryClaim(prefix), "all rings are taken");
    }

    @Nullable
    RingPath tryClaim(int prefix) {
        return RingPath.claim(memory, owner(prefix), own, reader, unannounced, dead::contains, 0);
    }

    /** @param isAsleep whether a thread of the writer sleeps */
    RingPath claim(int prefix, BooleanSupplier isAsleep) {
        return Objects.requireNonNull(RingPath.claim(memory, owner(prefix), isAsleep, reader,
                unannounced, dead::contains, 0), "all rings are taken");
    }

    private static RingPath.Owner owner(int prefix) {
        return new RingPath.Owner(100 + prefix, prefix, 1000 + prefix, 7, 8);
    }

    OutgoingPacket packet(Gid from, int number, int length) {
        return packet(from, number, length, 1);
    }

    /** A middle packet of a WRITE, or as many as are said, with bytes that the number decides. */
    OutgoingPacket packet(Gid from, int number, int length, int span) {
        byte[] bytes = bytes(number, length);
        MemorySegment payload = arena.allocate(Math.max(1, length));
        MemorySegment.copy(MemorySegment.ofArray(bytes), 0, payload, 0, length);
        OutgoingPacket packet = new OutgoingPacket()
                .begin(Opcode.RC_WRITE_MIDDLE, Path.between(from, READER), 77, number, false, false)
                .span(span);
        if (length > 0) {
            packet.addPayload(payload, 0, length);
        }
        return packet;
    }

    static byte[] bytes(int number, int length) {
        byte[] bytes = new byte[length];
        new Random(number).nextBytes(bytes);
        return bytes;
    }

    int receive(int budget) {
        return mailbox.receive(this, budget);
    }

    // ---------------------------------------------------------------- what arrives

    @Override
    public void onPacket(PacketView packet) {
        received.add(packet.psn());
        byte[] payload = new byte[packet.payloadLength()];
        MemoryReference target = new MemoryReference();
        target.point(MemorySegment.ofArray(payload), 0);
        CopyOutcome copied = target.write(packet.payloadMemory(), packet.payloadStart(),
                payload.length);
        whileBorrowed.run();
        withdrawn.add(packet.settle(copied) == CopyOutcome.SOURCE_GONE);
        payloads.add(payload);
        spans.add(packet.span());
        piggybacks.add(packet.hasPiggyback() ? packet.piggyback() : -1);
        sources.add(packet.source());
    }

    @Override
    public void onMalformed(Gid source) {
        malformed++;
    }

    @Override
    public void onNonsense() {
        nonsense++;
    }

    // ---------------------------------------------------------------- the system

    @Override
    public void wake(long process, int descriptor, long inode) {
        wokenWriters++;
    }

    @Override
    public @Nullable LentSection lentSection(long owner, int descriptor, long number) {
        sectionsAsked++;
        if (!lends || owner != LENDER || descriptor != DESCRIPTOR) {
            return null;
        }
        return section;
    }

    /** The section that the reader has mapped now is unmapped with an arena, and the next one is not. */
    void mapUntilClosed(Arena until) {
        section = new LentSection(MemorySegment.ofAddress(pages.address())
                .reinterpret(LentSection.LENGTH, until, null));
    }

    void mapAgain() {
        section = new LentSection(pages.reinterpret(LentSection.LENGTH));
    }

    // ---------------------------------------------------------------- lending

    /** As {@link #packet}, but its payload can be lent, by a registration. */
    OutgoingPacket lendable(int number, int length, Registration registration, int place) {
        MemorySegment.copy(MemorySegment.ofArray(bytes(number, length)), 0, pages, place, length);
        MemoryReference reference = new MemoryReference();
        long start = Math.max(0, registration.sharedAt());
        reference.point(pages.asSlice(start), place - start, registration);
        OutgoingPacket packet = new OutgoingPacket()
                .begin(Opcode.RC_WRITE_MIDDLE, Path.between(WRITER, READER), 77, number, false,
                        false);
        packet.addPayload(reference, length);
        return packet;
    }

    @Override
    public boolean isDead(int prefix) {
        return dead.contains(prefix);
    }

    @Override
    public void release(MemorySegment pages) {
        whileReleased.run();
        pages.fill((byte) 0);
        released++;
    }
}
