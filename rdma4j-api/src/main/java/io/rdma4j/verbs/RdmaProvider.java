package io.rdma4j.verbs;

import java.util.List;

/** A source of devices, found by {@link java.util.ServiceLoader}. Programs use {@link RdmaDevices}. */
public interface RdmaProvider {
    /** {@return the devices there are now; never fails, lists what it can} */
    List<RdmaDevice> devices();

    /**
     * {@return why there are no devices here, or fewer than there could be, or what they cannot do on this machine;
     * empty by default, and if there is nothing to say}
     *
     * <p>For people: each is one line, and says what to do about it. Tools that describe a machine ask; it may read files
     * and look for libraries, which {@link #devices} may not need. Never fails. Without a counterpart in C.
     */
    default List<String> remarks() {
        return List.of();
    }
}
