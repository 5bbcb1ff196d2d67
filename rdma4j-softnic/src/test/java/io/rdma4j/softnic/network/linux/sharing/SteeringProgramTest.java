// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.sharing;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/** Where the program sends what, by an interpreter of the instructions it uses. */
class SteeringProgramTest {
    private static final int TCP = 0x0106_0000;

    /** {@return what the program returns for a packet; 0 when it reads beyond its end, as the kernel does} */
    private static int run(SteeringProgram program, ByteBuffer packet) {
        List<SteeringProgram.Instruction> code = program.instructions();
        int accumulator = 0;
        int at = 0;
        while (true) {
            SteeringProgram.Instruction next = code.get(at++);
            int operand = next.operand();
            switch (next.code()) {
                case SteeringProgram.LOAD_WORD -> {
                    if (operand + 4 > packet.limit()) {
                        return 0;
                    }
                    accumulator = packet.getInt(operand);
                }
                case SteeringProgram.LOAD_HALF -> {
                    if (operand + 2 > packet.limit()) {
                        return 0;
                    }
                    accumulator = packet.getShort(operand) & 0xffff;
                }
                case SteeringProgram.LOAD_BYTE -> {
                    if (operand >= packet.limit()) {
                        return 0;
                    }
                    accumulator = packet.get(operand) & 0xff;
                }
                case SteeringProgram.AND -> accumulator &= operand;
                case SteeringProgram.REMAINDER ->
                    accumulator = Integer.remainderUnsigned(accumulator, operand);
                case SteeringProgram.JUMP -> at += operand;
                case SteeringProgram.JUMP_IF_EQUAL -> at += accumulator == operand
                        ? next.ifTrue()
                        : next.ifFalse();
                case SteeringProgram.JUMP_IF_AT_LEAST -> at += Integer
                        .compareUnsigned(accumulator, operand) >= 0
                                ? next.ifTrue()
                                : next.ifFalse();
                case SteeringProgram.RETURN -> {
                    return operand;
                }
                case SteeringProgram.RETURN_ACCUMULATOR -> {
                    return accumulator;
                }
                default -> throw new AssertionError(next);
            }
        }
    }

    private static ByteBuffer packet(int queuePair) {
        return ByteBuffer.allocate(300).put(0, (byte) 4).putInt(4, queuePair);
    }

    private static ByteBuffer management(int attribute) {
        return packet(1).putShort(36, (short) attribute);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 7, 200, 254})
    void packetsGoToThePlaceOfTheirPrefix(int processes) {
        Map<Integer, Integer> places = new HashMap<>();
        for (int i = 0; i < processes; i++) {
            places.put(254 - i, i);
        }
        SteeringProgram program = SteeringProgram.of(places, Map.of());
        for (int prefix = 0; prefix < 256; prefix++) {
            assertThat(run(program, packet(prefix << 16 | 0x1234))).as("prefix %d", prefix)
                    .isEqualTo(places.getOrDefault(prefix, 0));
        }
    }

    @ParameterizedTest
    @CsvSource({"0x11, 48", "0x12, 48", "0x13, 48", "0x14, 48", "0x15, 48", "0x16, 48", "0x18, 44",
        "0x19, 48"})
    void answersOfTheConnectionManagerGoToWhoAsked(int attribute, int where) {
        SteeringProgram program = SteeringProgram.of(Map.of(7, 3, 9, 4), Map.of());
        ByteBuffer message = management(attribute).put(where, (byte) 9);
        assertThat(run(program, message)).isEqualTo(4);
        message.put(where, (byte) 7);
        assertThat(run(program, message)).isEqualTo(3);
    }

    @ParameterizedTest
    @ValueSource(ints = {0x10, 0x17})
    void requestsGoToWhoListens(int attribute) {
        Map<Integer, Integer> services = Map.of(TCP | 7471, 9, TCP | 7472, 7, TCP | 7473, 200);
        SteeringProgram program = SteeringProgram.of(Map.of(7, 3, 9, 4, 11, 0), services);
        assertThat(run(program, management(attribute).putInt(56, TCP | 7471))).isEqualTo(4);
        assertThat(run(program, management(attribute).putInt(56, TCP | 7472))).isEqualTo(3);
        // Of a process without a socket here, and of no process.
        assertThat(run(program, management(attribute).putInt(56, TCP | 7473))).isZero();
        assertThat(run(program, management(attribute).putInt(56, TCP | 7474))).isZero();
    }

    /** A REJ of a requester that withdraws its request; it has no identifier of the receiver. */
    private static ByteBuffer withdrawal(int sender) {
        return management(0x12).putInt(44, sender);
    }

    @Test
    void withdrawalsGoToTheProcessThatListens() {
        Map<Integer, Integer> places = Map.of(7, 3, 9, 4, 11, 0);
        SteeringProgram program = SteeringProgram.of(places,
                Map.of(TCP | 7471, 9, TCP | 7472, 9, TCP | 7473, 200));
        for (int sender = -3; sender < 3; sender++) {
            assertThat(run(program, withdrawal(sender))).isEqualTo(4);
        }
        assertThat(run(SteeringProgram.of(places, Map.of()), withdrawal(5))).isZero();
    }

    /** If one of them is stopped, it must not hold up all. */
    @ParameterizedTest
    @ValueSource(ints = {2, 3, 32, 200})
    void withdrawalsAreDistributedAmongTheProcessesThatListen(int processes) {
        Map<Integer, Integer> places = new HashMap<>();
        Map<Integer, Integer> services = new HashMap<>();
        for (int i = 0; i < processes; i++) {
            places.put(1 + i, 5 + i);
            services.put(TCP | i, 1 + i);
        }
        SteeringProgram program = SteeringProgram.of(places, services);
        Set<Integer> chosen = new HashSet<>();
        for (int sender = -1000; sender < 1000; sender++) {
            chosen.add(run(program, withdrawal(sender)));
        }
        assertThat(places.values()).containsAll(chosen);
        assertThat(chosen).hasSize(Math.min(processes, 32));
    }

    @Test
    void probesGoToTheirPlace() {
        SteeringProgram program = SteeringProgram.of(Map.of(7, 3, 9, 4), Map.of());
        ByteBuffer probe = ByteBuffer.allocate(ReuseportProbe.LENGTH)
                .putInt(0, ReuseportProbe.MAGIC)
                .put(ReuseportProbe.PLACE, (byte) 213);
        assertThat(run(program, probe)).isEqualTo(213);
    }

    @Test
    void whatIsTooShortGoesToTheFirstPlace() {
        SteeringProgram program = SteeringProgram.of(Map.of(7, 3, 9, 4), Map.of());
        for (int length = 0; length < 5; length++) {
            assertThat(run(program, packet(7 << 16).limit(length))).isZero();
        }
        assertThat(run(program, management(0x13).put(48, (byte) 9).limit(48))).isZero();
    }

    @Test
    void asManyServicesAsTheTableHoldsFit() {
        Map<Integer, Integer> places = new HashMap<>();
        for (int i = 0; i < SharedTable.MAX_PLACES; i++) {
            places.put(i + 1, i);
        }
        Map<Integer, Integer> services = new HashMap<>();
        for (int i = 0; i < SharedTable.MAX_SERVICES; i++) {
            services.put(TCP | i, 1 + i % SharedTable.MAX_PLACES);
        }
        assertThat(SteeringProgram.of(places, services).instructions())
                .hasSizeLessThanOrEqualTo(SteeringProgram.MAX_LENGTH);
        for (int i = 0; i < 2 * SharedTable.MAX_SERVICES; i++) {
            services.put(TCP | i, 1);
        }
        assertThatIllegalArgumentException()
                .isThrownBy(() -> SteeringProgram.of(places, services))
                .withMessageContaining("at most 4096");
    }
}
