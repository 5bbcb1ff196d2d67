// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.testkit;

import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.RdmaException;

import java.lang.foreign.Arena;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;

/** Protection domains. */
public abstract class ProtectionDomainConformance extends Conformance {
    /** Called by subclasses. */
    protected ProtectionDomainConformance() {}

    @ConformanceCase(after = "test_pd.alloc_pd")
    void domainBelongsToItsDevice() throws RdmaException {
        DeviceContext context = open();
        assertThat(keep(context.allocateProtectionDomain()).context()).isSameAs(context);
    }

    @ConformanceCase(after = "test_pd.dealloc_pd")
    void domainCanBeFreedOnceNothingIsLeftInIt() throws RdmaException {
        ProtectionDomain domain = open().allocateProtectionDomain();
        MemoryRegion region = domain.register(Arena.ofAuto().allocate(64), AccessFlag.LOCAL_WRITE);
        assertRefused(domain::close, Errno.EBUSY);
        region.close();
        domain.close();
    }

    @ConformanceCase(after = "test_pd.multiple_pd_creation")
    void manyDomainsCanBeMadeAndFreed() throws RdmaException {
        DeviceContext context = open();
        for (int i = 0; i < 200; i++) {
            context.allocateProtectionDomain().close();
        }
        for (int i = 0; i < 50; i++) {
            keep(context.allocateProtectionDomain());
        }
    }

    @ConformanceCase(after = "test_pd.destroy_pd_twice")
    void domainCanBeFreedTwice() throws RdmaException {
        ProtectionDomain domain = open().allocateProtectionDomain();
        domain.close();
        domain.close();
        assertThatException().isThrownBy(
                () -> domain.register(Arena.ofAuto().allocate(64), AccessFlag.LOCAL_WRITE));
    }
}
