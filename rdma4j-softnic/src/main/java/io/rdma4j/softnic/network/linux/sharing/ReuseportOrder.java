// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.sharing;

import io.rdma4j.protocol.roce.wire.Path;
import io.rdma4j.softnic.network.PortHolder;
import io.rdma4j.softnic.network.linux.calls.LinuxSocket;
import io.rdma4j.softnic.network.linux.calls.MemoryCalls;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;

/**
 * Finds the order of the sockets of a group after processes have died: when a socket is closed, the last one takes its
 * place, and the order of these closings is not known. Only under the lock of {@link SharedPort}.
 */
final class ReuseportOrder implements AutoCloseable {
    /** Longer than a process needs that runs. One that answers later gets a place that is left, until places are asked again. */
    static final long ANSWER_TIMEOUT_NS = 20_000_000;
    private static final long ANSWER_RETRY_NS = 50_000;
    private static final int MAX_PROBE_ROUNDS = 3;

    private final SharedTable table;
    private final Prefixes prefixes;
    private final ProbeSender probes;
    private final long answerTimeoutNs;

    /** @param answerTimeoutNs how long to wait for answers */
    ReuseportOrder(SharedTable table, Prefixes prefixes, Arena arena, long answerTimeoutNs)
            throws LinuxSocket.Refused {
        this.table = table;
        this.prefixes = prefixes;
        this.answerTimeoutNs = answerTimeoutNs;
        probes = new ProbeSender(arena);
    }

    /**
     * {@return the processes of a group in the order of their places, as the sockets answer, with {@link
     * SharedTable#NOBODY} for a place whose process is not known}
     *
     * @param alive the live processes of the group, each once
     */
    List<Integer> inOrder(int group, List<Integer> alive) throws LinuxSocket.Refused {
        int places = placesToAsk(group, alive.size());
        if (places == 1) {
            return alive;
        }
        Integer[] order = new Integer[places];
        for (int round = 0; round < MAX_PROBE_ROUNDS; round++) {
            ask(group, places);
            if (takeAnswers(order)) {
                break;
            }
        }
        return completed(order, alive, table.places(group));
    }

    /** A process that died during a change may have added sockets that are not in the table. */
    private int placesToAsk(int group, int known) {
        int sockets = table.isChanging(group)
                ? PortHolder.count(table.address(group).address(), Path.UDP_PORT)
                : known;
        return Math.min(Math.max(known, sockets), SharedTable.MAX_PLACES);
    }

    private void ask(int group, int places) {
        long nonce = MemoryCalls.random();
        table.beginProbes(nonce);
        for (int place = 0; place < places; place++) {
            probes.send(table.address(group), table.scope(group), place, nonce);
        }
        long untilNs = System.nanoTime() + answerTimeoutNs;
        while (System.nanoTime() - untilNs < 0 && answers(places) < places) {
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

    /**
     * A live process that answered has a socket there, whether or not it is in the table.
     *
     * @return whether no process has answered from two places, as happens while a socket is being closed
     */
    private boolean takeAnswers(@Nullable Integer[] order) throws LinuxSocket.Refused {
        Set<Integer> seen = new HashSet<>();
        boolean isClear = true;
        for (int place = 0; place < order.length; place++) {
            int answer = table.answer(place);
            boolean isOne = answer != SharedTable.NOBODY && prefixes.isAlive(answer)
                    && seen.add(answer);
            order[place] = isOne ? answer : null;
            isClear &= isOne || answer == SharedTable.NOBODY;
        }
        return isClear;
    }

    /**
     * Fills the remaining places with the processes that have not answered, because they are stopped, slow or still opening:
     * first with those that had the places before.
     */
    private static List<Integer> completed(@Nullable Integer[] order, List<Integer> alive,
            List<Integer> before) {
        Deque<Integer> missing = new ArrayDeque<>(alive);
        for (Integer each : order) {
            missing.remove(orNobody(each));
        }
        for (int place = 0; place < Math.min(order.length, before.size()); place++) {
            if (order[place] == null && missing.remove(before.get(place))) {
                order[place] = before.get(place);
            }
        }
        List<Integer> all = new ArrayList<>();
        for (Integer each : order) {
            all.add(each != null || missing.isEmpty() ? orNobody(each) : missing.removeFirst());
        }
        while (all.size() > alive.size() && all.getLast() == SharedTable.NOBODY) {
            all.removeLast();
        }
        all.addAll(missing);
        return all.subList(0, Math.min(all.size(), SharedTable.MAX_PLACES));
    }

    private static int orNobody(@Nullable Integer answer) {
        return answer == null ? SharedTable.NOBODY : answer;
    }

    @Override
    public void close() {
        probes.close();
    }
}
