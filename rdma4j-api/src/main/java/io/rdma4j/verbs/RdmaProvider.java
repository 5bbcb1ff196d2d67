package io.rdma4j.verbs;

import java.util.List;

/** A source of devices, found by {@link java.util.ServiceLoader}. Programs use {@link RdmaDevices}. */
public interface RdmaProvider {
    /** {@return the devices there are now; never fails, lists what it can} */
    List<RdmaDevice> devices();
}
