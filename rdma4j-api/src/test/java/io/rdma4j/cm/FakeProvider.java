package io.rdma4j.cm;

import io.rdma4j.spi.RdmaProvider;
import io.rdma4j.verbs.RdmaDevice;

import java.util.List;

/** One device that is no more than what a test makes of it. */
public final class FakeProvider implements RdmaProvider {
    static final FakeDevice DEVICE = new FakeDevice();

    /** Called by {@link java.util.ServiceLoader}. */
    public FakeProvider() {}

    @Override
    public List<RdmaDevice> devices() {
        return List.of(DEVICE);
    }
}
