// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.engine;

import io.rdma4j.protocol.count.Counter;
import io.rdma4j.spi.IdTable;

import java.util.Map;
import java.util.Set;

/**
 * The counters of a device: what its queue pairs have counted, including those that were closed, and what concerns no queue
 * pair. The sum is formed when somebody reads, because reading is rare. One writer at a time, any reader.
 */
public final class DeviceCounters {
    /** Of no queue pair, and of closed ones. */
    private final Counters own = new Counters();
    private final IdTable<EngineQueuePair> queuePairs;
    /** Odd while the counts of a queue pair move to the others. */
    private volatile int moves;

    DeviceCounters(IdTable<EngineQueuePair> queuePairs) {
        this.queuePairs = queuePairs;
    }

    /** Counts something that happened to the device so often, and to no queue pair. For the engine's owner. */
    public void add(Counter counter, long amount) {
        own.add(counter, amount);
    }

    /** Removes a queue pair from the table, but not what it has counted. For the engine's owner. */
    void remove(EngineQueuePair queuePair) {
        int before = moves;
        moves = before + 1;
        own.addAll(queuePair.counters());
        queuePairs.remove(queuePair.number());
        moves = before + 2;
    }

    /** {@return a value} */
    public long value(Counter counter) {
        while (true) {
            int before = moves;
            Sum sum = new Sum(counter, own.value(counter));
            queuePairs.forEach(sum::add);
            if ((before & 1) == 0 && moves == before) {
                return sum.value;
            }
            Thread.onSpinWait();
        }
    }

    /** {@return the values of what is counted, by name, in the order of the constants; a copy} */
    public Map<String, Long> byName(Set<Counter> counted) {
        return Counters.byName(counted, this::value);
    }

    private static final class Sum {
        private final Counter counter;
        private long value;

        Sum(Counter counter, long value) {
            this.counter = counter;
            this.value = value;
        }

        void add(EngineQueuePair queuePair) {
            value += queuePair.counters().value(counter);
        }
    }
}
