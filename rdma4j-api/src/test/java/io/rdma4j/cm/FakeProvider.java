// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.cm;

import io.rdma4j.verbs.AbsentDevice;
import io.rdma4j.verbs.DeviceKind;
import io.rdma4j.verbs.DeviceWatch;
import io.rdma4j.verbs.RdmaDevice;
import io.rdma4j.verbs.RdmaProvider;
import io.rdma4j.verbs.TransportType;
import org.jspecify.annotations.Nullable;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;

/** Devices that are no more than what a test makes of them: one, unless a test wants others. */
public final class FakeProvider implements RdmaProvider {
    static final FakeDevice DEVICE = new FakeDevice("fake0", DeviceKind.SOFTWARE,
            TransportType.INFINIBAND);
    private static volatile List<RdmaDevice> devices = List.of(DEVICE);
    private static volatile List<AbsentDevice> absent = List.of();
    private static volatile boolean reportsChanges;
    /** Runs before somebody watches. */
    static volatile Runnable onWatch = () -> {};
    private static final AtomicLong LOOKS = new AtomicLong();
    private static final List<Runnable> WATCHING = new CopyOnWriteArrayList<>();

    /** Called by {@link java.util.ServiceLoader}. */
    public FakeProvider() {}

    @Override
    public List<RdmaDevice> devices() {
        // First, so that whoever sees the number grow knows that the list is read afterwards.
        LOOKS.incrementAndGet();
        return devices;
    }

    @Override
    public List<String> remarks() {
        return List.of("fake1 is missing: make it");
    }

    /** These are the devices from now on, in the order in which they are listed. */
    static void offer(FakeDevice... offered) {
        devices = List.of(offered);
    }

    @Override
    public List<AbsentDevice> absent() {
        return absent;
    }

    @Override
    public @Nullable DeviceWatch watch(Runnable onChange) {
        if (!reportsChanges) {
            return null;
        }
        onWatch.run();
        WATCHING.add(onChange);
        return () -> WATCHING.remove(onChange);
    }

    /** Changes are reported from now on to whoever begins to watch, or are not. */
    static void reportChanges(boolean isReporting) {
        reportsChanges = isReporting;
    }

    /** {@return how often the devices have been listed} */
    static long looks() {
        return LOOKS.get();
    }

    /** {@return how many watch} */
    static int watching() {
        return WATCHING.size();
    }

    /** As {@link #offer}, and whoever watches is told. */
    static void change(FakeDevice... offered) {
        offer(offered);
        WATCHING.forEach(Runnable::run);
    }

    /** These devices may come. */
    static void mayCome(AbsentDevice... missing) {
        absent = List.of(missing);
    }
}
