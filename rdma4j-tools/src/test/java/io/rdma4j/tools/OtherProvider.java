// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools;

import io.rdma4j.testkit.ListedDevice;
import io.rdma4j.verbs.DeviceKind;
import io.rdma4j.verbs.RdmaDevice;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.RdmaProvider;
import io.rdma4j.verbs.TransportType;
import org.jspecify.annotations.Nullable;

import java.util.List;

/**
 * A provider beside the software NIC: without devices and with nothing to say, unless a test wants it. Its devices cannot
 * be opened.
 */
public final class OtherProvider implements RdmaProvider {
    private static volatile List<RdmaDevice> devices = List.of();
    private static volatile List<String> remarks = List.of();

    /** Called by {@link java.util.ServiceLoader}. */
    public OtherProvider() {}

    /**
     * This is what it has from now on.
     *
     * @param refusal why its device cannot be opened; null if it has none
     */
    static void offer(@Nullable RdmaException refusal, String... said) {
        devices = refusal == null ? List.of() : List.of(
                new ListedDevice("mlx5_0", DeviceKind.NATIVE, TransportType.INFINIBAND, refusal));
        remarks = List.of(said);
    }

    @Override
    public List<RdmaDevice> devices() {
        return devices;
    }

    @Override
    public List<String> remarks() {
        return remarks;
    }
}
