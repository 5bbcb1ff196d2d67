// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.pingpong;

import io.rdma4j.tools.endpoint.LocalPort;
import io.rdma4j.tools.timing.Backoff;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.Mtu;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

import java.io.IOException;
import java.io.PrintWriter;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.Callable;

/**
 * Atomics on the peer's memory, each result checked, first by the client, then by the server. For tries
 * against other implementations: {@code interop/atomic_pingpong.c} is the other side.
 *
 * <p>The sides meet as those of {@code ibv_rc_pingpong} do. Then each SENDs 16 bytes, big endian: the address
 * of its two words of 8 bytes, their key and the rounds it will play. A round adds to the first word, swaps
 * the second for its successor and tries a swap that must fail. An empty SEND hands over.
 */
@Command(name = "atomic_pingpong",
        description = "Atomics on each other's memory, each result checked.")
public final class AtomicPingpong implements Callable<Integer> {
    private static final ValueLayout.OfLong U64 = ValueLayout.JAVA_LONG
            .withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfInt U32 = ValueLayout.JAVA_INT
            .withOrder(ByteOrder.BIG_ENDIAN);
    /** Odd, so that the sums of many rounds wrap around and never repeat. */
    private static final long STEP = 0x9e37_79b9_7f4a_7c15L;

    private static final int COUNTER = 0;
    private static final int SWAPPED = 8;
    private static final int RESULT = 16;
    private static final int OUTGOING = 24;
    private static final int INCOMING = 40;
    private static final int ADVERTISEMENT = 16;
    private static final int MEMORY = 64;

    @Mixin
    private PingPongOptions options = new PingPongOptions();

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Override
    public Integer call() throws IOException {
        options.check(spec);
        Traffic traffic = new Traffic(QueuePairType.RC, 1, false, MEMORY, Mtu.MTU_1024,
                Set.of(Feature.ATOMICS));
        return Greeting.play(options, traffic, out(),
                (port, greeting) -> play(port, traffic, greeting));
    }

    private int play(LocalPort port, Traffic traffic, Greeting greeting) throws IOException {
        try (PingPongSide side = new PingPongSide(port, options, traffic)) {
            Turns turns = new Turns(side);
            try (AddressExchange channel = new AddressExchange(greeting.meet(), false)) {
                channel.exchange(side.sentAddresses(), side::connect);
                turns.play(options.host() != null);
                FinalBarrier.await(channel, port.context());
            }
        }
        return 0;
    }

    private PrintWriter out() {
        return spec.commandLine().getOut();
    }

    /** The game of one side. */
    private final class Turns {
        private final QueuePair queuePair;
        private final PingPongSide side;
        private final MemoryRegion region;
        private final MemorySegment memory;
        private final SendWorkRequest request = new SendWorkRequest();
        private final WorkCompletion completion = new WorkCompletion();
        private boolean isMessageThere;

        Turns(PingPongSide side) throws IOException {
            this.side = side;
            queuePair = side.queuePair(0);
            region = side.buffer().region();
            memory = side.buffer().memory().fill((byte) 0);
            postReceive();
        }

        private void postReceive() throws IOException {
            queuePair.postReceive(new ReceiveWorkRequest().id(PingPongSide.RECEIVE_ID)
                    .add(region, INCOMING, ADVERTISEMENT));
        }

        void play(boolean isClient) throws IOException {
            memory.set(U64, OUTGOING, region.address());
            memory.set(U32, OUTGOING + 8, region.rkey());
            memory.set(U32, OUTGOING + 12, options.iterations());
            send(ADVERTISEMENT);
            awaitMessage();
            long address = memory.get(U64, INCOMING);
            int rkey = memory.get(U32, INCOMING + 8);
            int peersRounds = memory.get(U32, INCOMING + 12);
            if (isClient) {
                act(address, rkey);
                suffer(peersRounds);
            } else {
                suffer(peersRounds);
                act(address, rkey);
            }
        }

        /** Runs the atomics of all rounds and hands over. */
        private void act(long address, int rkey) throws IOException {
            long startNs = System.nanoTime();
            for (int round = 0; round < options.iterations(); round++) {
                long before = round * STEP;
                run(request.clear().fetchAndAdd(address + COUNTER, rkey, STEP), before);
                run(request.clear().compareAndSwap(address + SWAPPED, rkey, before, before + STEP),
                        before);
                run(request.clear().compareAndSwap(address + SWAPPED, rkey, before, ~before),
                        before + STEP);
            }
            out().printf(Locale.ROOT, "%d atomics in %.2f seconds, every result as expected%n",
                    3 * options.iterations(), (System.nanoTime() - startNs) / 1e9);
            out().flush();
            send(0);
        }

        private void run(SendWorkRequest atomic, long expected) throws IOException {
            memory.set(ValueLayout.JAVA_LONG, RESULT, ~expected);
            queuePair.postSend(atomic.id(PingPongSide.SEND_ID).set(SendFlag.SIGNALED)
                    .add(region, RESULT, Long.BYTES));
            awaitSend();
            requireEqual(atomic.opcode().toString(), memory.get(ValueLayout.JAVA_LONG, RESULT),
                    expected);
        }

        /** Waits for the peer's atomics and checks their results. */
        private void suffer(int rounds) throws IOException {
            awaitMessage();
            requireEqual("counter", memory.get(ValueLayout.JAVA_LONG, COUNTER), rounds * STEP);
            requireEqual("swapped word", memory.get(ValueLayout.JAVA_LONG, SWAPPED),
                    rounds * STEP);
            out().println("memory is as the peer's " + 3 * rounds + " atomics should leave it");
            out().flush();
        }

        private void requireEqual(String what, long value, long expected) throws IOException {
            if (value != expected) {
                throw new IOException(
                        String.format("%s: 0x%016x instead of 0x%016x", what, value, expected));
            }
        }

        private void send(int length) throws IOException {
            queuePair.postSend(request.clear().id(PingPongSide.SEND_ID).send()
                    .set(SendFlag.SIGNALED).add(region, OUTGOING, length));
            awaitSend();
        }

        private void awaitSend() throws IOException {
            while (takeNext() != PingPongSide.SEND_ID) {
                isMessageThere = true;
            }
        }

        private void awaitMessage() throws IOException {
            while (!isMessageThere) {
                isMessageThere = takeNext() == PingPongSide.RECEIVE_ID;
            }
            isMessageThere = false;
            postReceive();
        }

        private int takeNext() throws IOException {
            long startNs = System.nanoTime();
            for (int polls = 1; !side.completions().poll(completion); polls++) {
                Backoff.pause(polls);
                if (System.nanoTime() - startNs > options.patience().toNanos()) {
                    throw new IOException("nothing came from the peer for "
                            + options.patience().toSeconds() + " s");
                }
            }
            Completions.requireSuccess(completion);
            return (int) completion.id();
        }
    }
}
