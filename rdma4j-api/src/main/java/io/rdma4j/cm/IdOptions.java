// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.cm;

import io.rdma4j.spi.CmOptions;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Mtu;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.TransportType;
import org.jspecify.annotations.Nullable;

/** The options of an id, and in which states each can be set. Values are as {@link CmId} documents them. Thread safe. */
final class IdOptions {
    private static final int MOST_TYPE_OF_SERVICE = 255;
    private static final int MOST_ACK_TIMEOUT = 31;

    private final IdStateMachine states;
    private final QueuePairType type;
    private volatile int typeOfService;
    private volatile boolean reuseAddress;
    private volatile boolean addressFamilyOnly;
    private volatile @Nullable Integer ackTimeoutExponent;
    private volatile @Nullable Mtu pathMtu;
    private volatile @Nullable String device;
    private volatile @Nullable TransportType excluded;

    /** @param type of the id's queue pair */
    IdOptions(IdStateMachine states, QueuePairType type) {
        this.states = states;
        this.type = type;
    }

    /** {@return those a device has to know} */
    CmOptions forDevice() {
        return new CmOptions(typeOfService, ackTimeoutExponent, pathMtu);
    }

    /** {@return the devices that may serve the id} */
    DeviceSelection devices() {
        return DeviceSelection.of(device, excluded);
    }

    int typeOfService() {
        return typeOfService;
    }

    boolean reuseAddress() {
        return reuseAddress;
    }

    boolean addressFamilyOnly() {
        return addressFamilyOnly;
    }

    // ---------------------------------------------------------------- setting

    private void requireRange(String name, int value, int maximum) throws RdmaException {
        states.requireUsable();
        if (value < 0 || value > maximum) {
            throw new IllegalArgumentException(
                    "the " + name + " must be from 0 to " + maximum + ", not " + value);
        }
    }

    void device(String name) throws RdmaException {
        states.requireUsable();
        if (!states.is(IdState.IDLE)) {
            throw states.wrong("choose device");
        }
        DeviceSelection.of(name, excluded).requireKnown("choose device");
        device = name;
    }

    void excludedTransport(@Nullable TransportType transport) throws RdmaException {
        states.requireUsable();
        if (!states.is(IdState.IDLE)) {
            throw states.wrong("exclude transport");
        }
        excluded = transport;
    }

    void typeOfService(int value) throws RdmaException {
        requireRange("type of service", value, MOST_TYPE_OF_SERVICE);
        typeOfService = value;
    }

    void reuseAddress(boolean value) throws RdmaException {
        states.requireUsable();
        if (value ? states.is(IdState.LISTENING) : !states.is(IdState.IDLE)) {
            throw states.wrong("reuse address");
        }
        reuseAddress = value;
    }

    void addressFamilyOnly(boolean value) throws RdmaException {
        states.requireUsable();
        if (!states.is(IdState.IDLE) && !states.is(IdState.BOUND)) {
            throw states.wrong("serve one IP version only");
        }
        addressFamilyOnly = value;
    }

    void ackTimeoutExponent(int exponent) throws RdmaException {
        requireRange("acknowledgement time-out", exponent, MOST_ACK_TIMEOUT);
        if (type != QueuePairType.RC) {
            throw new RdmaException(Errno.EINVAL, "set acknowledgement time-out",
                    "a queue pair of type " + type + " waits for no acknowledgement");
        }
        ackTimeoutExponent = exponent;
    }

    void pathMtu(@Nullable Mtu value) throws RdmaException {
        states.requireUsable();
        pathMtu = value;
    }
}
