// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.litmus;

import org.jspecify.annotations.Nullable;

import java.nio.IntBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.IntUnaryOperator;
import java.util.function.Predicate;

/**
 * A few threads that share memory, and everything that can come of it: all orders in which the steps of each thread may
 * take effect are tried.
 *
 * <p>Memory is multi-copy atomic, as that of Armv8: a step takes effect for all threads at once. A thread's steps take
 * effect in program order only where {@link #isInOrder} says so, which is less than Armv8 and HotSpot keep: so what holds
 * here holds there, and plain accesses may also be moved by the compiler. A read behind a condition may take effect before
 * the condition is known, a write may not.
 */
final class Litmus {
    /** What an access orders: a read with ACQUIRE what follows it, a write with RELEASE what precedes it, VOLATILE also both. */
    enum Order {
        PLAIN, ACQUIRE, RELEASE, VOLATILE
    }

    private enum Kind {
        READ, WRITE, UPDATE, FENCE
    }

    /** A read that its condition left out, and a register that was not read yet. */
    static final int SKIPPED = -1;
    private static final int UNKNOWN = -2;

    /**
     * One step of a thread.
     *
     * @param register where a read or an update leaves what it found
     * @param source the register whose value is written, null for a constant
     * @param change what an update makes of what it found
     * @param condition the register that decides whether the step is done, null if it always is
     * @param isForZero whether it is done if that register is 0, and not if it is above 0
     */
    record Step(Kind kind, String place, String register, Order order, int value,
            @Nullable String source, IntUnaryOperator change, @Nullable String condition,
            boolean isForZero) {
        private Step(Kind kind, String place, String register, Order order, int value) {
            this(kind, place, register, order, value, null, IntUnaryOperator.identity(), null,
                    false);
        }

        /** {@return the same, done only if a register is above 0} */
        Step ifSet(String decisive) {
            return new Step(kind, place, register, order, value, source, change, decisive, false);
        }

        /** {@return the same, done only if a register is 0} */
        Step ifZero(String decisive) {
            return new Step(kind, place, register, order, value, source, change, decisive, true);
        }

        private boolean isWriting() {
            return kind == Kind.WRITE || kind == Kind.UPDATE;
        }

        private boolean isReading() {
            return kind == Kind.READ || kind == Kind.UPDATE;
        }
    }

    static Step read(String place, String register, Order order) {
        return new Step(Kind.READ, place, register, order, 0);
    }

    static Step read(String place, String register) {
        return read(place, register, Order.PLAIN);
    }

    static Step write(String place, int value, Order order) {
        return new Step(Kind.WRITE, place, "", order, value);
    }

    static Step write(String place, int value) {
        return write(place, value, Order.PLAIN);
    }

    /** {@return a write of what a register has} */
    static Step copy(String place, String source, Order order) {
        return new Step(Kind.WRITE, place, "", order, 0, source, IntUnaryOperator.identity(), null,
                false);
    }

    /** {@return an atomic change, ordered to both sides} */
    static Step update(String place, String register, IntUnaryOperator change) {
        return new Step(Kind.UPDATE, place, register, Order.VOLATILE, 0, null, change, null,
                false);
    }

    /** {@return an atomic increment} */
    static Step increment(String place) {
        return update(place, place + " before", value -> value + 1);
    }

    /** {@return a full fence} A release fence has the same effect between two writes. */
    static Step fence() {
        return new Step(Kind.FENCE, "", "", Order.VOLATILE, 0);
    }

    /** What all threads have left when all steps were done. */
    interface Outcome {
        /** {@return what a register has, {@link #SKIPPED} if it was not read} */
        int of(String register);

        /** {@return what the memory has at a place} */
        int at(String place);
    }

    private final List<Step[]> threads = new ArrayList<>();
    /** The names of places and registers; their index is that of their value in a state. */
    private final List<String> names = new ArrayList<>();
    private final List<Integer> initial = new ArrayList<>();
    private Predicate<Outcome> isForbidden = _ -> false;

    /** Adds a thread. Steps that are null are left out. */
    Litmus thread(@Nullable Step... steps) {
        Step[] present = Arrays.stream(steps).filter(step -> step != null).toArray(Step[]::new);
        for (Step step : present) {
            declare("[" + step.place + "]", 0);
            declare(step.register, UNKNOWN);
        }
        threads.add(present);
        return this;
    }

    private void declare(String name, int value) {
        if (!names.contains(name)) {
            names.add(name);
            initial.add(value);
        }
    }

    /** Sets what the memory has at a place at first; 0 otherwise. */
    Litmus with(String place, int value) {
        initial.set(names.indexOf("[" + place + "]"), value);
        return this;
    }

    /** Says which outcome must not be. */
    Litmus forbid(Predicate<Outcome> outcome) {
        isForbidden = outcome;
        return this;
    }

    // ---------------------------------------------------------------- the order within a thread

    /** {@return whether a step takes effect before another that follows it in the program} */
    private static boolean isInOrder(Step first, Step second) {
        if (first.kind == Kind.FENCE || second.kind == Kind.FENCE || first.kind == Kind.UPDATE
                || second.kind == Kind.UPDATE || first.place.equals(second.place)) {
            return true;
        }
        if (first.kind == Kind.READ
                && (first.order == Order.ACQUIRE || first.order == Order.VOLATILE)) {
            return true;
        }
        if (second.kind == Kind.WRITE) {
            return second.order == Order.RELEASE || second.order == Order.VOLATILE
                    || (first.isReading() && (first.register.equals(second.condition)
                            || first.register.equals(second.source)));
        }
        // A volatile write before a volatile read. Nothing is promised of setRelease before getAcquire.
        return first.kind == Kind.WRITE && first.order == Order.VOLATILE
                && second.order == Order.VOLATILE;
    }

    // ---------------------------------------------------------------- all there is

    /** {@return a forbidden outcome that is possible, as text; null if there is none} */
    @Nullable
    String counterexample() {
        Set<IntBuffer> seen = new HashSet<>();
        Deque<int[]> open = new ArrayDeque<>();
        int[] start = new int[threads.size() + names.size()];
        for (int i = 0; i < names.size(); i++) {
            start[threads.size() + i] = initial.get(i);
        }
        open.push(start);
        while (!open.isEmpty()) {
            int[] state = open.pop();
            if (!seen.add(IntBuffer.wrap(state))) {
                continue;
            }
            boolean isEnd = true;
            for (int thread = 0; thread < threads.size(); thread++) {
                Step[] steps = threads.get(thread);
                for (int i = 0; i < steps.length; i++) {
                    if ((state[thread] >> i & 1) != 0) {
                        continue;
                    }
                    isEnd = false;
                    int[] next = canTakeEffect(steps, i, state[thread])
                            ? afterStep(state, thread, i)
                            : null;
                    if (next != null) {
                        open.push(next);
                    }
                }
            }
            if (isEnd && isForbidden.test(outcome(state))) {
                return text(state);
            }
        }
        return null;
    }

    private static boolean canTakeEffect(Step[] steps, int index, int done) {
        for (int i = 0; i < index; i++) {
            if ((done >> i & 1) == 0 && isInOrder(steps[i], steps[index])) {
                return false;
            }
        }
        return true;
    }

    /** {@return the state after a step, null if it must wait for its condition} */
    private int @Nullable [] afterStep(int[] state, int thread, int index) {
        Step step = threads.get(thread)[index];
        int[] next = state.clone();
        next[thread] |= 1 << index;
        if (step.condition != null) {
            int decisive = state[at(step.condition)];
            if (decisive == UNKNOWN && step.isWriting()) {
                return null;
            }
            if (decisive != UNKNOWN && !(step.isForZero ? decisive == 0 : decisive > 0)) {
                if (step.isReading()) {
                    next[at(step.register)] = SKIPPED;
                }
                return next;
            }
        }
        if (step.kind == Kind.FENCE) {
            return next;
        }
        int place = at("[" + step.place + "]");
        if (step.isReading()) {
            next[at(step.register)] = state[place];
        }
        if (step.kind == Kind.UPDATE) {
            next[place] = step.change.applyAsInt(state[place]);
        } else if (step.kind == Kind.WRITE) {
            next[place] = step.source == null ? step.value : state[at(step.source)];
        }
        return next;
    }

    private int at(String name) {
        return threads.size() + names.indexOf(name);
    }

    private Outcome outcome(int[] state) {
        return new Outcome() {
            @Override
            public int of(String register) {
                return state[Litmus.this.at(register)];
            }

            @Override
            public int at(String place) {
                return state[Litmus.this.at("[" + place + "]")];
            }
        };
    }

    private String text(int[] state) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < names.size(); i++) {
            text.append(names.get(i)).append('=').append(state[threads.size() + i]).append(' ');
        }
        return text.toString();
    }
}
