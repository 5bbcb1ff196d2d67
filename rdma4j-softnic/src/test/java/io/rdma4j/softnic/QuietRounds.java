// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

import static org.assertj.core.api.Assertions.assertThat;

/** Devices of which each has to be quiet: its thread sleeps, and hardly ever wakes. */
public final class QuietRounds {
    /** Long enough for a thread that looks after something every few milliseconds to be noticed. */
    private static final long WINDOW_MS = 500;
    /** For what is given back, or looked after, once in a while. A thread that spins makes a hundred thousand. */
    private static final long FEW = 10;
    /** A device that never comes to rest has had ten seconds to. */
    private static final int MOST_WINDOWS = 20;

    private final Map<String, LongSupplier> devices = new LinkedHashMap<>();

    /** Adds a device, and how often its thread has gone to sleep so far. */
    public void add(String what, LongSupplier rounds) {
        devices.put(what, rounds);
    }

    /** Waits until all are quiet at the same time; they are for a while after traffic not. */
    public void await(String when) throws InterruptedException {
        Map<String, Long> busy = busy();
        for (int window = 0; window < MOST_WINDOWS && !busy.isEmpty(); window++) {
            busy = busy();
        }
        assertThat(busy).as("rounds in half a second " + when).isEmpty();
    }

    /** {@return the devices that are not quiet, and how many rounds they make} */
    private Map<String, Long> busy() throws InterruptedException {
        Map<String, Long> before = rounds();
        TimeUnit.MILLISECONDS.sleep(WINDOW_MS);
        Map<String, Long> busy = new LinkedHashMap<>();
        rounds().forEach((what, count) -> {
            long made = count - before.getOrDefault(what, 0L);
            if (made >= FEW) {
                busy.put(what, made);
            }
        });
        return busy;
    }

    private Map<String, Long> rounds() {
        Map<String, Long> rounds = new LinkedHashMap<>();
        devices.forEach((what, count) -> rounds.put(what, count.getAsLong()));
        return rounds;
    }
}
