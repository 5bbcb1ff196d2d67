package io.rdma4j.cm;

import io.rdma4j.verbs.DeviceKind;
import io.rdma4j.verbs.RdmaDevice;
import io.rdma4j.verbs.RdmaProvider;
import io.rdma4j.verbs.TransportType;

import java.util.List;

/** Devices that are no more than what a test makes of them: one, unless a test wants others. */
public final class FakeProvider implements RdmaProvider {
    static final FakeDevice DEVICE = new FakeDevice("fake0", DeviceKind.SOFTWARE,
            TransportType.INFINIBAND);
    private static volatile List<RdmaDevice> devices = List.of(DEVICE);

    /** Called by {@link java.util.ServiceLoader}. */
    public FakeProvider() {}

    @Override
    public List<RdmaDevice> devices() {
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
}
