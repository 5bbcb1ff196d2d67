package io.rdma4j.softnic.network.linux;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;

/**
 * Finds out in which order the sockets of a group are, after processes have died: the last takes the place of one that is
 * closed, and nobody has seen in which order they were. For who has the lock of {@link SharedPort}.
 */
final class PlaceFinder implements AutoCloseable {
    private static final long ANSWER_TIMEOUT_NS = 20_000_000;
    private static final long ANSWER_RETRY_NS = 50_000;
    private static final int MAX_PROBE_ROUNDS = 3;

    private final SharedTable table;
    private final ProbeSender probes;
    private final SecureRandom random = new SecureRandom();

    PlaceFinder(SharedTable table, Arena arena) throws LinuxSocket.Refused {
        this.table = table;
        probes = new ProbeSender(arena);
    }

    /** {@return the processes of a group in the order of their places, as each place says itself} */
    List<Integer> inOrder(int group, List<Integer> alive) {
        if (alive.size() == 1) {
            return alive;
        }
        Integer[] order = new Integer[alive.size()];
        for (int round = 0; round < MAX_PROBE_ROUNDS; round++) {
            ask(group, alive);
            if (takeAnswers(order, alive)) {
                break;
            }
        }
        return completed(order, alive);
    }

    private void ask(int group, List<Integer> alive) {
        long nonce = random.nextLong();
        table.beginProbes(nonce);
        for (int place = 0; place < alive.size(); place++) {
            probes.send(table.address(group), table.scope(group), place, nonce);
        }
        long untilNs = System.nanoTime() + ANSWER_TIMEOUT_NS;
        while (System.nanoTime() - untilNs < 0 && answers(alive.size()) < alive.size()) {
            LockSupport.parkNanos(ANSWER_RETRY_NS);
        }
    }

    private int answers(int places) {
        int count = 0;
        for (int place = 0; place < places; place++) {
            count += table.answer(place) == 0 ? 0 : 1;
        }
        return count;
    }

    /** {@return whether no process has answered from two places, as happens while a socket is being closed} */
    private boolean takeAnswers(@Nullable Integer[] order, List<Integer> alive) {
        Set<Integer> seen = new HashSet<>();
        boolean isClear = true;
        for (int place = 0; place < order.length; place++) {
            int answer = table.answer(place);
            boolean isOne = alive.contains(answer) && seen.add(answer);
            order[place] = isOne ? answer : null;
            isClear &= isOne || answer == 0;
        }
        return isClear;
    }

    /** Who has not answered, for it is stopped, or busy opening, is in one of the places left. */
    private static List<Integer> completed(@Nullable Integer[] order, List<Integer> alive) {
        List<Integer> missing = new ArrayList<>(alive);
        for (Integer each : order) {
            missing.removeIf(other -> other.equals(each));
        }
        List<Integer> all = new ArrayList<>();
        for (Integer each : order) {
            all.add(each == null ? missing.removeFirst() : each);
        }
        return all;
    }

    @Override
    public void close() {
        probes.close();
    }
}
