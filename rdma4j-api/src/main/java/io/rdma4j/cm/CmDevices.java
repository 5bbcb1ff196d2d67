// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.cm;

import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.RdmaException;

import java.util.ArrayList;
import java.util.List;

/**
 * The open devices that ids use, for applications that want to create objects before they have an id.
 *
 * <p>C: {@index rdma_get_devices}. The contexts are those that {@link CmId#context} returns; they stay
 * open until this is closed. Thread safe.
 *
 * @since 0.1.0
 */
public final class CmDevices implements AutoCloseable {
    private final List<DeviceLease> leases;

    private CmDevices(List<DeviceLease> leases) {
        this.leases = leases;
    }

    /**
     * {@return all devices that can be opened}
     *
     * @throws RdmaException ENODEV if there is none, saying why; EOPNOTSUPP if ids can use none on this machine
     */
    public static CmDevices open() throws RdmaException {
        return new CmDevices(List.copyOf(DeviceSelection.ALL.leases("open devices")));
    }

    /** {@return their contexts, those of the best devices first; the caller must not close them} */
    public List<DeviceContext> contexts() {
        List<DeviceContext> contexts = new ArrayList<>();
        for (DeviceLease lease : leases) {
            contexts.add(lease.context());
        }
        return List.copyOf(contexts);
    }

    /** Releases them: a device closes when nothing else uses it. Idempotent. C: {@index rdma_free_devices}. */
    @Override
    public void close() {
        leases.forEach(DeviceLease::release);
    }
}
