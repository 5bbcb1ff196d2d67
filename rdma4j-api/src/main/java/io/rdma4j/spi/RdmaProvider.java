package io.rdma4j.spi;

import io.rdma4j.verbs.RdmaDevice;

import java.util.List;

/** A source of devices, registered as a service. */
public interface RdmaProvider {
    /** {@return the devices there are now; never fails, lists what it can} */
    List<RdmaDevice> devices();
}
