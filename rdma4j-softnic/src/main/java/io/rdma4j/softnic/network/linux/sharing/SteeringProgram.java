// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.sharing;

import io.rdma4j.softnic.network.linux.calls.LinuxSocket;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

/**
 * The program by which the kernel selects the destination of a packet among the sockets that share UDP port 4791 of one
 * address. Classic BPF; its result is the place of a socket in the group. A packet for no process goes to place 0.
 *
 * <p>The fields that it reads, as offsets from the end of the UDP header: the upper 8 bits of the destination queue pair
 * (5), which are the prefix of a process. For queue pair 1 the attribute of the management datagram (36) determines which
 * field names the process: the port of the service for a REQ or SIDR_REQ (56), the prefix in the request identifier for a
 * SIDR_REP (44), and in the remote communication identifier for all others (48). A {@link ReuseportProbe} and a {@link
 * PassedDatagram} name their place (4).
 *
 * <p>A requester that withdraws its request does not know the remote communication identifier and sends 0. The request is
 * with a process that listens, or has listened: the message goes to one of these, by the requester's identifier (44), and
 * from there to the others ({@link SharedPort#passOn}). Not to the first process, because that may be any one, a stopped one
 * too.
 *
 * <p>Sources: bpf(4) of FreeBSD, which defines the instructions; socket(7), {@code SO_ATTACH_REUSEPORT_CBPF}; IBTA 9.2 and
 * 12.6.
 */
public final class SteeringProgram {
    /** Bytes of {@code struct sock_filter}. */
    static final int INSTRUCTION_LENGTH = 8;
    /** The kernel's limit. */
    static final int MAX_LENGTH = 4096;

    static final int LOAD_WORD = 0x20;
    static final int LOAD_HALF = 0x28;
    static final int LOAD_BYTE = 0x30;
    static final int JUMP = 0x05;
    static final int JUMP_IF_EQUAL = 0x15;
    static final int JUMP_IF_AT_LEAST = 0x35;
    static final int AND = 0x54;
    static final int REMAINDER = 0x94;
    static final int RETURN = 0x06;
    static final int RETURN_ACCUMULATOR = 0x16;

    private static final int QUEUE_PAIR_WORD = 4;
    private static final int QUEUE_PAIR_MASK = 0xff_ffff;
    private static final int QUEUE_PAIR_PREFIX = 5;
    public static final int MANAGEMENT_QUEUE_PAIR = 1;
    private static final int ATTRIBUTE = 36;
    private static final int REQUEST_IDENTIFIER = 44;
    private static final int REMOTE_IDENTIFIER = 48;
    private static final int SERVICE = 56;
    private static final int REQUEST = 0x10;
    private static final int SERVICE_REQUEST = 0x17;
    private static final int SERVICE_REPLY = 0x18;
    /** The maximum number of listening processes among which messages without an identifier are distributed. */
    private static final int MAX_SERVERS = 32;

    /** An instruction, as struct sock_filter. */
    record Instruction(int code, int ifTrue, int ifFalse, int operand) {}

    private final List<Instruction> instructions = new ArrayList<>();

    private SteeringProgram() {}

    /**
     * {@return the program of a group}
     *
     * @param places the place of each prefix that has a socket in the group
     * @param services the prefix that listens at a service, which is the port space's number and the port, of 32 bits;
     *        those of prefixes that have no socket in the group are left out
     * @throws IllegalArgumentException if there are more services than a program can distinguish
     */
    static SteeringProgram of(Map<Integer, Integer> places, Map<Integer, Integer> services) {
        SteeringProgram program = new SteeringProgram();
        program.write(new TreeMap<>(places), services);
        if (program.instructions.size() > MAX_LENGTH) {
            throw new IllegalArgumentException("at most " + MAX_LENGTH + " instructions, not "
                    + program.instructions.size());
        }
        return program;
    }

    private void write(SortedMap<Integer, Integer> places, Map<Integer, Integer> services) {
        add(LOAD_WORD, 0);
        add(JUMP_IF_EQUAL, 0, 2, ReuseportProbe.MAGIC);
        add(LOAD_BYTE, ReuseportProbe.PLACE);
        add(RETURN_ACCUMULATOR, 0);
        add(LOAD_WORD, QUEUE_PAIR_WORD);
        add(AND, QUEUE_PAIR_MASK);
        add(JUMP_IF_EQUAL, 2, 0, MANAGEMENT_QUEUE_PAIR);
        add(LOAD_BYTE, QUEUE_PAIR_PREFIX);
        int fromQueuePair = jump();
        add(LOAD_HALF, ATTRIBUTE);
        add(JUMP_IF_EQUAL, 0, 2, SERVICE_REPLY);
        add(LOAD_BYTE, REQUEST_IDENTIFIER);
        int fromRequest = jump();
        add(JUMP_IF_EQUAL, 2, 0, REQUEST);
        add(JUMP_IF_EQUAL, 1, 0, SERVICE_REQUEST);
        int fromOther = jump();
        int fromServiceRequest = jump();
        land(fromOther);
        add(LOAD_WORD, REMOTE_IDENTIFIER);
        add(JUMP_IF_EQUAL, 2, 0, 0);
        add(LOAD_BYTE, REMOTE_IDENTIFIER);
        int fromConnection = jump();
        distribute(servers(places, services));
        land(fromServiceRequest);
        add(LOAD_WORD, SERVICE);
        services.forEach((service, prefix) -> {
            Integer place = places.get(prefix);
            if (place != null) {
                add(JUMP_IF_EQUAL, 0, 1, service);
                add(RETURN, place);
            }
        });
        add(RETURN, 0);
        land(fromQueuePair);
        land(fromRequest);
        land(fromConnection);
        search(List.copyOf(places.entrySet()));
    }

    /** {@return the places of processes that listen} */
    private static List<Integer> servers(Map<Integer, Integer> places,
            Map<Integer, Integer> services) {
        return services.values().stream().map(places::get).filter(Objects::nonNull).distinct()
                .sorted().limit(MAX_SERVERS).toList();
    }

    /** Chooses a place by the identifier of the sender, or the first one if there is none to choose from. */
    private void distribute(List<Integer> among) {
        if (among.size() > 1) {
            add(LOAD_WORD, REQUEST_IDENTIFIER);
            add(REMAINDER, among.size());
            for (int i = 1; i < among.size(); i++) {
                add(JUMP_IF_EQUAL, 0, 1, i);
                add(RETURN, among.get(i));
            }
        }
        add(RETURN, among.isEmpty() ? 0 : among.getFirst());
    }

    /** Finds the prefix in the accumulator by halving. */
    private void search(List<Map.Entry<Integer, Integer>> sorted) {
        if (sorted.isEmpty()) {
            add(RETURN, 0);
        } else if (sorted.size() == 1) {
            add(JUMP_IF_EQUAL, 0, 1, sorted.getFirst().getKey());
            add(RETURN, sorted.getFirst().getValue());
            add(RETURN, 0);
        } else {
            int middle = sorted.size() / 2;
            add(JUMP_IF_AT_LEAST, 0, 1, sorted.get(middle).getKey());
            int toUpper = jump();
            search(sorted.subList(0, middle));
            land(toUpper);
            search(sorted.subList(middle, sorted.size()));
        }
    }

    private void add(int code, int operand) {
        add(code, 0, 0, operand);
    }

    private void add(int code, int ifTrue, int ifFalse, int operand) {
        instructions.add(new Instruction(code, ifTrue, ifFalse, operand));
    }

    /** Jumps to the position of the {@link #land} call; conditional jumps reach only 255 instructions. */
    private int jump() {
        add(JUMP, 0);
        return instructions.size() - 1;
    }

    private void land(int jump) {
        instructions.set(jump, new Instruction(JUMP, 0, 0, instructions.size() - jump - 1));
    }

    List<Instruction> instructions() {
        return instructions;
    }

    /** Has the kernel select by it among the sockets of the group of this one. For any thread, while no thread closes the socket. */
    void steer(LinuxSocket socket) throws LinuxSocket.Refused {
        try (Arena call = Arena.ofConfined()) {
            MemorySegment filter = call.allocate((long) instructions.size() * INSTRUCTION_LENGTH,
                    8);
            writeTo(filter);
            socket.steer(filter, instructions.size());
        }
    }

    /** Writes it as an array of {@code struct sock_filter}. */
    void writeTo(MemorySegment memory) {
        long at = 0;
        for (Instruction each : instructions) {
            memory.set(JAVA_SHORT, at, (short) each.code);
            memory.set(JAVA_BYTE, at + 2, (byte) each.ifTrue);
            memory.set(JAVA_BYTE, at + 3, (byte) each.ifFalse);
            memory.set(JAVA_INT, at + 4, each.operand);
            at += INSTRUCTION_LENGTH;
        }
    }
}
