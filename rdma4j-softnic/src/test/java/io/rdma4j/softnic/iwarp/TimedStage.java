// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.iwarp;

import io.rdma4j.softnic.device.SecureNumbers;
import io.rdma4j.softnic.device.SoftNic;
import io.rdma4j.softnic.device.SoftNicOptions;
import io.rdma4j.softnic.network.linux.stream.LinuxStreams;
import io.rdma4j.softnic.network.stream.CountedReads;
import io.rdma4j.softnic.network.stream.PortableStreams;
import io.rdma4j.softnic.network.stream.StreamNetwork;
import io.rdma4j.softnic.options.NetworkBackend;
import io.rdma4j.softnic.verbs.SoftDeviceContext;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;

import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/** A stage on a device whose time the test can let pass, and whose reads it can count. Nothing watches its port. */
abstract class TimedStage extends IwarpStage {
    /** The name of the device's only thread. */
    static final String THREAD = "timed-stage";

    private final SoftNic nic;
    private final CountedReads network;
    private final Clock clock;

    private static final class Clock implements LongSupplier {
        final AtomicLong skippedNs = new AtomicLong();
        /** What a thread does when it reads the clock next. */
        private volatile @Nullable Runnable meanwhile;
        private volatile @Nullable Thread reader;

        void whenRead(Thread by, Runnable what) {
            reader = by;
            meanwhile = what;
        }

        @Override
        public long getAsLong() {
            Runnable now = meanwhile;
            if (now != null && Thread.currentThread().equals(reader)) {
                meanwhile = null;
                now.run();
            }
            return System.nanoTime() + skippedNs.get();
        }
    }

    TimedStage() throws Exception {
        this(new Clock());
    }

    private TimedStage(Clock clock) throws Exception {
        this(clock, new CountedReads(network()));
    }

    private TimedStage(Clock clock, CountedReads network) throws Exception {
        this(clock, network, nic(clock, network));
    }

    private TimedStage(Clock clock, CountedReads network, SoftNic nic) throws Exception {
        super(new SoftDeviceContext(nic), ADDRESS);
        this.clock = clock;
        this.network = network;
        this.nic = nic;
    }

    private static StreamNetwork network() throws Exception {
        boolean isPortable = SoftNicOptions.ofSystem().device()
                .backend() == NetworkBackend.PORTABLE || LinuxStreams.obstacle() != null;
        return isPortable ? new PortableStreams() : new LinuxStreams();
    }

    private static SoftNic nic(LongSupplier clock, StreamNetwork network) throws Exception {
        IwarpSettings settings = IwarpSettings.ofSystem(IwarpPatience.USUAL);
        SoftNic nic = new SoftNic(device(IwarpFamily.IWARP),
                host -> new IwarpTransport(network, settings, host), new SecureNumbers(),
                clock, THREAD);
        nic.start(ADDRESS);
        return nic;
    }

    /** {@return how many bytes the device has read from its streams} */
    final long readBytes() {
        return network.bytes();
    }

    /** Lets a time pass at once. */
    final void skip(long ns) {
        clock.skippedNs.addAndGet(ns);
        nic.driver().poll();
    }

    /**
     * Has the calling thread's next post stand still between its request and its doorbell, while rounds look at what is due, each
     * after some time more.
     */
    final void standStillInNextPost(int rounds, long eachNs) {
        clock.whenRead(Thread.currentThread(), () -> {
            for (int i = 0; i < rounds; i++) {
                skip(eachNs);
            }
        });
    }

    @AfterEach
    @Override
    void close() throws RdmaException {
        super.close();
        nic.shutDown();
    }
}
