package io.rdma4j.softnic.verbs;

import io.rdma4j.verbs.DeviceAttributes;
import io.rdma4j.verbs.ExtendedDeviceAttributes;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.GidType;
import io.rdma4j.verbs.PortFlag;

import java.util.List;
import java.util.Set;

/** What a device of a transport tells of itself and its port. Any thread may ask. */
public interface DeviceDescription {
    /** {@return what the device can do} */
    DeviceAttributes attributes(long nodeGuid);

    /** {@return what the device can do, at length} */
    ExtendedDeviceAttributes extended(long nodeGuid);

    /**
     * {@return the GID table, in which an empty entry is {@link Gid#ZERO}}
     *
     * @param addresses of the device, each at its place; an empty place is {@link Gid#ZERO}
     */
    List<Gid> gidTable(long nodeGuid, List<Gid> addresses);

    /** {@return how many entries the GID table can have} */
    int gidTableLength();

    /** {@return what its entries are} */
    GidType gidType();

    /** {@return the table of partition keys; empty if it has no partitions} */
    List<Integer> partitionKeys();

    /** {@return what the port demands of those who use it} */
    Set<PortFlag> portFlags();
}
