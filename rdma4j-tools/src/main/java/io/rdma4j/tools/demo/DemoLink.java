// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.demo;

import io.rdma4j.cm.CmId;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.TransportType;
import io.rdma4j.verbs.WorkCompletion;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;

/** One side's connection, and the small messages both sides talk in. */
final class DemoLink implements AutoCloseable {
    /** The maximum number of chunks in flight; each has a slot in the server's region. */
    static final int SLOTS = 8;
    /** Bytes of a chunk. */
    static final int CHUNK = 1 << 20;

    /** The types of messages. */
    enum Message {
        /** Words for people. */
        HELLO,
        /** Here is a region: address, key, length. */
        REGION,
        /** Bytes were written: how many, and a number; over a transport without immediates. */
        WRITTEN,
        /** A chunk was read from its slot, which is free again. */
        TAKEN,
        /** That is all; the number of bytes, and a digest as text. */
        DONE
    }

    /**
     * A write of the peer into this side's memory.
     *
     * @param length in bytes
     * @param number the number that the peer has sent with it
     */
    record Written(long length, int number) {}

    /** A received message. */
    record Received(Message type, long number, long length, int rkey, String text) {}

    /** A killed side sends nothing; the disk of a live one may be slow. */
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final int MESSAGE = 256;
    private static final int TEXT = 32;
    private static final int RECEIVES = 2 * SLOTS;
    private static final Message[] TYPES = Message.values();

    private final CmId id;
    private final Arena arena = Arena.ofShared();
    /** Behind the message that is waited for those of {@link #write}, of which no more are on their way at once. */
    private final MemorySegment outbox = arena.allocate((1L + 2 * SLOTS) * MESSAGE);
    private final MemorySegment inbox = arena.allocate((long) RECEIVES * MESSAGE);
    private final MemoryRegion outboxRegion;
    private final MemoryRegion inboxRegion;
    private final boolean hasImmediates;
    private final SendWorkRequest request = new SendWorkRequest();
    /** The counters of the device at the beginning; those of a native device count since the kernel has it. */
    private final Map<String, Long> countedBefore;
    private long writes;

    DemoLink(CmId id) throws RdmaException {
        this.id = id;
        countedBefore = id.context().counters();
        hasImmediates = id.context().device().transport() != TransportType.IWARP;
        id.createQueuePair(new QueuePairInitAttributes()
                .capabilities(QueuePairCapabilities.ofDepth(4 * SLOTS, RECEIVES)));
        outboxRegion = id.registerMessages(outbox);
        inboxRegion = id.registerMessages(inbox);
        for (int i = 0; i < RECEIVES; i++) {
            postReceive(i);
        }
    }

    CmId id() {
        return id;
    }

    Arena arena() {
        return arena;
    }

    private void postReceive(long slot) throws RdmaException {
        id.postReceive(slot, inboxRegion, slot * MESSAGE, MESSAGE);
    }

    /** Sends a message and waits until the peer has it. */
    void send(Message type, long number, long length, int rkey, String text) throws RdmaException {
        post(0, type, number, length, rkey, text);
        awaitSend();
    }

    private void post(long slot, Message type, long number, long length, int rkey, String text)
            throws RdmaException {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        long at = slot * MESSAGE;
        outbox.set(ValueLayout.JAVA_INT, at, List.of(TYPES).indexOf(type));
        outbox.set(ValueLayout.JAVA_INT, at + 4, rkey);
        outbox.set(ValueLayout.JAVA_LONG, at + 8, number);
        outbox.set(ValueLayout.JAVA_LONG, at + 16, length);
        outbox.set(ValueLayout.JAVA_INT, at + 24, bytes.length);
        MemorySegment.copy(bytes, 0, outbox, ValueLayout.JAVA_BYTE, at + TEXT, bytes.length);
        id.postSend(-1, outboxRegion, at, MESSAGE, SendFlag.SIGNALED);
    }

    /** {@return the operations that write bytes and notify the peer} */
    String writing() {
        return hasImmediates ? "WRITE_WITH_IMM" : "WRITE and SEND";
    }

    /**
     * Writes bytes into the peer's memory and notifies it, with a number; {@link #awaitSend} waits until this is done. At
     * most {@link #SLOTS} writes may be in flight.
     */
    void write(MemoryRegion source, long offset, int length, long remoteAddress, int rkey,
            int number) throws RdmaException {
        post(towards(remoteAddress, rkey, number).add(source, offset, length), length, number);
    }

    /** As {@link #write} without bytes. */
    void writeNothing(long remoteAddress, int rkey, int number) throws RdmaException {
        post(towards(remoteAddress, rkey, number), 0, number);
    }

    private SendWorkRequest towards(long remoteAddress, int rkey, int number) {
        request.clear();
        return hasImmediates
                ? request.writeWithImmediate(remoteAddress, rkey, number).set(SendFlag.SIGNALED)
                : request.write(remoteAddress, rkey);
    }

    private void post(SendWorkRequest write, int length, int number) throws RdmaException {
        id.queuePair().postSend(write);
        if (!hasImmediates) {
            post(1 + writes++ % (2 * SLOTS), Message.WRITTEN, number, length, 0, "");
        }
    }

    /** Waits for a write of the peer. */
    Written awaitWritten() throws RdmaException {
        if (!hasImmediates) {
            Received told = receive(Message.WRITTEN);
            return new Written(told.length, (int) told.number);
        }
        WorkCompletion completion = awaitReceive();
        postReceive(completion.id());
        return new Written(completion.byteLength(), completion.immediate());
    }

    /** Waits until the oldest signaled send is done. */
    WorkCompletion awaitSend() throws RdmaException {
        return succeeded(id.pollSendCompletion(PATIENCE));
    }

    /** Waits for a message of a type. */
    Received receive(Message type) throws RdmaException {
        Received received = toMessage(awaitReceive());
        if (received.type != type) {
            throw new RdmaException(Errno.EIO, "receive",
                    "expected " + type + ", got " + received.type);
        }
        return received;
    }

    /** Waits until the peer has disconnected, which flushes the receives that are still posted. */
    void awaitEnd() throws RdmaException {
        WorkCompletion completion = id.pollReceiveCompletion(PATIENCE);
        if (completion != null && completion.isSuccess()) {
            throw new RdmaException(Errno.EIO, "receive", "a message after the last");
        }
    }

    private WorkCompletion awaitReceive() throws RdmaException {
        return succeeded(id.pollReceiveCompletion(PATIENCE));
    }

    /** {@return the message a receive took} The receive is posted again. */
    private Received toMessage(WorkCompletion completion) throws RdmaException {
        long at = completion.id() * MESSAGE;
        int length = inbox.get(ValueLayout.JAVA_INT, at + 24);
        byte[] text = inbox.asSlice(at + TEXT, length).toArray(ValueLayout.JAVA_BYTE);
        Received received = new Received(TYPES[inbox.get(ValueLayout.JAVA_INT, at)],
                inbox.get(ValueLayout.JAVA_LONG, at + 8), inbox.get(ValueLayout.JAVA_LONG, at + 16),
                inbox.get(ValueLayout.JAVA_INT, at + 4), new String(text, StandardCharsets.UTF_8));
        postReceive(completion.id());
        return received;
    }

    private static WorkCompletion succeeded(@Nullable WorkCompletion completion)
            throws RdmaException {
        if (completion == null) {
            throw new RdmaException(Errno.ETIMEDOUT, "work", "nothing came from the other side for "
                    + PATIENCE.toSeconds() + " s");
        }
        completion.requireSuccess("work");
        return completion;
    }

    /** Reports what the device has counted since the beginning, of the figures that it counts. */
    void reportFigures(Reporter reporter) {
        Map<String, Long> counted = id.context().counters();
        for (DemoFigure figure : DemoFigure.values()) {
            OptionalLong value = figure.value(counted);
            if (value.isPresent()) {
                reporter.figure(figure.text(),
                        value.getAsLong() - figure.value(countedBefore).orElse(0));
            }
        }
    }

    @Override
    public void close() throws RdmaException {
        id.closeQueuePair();
        outboxRegion.close();
        inboxRegion.close();
        arena.close();
    }
}
