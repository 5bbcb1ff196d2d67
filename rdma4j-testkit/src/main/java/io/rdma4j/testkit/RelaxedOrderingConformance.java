// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.testkit;

import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendOpcode;

/** Regions whose writes may be reordered. */
public abstract class RelaxedOrderingConformance extends Conformance {
    /** Called by subclasses. */
    protected RelaxedOrderingConformance() {}

    /** Nothing tells a device that reorders from one that does not: it may, and need not. */
    private void reportPermission() {
        reportWithoutEffect("the flag permits writes to be reordered, and no device has to");
    }

    private static PlayerSettings relaxed() {
        return new PlayerSettings().regionAccess(AccessFlag.LOCAL_WRITE,
                AccessFlag.RELAXED_ORDERING);
    }

    @ConformanceCase(after = "test_relaxed_ordering.ro_rc_traffic")
    void messagesTravelBetweenRelaxedRegions() throws RdmaException {
        players(relaxed()).exchange(SendOpcode.SEND);
        reportPermission();
    }

    @ConformanceCase(after = "test_relaxed_ordering.ro_ud_traffic")
    void datagramsTravelBetweenRelaxedRegions() throws RdmaException {
        players(relaxed().type(QueuePairType.UD)).exchange(SendOpcode.SEND);
        reportPermission();
    }

    @ConformanceCase(after = "test_relaxed_ordering.ro_mr_ex_traffic")
    void peersWriteRelaxedExtendedRegions() throws RdmaException {
        players(new PlayerSettings().region(MemoryRegionConformance::registerExtended)
                .regionAccess(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE,
                        AccessFlag.RELAXED_ORDERING))
                .access(SendOpcode.RDMA_WRITE);
        reportPermission();
    }
}
