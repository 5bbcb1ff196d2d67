package io.rdma4j.softnic.iwarp;

import io.rdma4j.softnic.device.SecureNumbers;
import io.rdma4j.softnic.device.SoftDevice;
import io.rdma4j.softnic.device.SoftNic;
import io.rdma4j.softnic.device.SoftNicOptions;
import io.rdma4j.softnic.verbs.SoftDeviceContext;
import io.rdma4j.verbs.RdmaException;
import org.junit.jupiter.api.AfterEach;

import java.util.concurrent.atomic.AtomicLong;

/** A stage on a device whose time the test can let pass. */
abstract class TimedStage extends IwarpStage {
    private final SoftNic nic;
    private final AtomicLong skippedNs;

    TimedStage() throws Exception {
        this(new AtomicLong());
    }

    private TimedStage(AtomicLong skippedNs) throws Exception {
        this(skippedNs, nic(skippedNs));
    }

    private TimedStage(AtomicLong skippedNs, SoftNic nic) throws Exception {
        super(new SoftDeviceContext(nic), ADDRESS);
        this.skippedNs = skippedNs;
        this.nic = nic;
    }

    private static SoftNic nic(AtomicLong skippedNs) throws Exception {
        SoftDevice device = device(IwarpFamily.IWARP);
        SoftNic nic = new SoftNic(device,
                IwarpFamily.IWARP.open(device.networkInterface(), device.nodeGuid(),
                        SoftNicOptions.ofSystem()).transport(),
                new SecureNumbers(), () -> System.nanoTime() + skippedNs.get(), "timed-stage");
        nic.start(ADDRESS);
        return nic;
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
