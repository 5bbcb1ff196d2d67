package io.rdma4j.testkit;

import io.rdma4j.verbs.AddressHandle;
import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.GidEntry;
import io.rdma4j.verbs.LinkLayer;
import io.rdma4j.verbs.PortFlag;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.RdmaException;

import static org.assertj.core.api.Assertions.assertThat;

/** Address handles. */
public abstract class AddressHandleConformance extends Conformance {
    /** Called by subclasses. */
    protected AddressHandleConformance() {}

    private static AddressHandleAttributes toItself(DeviceContext context) throws RdmaException {
        GidEntry gid = Player.gid(context);
        return AddressHandleAttributes.to(gid.gid(), gid.index());
    }

    @ConformanceCase(file = "test_addr", name = "create_ah")
    void handleKeepsItsPath() throws RdmaException {
        DeviceContext context = open();
        ProtectionDomain domain = keep(context.allocateProtectionDomain());
        AddressHandleAttributes path = toItself(context).withTrafficClass(4).withHopLimit(7);
        AddressHandle handle = keep(domain.createAddressHandle(path));
        assertThat(handle.attributes()).isEqualTo(path);
        assertThat(handle.protectionDomain()).isSameAs(domain);
    }

    @ConformanceCase(file = "test_addr", name = "create_ah_roce")
    void roceRefusesAPathWithoutGlobalRoute() throws RdmaException {
        DeviceContext context = open();
        assumeOffered(context.queryPort(Player.PORT).linkLayer() == LinkLayer.ETHERNET,
                "the link layer is not Ethernet");
        assertThat(context.queryPort(Player.PORT).flags()).contains(PortFlag.GRH_REQUIRED);
        ProtectionDomain domain = keep(context.allocateProtectionDomain());
        assertRefused(
                () -> domain.createAddressHandle(AddressHandleAttributes.to(Gid.ZERO, 0)
                        .withGlobal(false).withPort(Player.PORT)),
                Errno.EINVAL);
    }

    @ConformanceCase(file = "test_addr", name = "destroy_ah")
    void handleCanBeFreedTwice() throws RdmaException {
        DeviceContext context = open();
        ProtectionDomain domain = keep(context.allocateProtectionDomain());
        AddressHandle handle = domain.createAddressHandle(toItself(context));
        assertRefused(domain::close, Errno.EBUSY);
        handle.close();
        handle.close();
        domain.close();
    }
}
