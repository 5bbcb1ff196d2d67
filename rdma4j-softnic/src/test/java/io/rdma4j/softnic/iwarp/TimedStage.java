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
import org.junit.jupiter.api.AfterEach;

import java.util.concurrent.atomic.AtomicLong;

/** A stage on a device whose time the test can let pass, and whose reads it can count. Nothing watches its port. */
abstract class TimedStage extends IwarpStage {
    /** The name of the device's only thread. */
    static final String THREAD = "timed-stage";

    private final SoftNic nic;
    private final CountedReads network;
    private final AtomicLong skippedNs;

    TimedStage() throws Exception {
        this(new AtomicLong());
    }

    private TimedStage(AtomicLong skippedNs) throws Exception {
        this(skippedNs, new CountedReads(network()));
    }

    private TimedStage(AtomicLong skippedNs, CountedReads network) throws Exception {
        this(skippedNs, network, nic(skippedNs, network));
    }

    private TimedStage(AtomicLong skippedNs, CountedReads network, SoftNic nic) throws Exception {
        super(new SoftDeviceContext(nic), ADDRESS);
        this.skippedNs = skippedNs;
        this.network = network;
        this.nic = nic;
    }

    private static StreamNetwork network() throws Exception {
        boolean isPortable = SoftNicOptions.ofSystem().device()
                .backend() == NetworkBackend.PORTABLE || LinuxStreams.obstacle() != null;
        return isPortable ? new PortableStreams() : new LinuxStreams();
    }

    private static SoftNic nic(AtomicLong skippedNs, StreamNetwork network) throws Exception {
        IwarpSettings settings = IwarpSettings.ofSystem(IwarpPatience.USUAL);
        SoftNic nic = new SoftNic(device(IwarpFamily.IWARP),
                host -> new IwarpTransport(network, settings, host), new SecureNumbers(),
                () -> System.nanoTime() + skippedNs.get(), THREAD);
        nic.start(ADDRESS);
        return nic;
    }

    /** {@return how many bytes the device has read from its streams} */
    final long readBytes() {
        return network.bytes();
    }

    /** Lets a time pass at once. */
    final void skip(long ns) {
        skippedNs.addAndGet(ns);
        nic.driver().poll();
    }

    @AfterEach
    @Override
    void close() throws RdmaException {
        super.close();
        nic.shutDown();
    }
}
