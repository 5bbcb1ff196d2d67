// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.engine;

import io.rdma4j.protocol.count.Counter;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.ToLongFunction;

/** A value for each {@link Counter}. One writer at a time, any reader. */
@SuppressWarnings("EnumOrdinal") // The ordinal is the index, as in an EnumMap.
public final class Counters {
    private static final VarHandle VALUE = MethodHandles.arrayElementVarHandle(long[].class);

    private final long[] values = new long[Counter.values().length];

    /** Creates counters at zero. */
    public Counters() {}

    /** {@return a value} */
    public long value(Counter counter) {
        return (long) VALUE.getOpaque(values, counter.ordinal());
    }

    /** {@return the values of what is counted, by name, in the order of the constants; a copy} */
    public Map<String, Long> byName(Set<Counter> counted) {
        return byName(counted, this::value);
    }

    /** {@return the values of what is counted, by name, in the order of the constants} */
    static Map<String, Long> byName(Set<Counter> counted, ToLongFunction<Counter> values) {
        Map<String, Long> byName = new LinkedHashMap<>();
        for (Counter counter : Counter.values()) {
            long value = values.applyAsLong(counter);
            if (counted.contains(counter)) {
                byName.put(counter.text(), value);
            } else {
                assert value == 0 : counter + " is said not to be counted";
            }
        }
        return byName;
    }

    /** Counts what others have counted. For the engine's owner. */
    void addAll(Counters others) {
        for (Counter counter : Counter.values()) {
            long amount = others.value(counter);
            if (amount != 0) {
                add(counter, amount);
            }
        }
    }

    /** Counts something that happened so often. For the engine's owner. */
    public void add(Counter counter, long amount) {
        // Written whole, and seen when the owner releases the engine, at the latest.
        values[counter.ordinal()] += amount;
    }

    /** Counts two things at once, as packets and their bytes. For the engine's owner. */
    void add(Counter counter, long amount, Counter other, long otherAmount) {
        values[counter.ordinal()] += amount;
        values[other.ordinal()] += otherAmount;
    }
}
