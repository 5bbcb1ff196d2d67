// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.testkit;

import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.RdmaDevice;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.net.InetAddress;

/**
 * The information about a device that the suite needs; a subclass of each class of the suite implements it.
 *
 * <p>A device under test must reach itself, or its peer, without further set-up: the suite opens both ends,
 * connects them by {@link #connectionMethod}, and uses the connection manager over the addresses given here.
 */
public interface DeviceUnderTest extends UnderTest {
    /** {@return the device} */
    RdmaDevice device() throws RdmaException;

    /** {@return the device at the other end, which may be the same} */
    default RdmaDevice peerDevice() throws RdmaException {
        return device();
    }

    /** {@return how queue pairs of the device are connected, unless a case requires one method} */
    default ConnectionMethod connectionMethod() {
        return run().profile().connectionMethod();
    }

    /**
     * {@return whether both ends have their memory from {@link ProtectionDomain#allocateRegion} and send longer messages, so that a
     * device that treats such messages in a way of its own does so}
     */
    default boolean allocatesMemory() {
        return false;
    }

    /** {@return the name by which ids choose the device; null where it is the best of its address anyway} */
    default @Nullable String chosenDevice() {
        return null;
    }

    /** {@return an address of the device at the other end that connections can be made to} */
    InetAddress connectionAddress() throws RdmaException;

    /** {@return an address of a multicast group that the device may join, reached from that address} */
    InetAddress multicastAddress();
}
