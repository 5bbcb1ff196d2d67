package io.rdma4j.testkit;

import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.RdmaException;

import static org.assertj.core.api.Assertions.assertThat;

/** Protection domains. */
public abstract class ProtectionDomainConformance extends Conformance {
    /** Called by subclasses. */
    protected ProtectionDomainConformance() {}

    @ConformanceCase(file = "test_pd", name = "alloc_pd")
    void domainBelongsToItsDevice() throws RdmaException {
        DeviceContext context = open();
        assertThat(keep(context.allocateProtectionDomain()).context()).isSameAs(context);
    }

    @ConformanceCase(file = "test_pd", name = "dealloc_pd")
    void domainCanBeFreed() throws RdmaException {
        open().allocateProtectionDomain().close();
    }

    @ConformanceCase(file = "test_pd", name = "multiple_pd_creation")
    void manyDomainsCanBeMadeAndFreed() throws RdmaException {
        DeviceContext context = open();
        for (int i = 0; i < 200; i++) {
            context.allocateProtectionDomain().close();
        }
        for (int i = 0; i < 50; i++) {
            keep(context.allocateProtectionDomain());
        }
    }

    @ConformanceCase(file = "test_pd", name = "destroy_pd_twice")
    void domainCanBeFreedTwice() throws RdmaException {
        ProtectionDomain domain = open().allocateProtectionDomain();
        domain.close();
        domain.close();
    }
}
