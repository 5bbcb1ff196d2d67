// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.engine;

import io.rdma4j.cm.CmId;
import io.rdma4j.sockets.protocol.ConnectionData;
import io.rdma4j.sockets.protocol.Mapping;
import io.rdma4j.sockets.protocol.Message;
import io.rdma4j.sockets.protocol.RemoteRange;
import io.rdma4j.sockets.protocol.StreamSettings;
import io.rdma4j.sockets.protocol.Transmission;
import io.rdma4j.verbs.CompletionHandler;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.CompletionQueueInitAttributes;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendWorkRequest;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** The queue pair and the completion queue of a connection: turns transmissions into work requests. */
final class StreamQueue {
    /** Two, where bytes go on at the beginning of the send buffer. */
    private static final int ELEMENTS = 2;

    /** Of all receives: a device keeps them in less memory if they are alike. */
    private static final long RECEIVE = -1;
    /** Where what is sent inline lies; a range or a mapping at the beginning. */
    private static final int WORD = Mapping.BYTES;
    private static final int INLINE = WORD + Message.BYTES;

    private final CmId id;
    private final StreamSettings settings;
    private final StreamMemory memory;
    private final CompletionQueue completions;
    private final CompletionBatch batch = new CompletionBatch();
    private final QueuePair queuePair;
    private final SendWorkRequest send = new SendWorkRequest();
    private final ReceiveWorkRequest receive = new ReceiveWorkRequest();
    /** What is sent inline: a range or a mapping, a word; then bytes of the application, by the thread that writes. */
    private final ByteBuffer inline;
    private final MemorySegment inlineBytes;
    private final MemorySegment wordBytes;
    private ByteOrder peerOrder = ByteOrder.nativeOrder();
    /** The number of the receive that has completed last, and of that which completes next. */
    private int completed;
    private int next;

    StreamQueue(SocketEngine engine, CmId id, EngineEvents.CompletionUser user,
            StreamSettings settings, StreamMemory memory) throws RdmaException {
        this.id = id;
        this.settings = settings;
        this.memory = memory;
        inline = ByteBuffer.allocate(INLINE + settings.inlineBytes());
        inlineBytes = MemorySegment.ofBuffer(inline);
        wordBytes = inlineBytes.asSlice(WORD, Message.BYTES);
        completions = id.context().createCompletionQueue(
                new CompletionQueueInitAttributes().capacity(settings.sends() + settings.receives())
                        .channel(engine.completions()).userContext(user));
        try {
            queuePair = id.createQueuePair(new QueuePairInitAttributes()
                    .completionQueue(completions).answerFirst(true)
                    .capabilities(new QueuePairCapabilities(settings.sends(), settings.receives(),
                            ELEMENTS, 1, settings.inlineBytes())));
        } catch (RdmaException | RuntimeException e) {
            completions.close();
            throw e;
        }
    }

    void close() throws RdmaException {
        id.closeQueuePair();
        completions.close();
    }

    /** How the peer keeps numbers in memory. */
    void onPeer(ConnectionData peer) {
        peerOrder = peer.order();
    }

    QueuePair queuePair() {
        return queuePair;
    }

    // ---------------------------------------------------------------- receives and completions

    void postReceives() throws RdmaException {
        for (int i = 0; i < settings.receives(); i++) {
            postReceive(i);
        }
    }

    /** {@return whether the ID of a request is that of a receive} */
    static boolean isReceive(long id) {
        return id < 0;
    }

    private void postReceive(int number) throws RdmaException {
        receive.clear().id(RECEIVE);
        if (!settings.hasImmediates()) {
            receive.add(memory.wordRegion(), memory.wordOffset(number), Message.BYTES);
        }
        queuePair.postReceive(receive);
    }

    /** {@return the word of the next message} Receives complete in the order in which they are posted. */
    int nextWord(int immediate) {
        completed = next;
        next = next + 1 == settings.receives() ? 0 : next + 1;
        return settings.hasImmediates() ? immediate : memory.word(completed, peerOrder);
    }

    /** Posts the receive of the last message again. */
    void postReceiveAgain() throws RdmaException {
        postReceive(completed);
    }

    /** As {@link CompletionBatch#poll}. */
    boolean poll(CompletionHandler handler) throws RdmaException {
        return batch.poll(completions, handler);
    }

    void requestNotification() throws RdmaException {
        completions.requestNotification();
    }

    // ---------------------------------------------------------------- sends

    /** Keeps bytes of the application that are sent inline. Its buffers do not move on. */
    void putInline(int count, ByteBuffer[] from, int first) {
        StreamMemory.gather(inline, INLINE, 0, count, from, first);
    }

    /**
     * Posts what the stream has to send: a WRITE, or the word alone, or both. So long that compilers do not inline it, on purpose: whoever writes, reads, polls or
     * leads calls the same code (ADR 56).
     */
    void post(Transmission out) throws RdmaException {
        boolean hasWord = out.hasWord();
        boolean hasImmediate = hasWord && settings.hasImmediates();
        if (hasWord && !hasImmediate && out.content() == Transmission.Content.NOTHING) {
            postWord(out);
            return;
        }
        send.clear();
        if (hasImmediate) {
            send.writeWithImmediate(out.remoteAddress(), out.remoteKey(), out.word());
        } else {
            send.write(out.remoteAddress(), out.remoteKey());
        }
        switch (out.content()) {
            case BUFFER -> {
                MemoryRegion buffer = memory.sendRegion(out.isFromLarger());
                int run = Math.min(out.length(),
                        memory.sendBytes(out.isFromLarger()) - out.offset());
                send.add(buffer, out.offset(), run);
                if (run < out.length()) {
                    send.add(buffer, 0, out.length() - run);
                }
            }
            case INLINE -> send.inline(inlineBytes.asSlice(INLINE, out.length()));
            case RANGE -> {
                put(0, out.range());
                send.inline(inlineBytes.asSlice(0, RemoteRange.BYTES));
            }
            case MAPPING -> {
                inline.order(peerOrder).putLong(0, out.mapping().offset());
                put(Long.BYTES, out.mapping().range());
                send.inline(inlineBytes.asSlice(0, Mapping.BYTES));
            }
            case NOTHING -> {}
        }
        if (!hasWord || hasImmediate) {
            queuePair.postSend(send.id(out.id()).set(SendFlag.SIGNALED));
        } else {
            queuePair.postSend(send);
            postWord(out);
        }
    }

    private void postWord(Transmission out) throws RdmaException {
        inline.order(peerOrder).putInt(WORD, out.word());
        queuePair.postSend(send.clear().send().id(out.id()).inline(wordBytes)
                .set(SendFlag.SIGNALED));
    }

    private void put(int at, RemoteRange range) {
        inline.order(peerOrder).putLong(at, range.address()).putInt(at + Long.BYTES, range.key())
                .putInt(at + Long.BYTES + Integer.BYTES, (int) range.length());
    }
}
