// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.AddressHandle;
import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.FlushPlacement;
import io.rdma4j.verbs.FlushSelectivity;
import io.rdma4j.verbs.MemoryWindow;
import io.rdma4j.verbs.MemoryWindowBind;
import io.rdma4j.verbs.MemoryWindowType;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendOpcode;
import io.rdma4j.verbs.SendWorkRequest;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Which operation a queue pair of each type offers, and what the flags of a request do there: each is tried,
 * and the table in {@code docs/reference/operations.md} must say what was found.
 */
class OperationTableTest {
    private static final String DOCUMENT = "rdma4j.test.operations";
    private static final List<QueuePairType> TYPES = List.of(QueuePairType.RC, QueuePairType.UC,
            QueuePairType.UD);
    private static final int QKEY = 0x1111_1111;
    private static final int LENGTH = 8;

    /** A pair of which b's completion queue wakes for solicited messages alone. */
    private static final class Stage {
        final Pair pair;
        final Pair.Side a;
        final Pair.Side b;
        final CompletionChannel channel = CompletionChannel.create();
        private final QueuePairType type;
        private final @Nullable AddressHandle toB;

        Stage(QueuePairType type) throws Exception {
            this.type = type;
            pair = Pair.of(type);
            Pair.Settings settings = new Pair.Settings();
            settings.type = type;
            CompletionQueue queue = pair.b.node.context.createCompletionQueue(16, channel);
            a = pair.new Side(pair.simulation.a, settings);
            b = pair.new Side(pair.simulation.b, queue, settings);
            a.connect(b, settings);
            b.connect(a, settings);
            queue.requestSolicitedNotification();
            toB = type != QueuePairType.UD
                    ? null
                    : a.node.domain.createAddressHandle(
                            AddressHandleAttributes.to(b.node.nic.gids().get(1), 1));
            b.receive(100, 1000);
        }

        /** {@return a window that a side has bound} */
        private MemoryWindow boundBy(Pair.Side side) throws RdmaException {
            MemoryWindow window = side.node.domain.allocateMemoryWindow(MemoryWindowType.TYPE_2);
            side.queuePair.postSend(
                    bind(new SendWorkRequest(), window, side));
            pair.settle();
            return window;
        }

        private static SendWorkRequest bind(SendWorkRequest request, MemoryWindow window,
                Pair.Side side) {
            return request.bind(window, MemoryWindow.nextRkey(window.rkey()),
                    new MemoryWindowBind(side.region, side.region.address(), 64,
                            Set.of(AccessFlag.REMOTE_WRITE)));
        }

        /** {@return a request of an operation that succeeds wherever it is offered} */
        SendWorkRequest request(SendOpcode opcode) throws RdmaException {
            long remote = b.region.address();
            int rkey = b.region.rkey();
            SendWorkRequest request = new SendWorkRequest().id(1);
            if (toB != null) {
                request.to(toB, b.queuePair.number(), QKEY);
            }
            return switch (opcode) {
                case SEND -> withPayload(request.send());
                case SEND_WITH_IMMEDIATE -> withPayload(request.sendWithImmediate(7));
                case SEND_WITH_INVALIDATE -> withPayload(request.sendWithInvalidate(
                        type == QueuePairType.UD ? 0 : boundBy(b).rkey()));
                case RDMA_WRITE -> withPayload(request.write(remote, rkey));
                case RDMA_WRITE_WITH_IMMEDIATE -> withPayload(
                        request.writeWithImmediate(remote, rkey, 7));
                case RDMA_READ -> withPayload(request.read(remote, rkey));
                case ATOMIC_COMPARE_AND_SWAP -> withPayload(
                        request.compareAndSwap(remote, rkey, 1, 2));
                case ATOMIC_FETCH_AND_ADD -> withPayload(request.fetchAndAdd(remote, rkey, 1));
                case ATOMIC_WRITE -> withPayload(request.atomicWrite(remote, rkey));
                case FLUSH -> request.flush(remote, rkey, LENGTH, Set.of(FlushPlacement.GLOBAL),
                        FlushSelectivity.RANGE);
                case LOCAL_INVALIDATE -> request.localInvalidate(
                        type == QueuePairType.UD ? 0 : boundBy(a).rkey());
                case BIND_MEMORY_WINDOW -> bind(request,
                        a.node.domain.allocateMemoryWindow(MemoryWindowType.TYPE_2), a);
            };
        }

        private SendWorkRequest withPayload(SendWorkRequest request) {
            return request.add(a.region, 0, LENGTH);
        }

        /** {@return why the request is refused, or null} It must succeed if it is not. */
        @Nullable
        Errno post(SendWorkRequest request) throws RdmaException {
            try {
                a.queuePair.postSend(request);
            } catch (RdmaException refused) {
                return refused.errno();
            }
            pair.settle();
            a.takeCompletions();
            assertThat(a.completions).allMatch(completion -> completion.isSuccess());
            return null;
        }
    }

    private static boolean isTaken(SendOpcode opcode, QueuePairType type, SendFlag flag)
            throws Exception {
        Stage stage = new Stage(type);
        return stage.post(stage.request(opcode).set(flag)) == null;
    }

    private static boolean isReported(SendOpcode opcode, QueuePairType type, boolean isSignaled)
            throws Exception {
        Stage stage = new Stage(type);
        stage.post(stage.request(opcode).set(SendFlag.SIGNALED, isSignaled));
        return stage.a.completions.stream().anyMatch(completion -> completion.id() == 1);
    }

    private static boolean wakes(SendOpcode opcode, QueuePairType type, boolean isSolicited)
            throws Exception {
        Stage stage = new Stage(type);
        stage.post(stage.request(opcode).set(SendFlag.SOLICITED, isSolicited));
        CompletionQueue woken = stage.channel.pollEvent(Duration.ZERO);
        if (woken == null) {
            return false;
        }
        woken.acknowledgeEvents(1);
        return true;
    }

    /** {@return whether a payload that is no registered memory is taken} */
    private static boolean isCopied(SendOpcode opcode, QueuePairType type) throws Exception {
        Stage stage = new Stage(type);
        SendWorkRequest request = stage.request(opcode);
        request.elements().clear();
        return stage.post(request.inline(MemorySegment.ofArray(new byte[LENGTH]))) == null;
    }

    /** {@return what the table says of an operation of a type of queue pair} */
    private static String cell(SendOpcode opcode, QueuePairType type) throws Exception {
        Stage stage = new Stage(type);
        Errno refusal = stage.post(stage.request(opcode));
        if (refusal != null) {
            return refusal.name();
        }
        assertThat(isReported(opcode, type, false)).isFalse();
        assertThat(wakes(opcode, type, false)).isFalse();
        StringBuilder flags = new StringBuilder();
        append(flags, 'F', isTaken(opcode, type, SendFlag.FENCE));
        append(flags, 'S', isReported(opcode, type, true));
        append(flags, 'E', wakes(opcode, type, true));
        append(flags, 'I', isCopied(opcode, type));
        return flags.toString().strip();
    }

    private static void append(StringBuilder flags, char letter, boolean has) {
        flags.append(has ? letter : '-').append(' ');
    }

    @Test
    void documentSaysWhatEachOperationDoes() throws Exception {
        StringBuilder table = new StringBuilder(
                "| operation | RC | UC | UD |\n|---|---|---|---|\n");
        for (SendOpcode opcode : SendOpcode.values()) {
            table.append("| `").append(opcode).append("` |");
            for (QueuePairType type : TYPES) {
                table.append(" `").append(cell(opcode, type)).append("` |");
            }
            table.append('\n');
        }
        String document = System.getProperty(DOCUMENT);
        assertThat(document).as("system property " + DOCUMENT).isNotNull();
        assertThat(Files.readString(Path.of(document))).as("the table as it was found")
                .contains(table);
    }

    @ParameterizedTest
    @EnumSource(value = QueuePairType.class, names = {"UC", "UD"})
    void fenceIsRefusedWhereNothingCouldBeWaitedFor(QueuePairType type) throws Exception {
        Stage stage = new Stage(type);
        SendWorkRequest fenced = stage.request(SendOpcode.SEND).set(SendFlag.FENCE);
        assertThatExceptionOfType(RdmaException.class)
                .isThrownBy(() -> stage.a.queuePair.postSend(fenced))
                .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.EINVAL))
                .withMessageContainingAll("FENCE", "type " + type, "RC");
        assertThat(stage.post(stage.request(SendOpcode.SEND))).isNull();
    }

    @ParameterizedTest
    @EnumSource(value = QueuePairType.class, names = {"RC", "UC", "UD"})
    void checksumsAreForRawPackets(QueuePairType type) throws Exception {
        Stage stage = new Stage(type);
        assertThat(stage.post(stage.request(SendOpcode.SEND).set(SendFlag.IP_CHECKSUM)))
                .isEqualTo(Errno.EOPNOTSUPP);
    }
}
