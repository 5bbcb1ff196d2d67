package io.rdma4j.cm;

import io.rdma4j.spi.CmContext;
import io.rdma4j.spi.CmDevice;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.DeviceOptions;
import io.rdma4j.verbs.NodeType;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.TransportType;
import org.jspecify.annotations.Nullable;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;

/** A device with two addresses whose ports, addresses and end are in a test's hand. */
final class FakeDevice implements CmDevice {
    static final InetAddress FIRST = InetAddress.ofLiteral("203.0.113.5");
    static final InetAddress SECOND = InetAddress.ofLiteral("203.0.113.6");

    /** Every context that was opened, the last one last. */
    final List<FakeContext> opened = new ArrayList<>();

    FakeContext context() {
        return opened.getLast();
    }

    @Override
    public boolean hosts(InetAddress address) {
        return address.equals(FIRST) || address.equals(SECOND);
    }

    @Override
    public CmContext open(@Nullable InetAddress address) {
        FakeContext context = new FakeContext(this);
        opened.add(context);
        return context;
    }

    @Override
    public DeviceContext open() {
        return open((InetAddress) null);
    }

    @Override
    public DeviceContext open(DeviceOptions options) throws RdmaException {
        throw RdmaException.unsupported("open device", "no options");
    }

    @Override
    public String name() {
        return "fake0";
    }

    @Override
    public int index() {
        return 1;
    }

    @Override
    public long nodeGuid() {
        return 1;
    }

    @Override
    public NodeType nodeType() {
        return NodeType.CHANNEL_ADAPTER;
    }

    @Override
    public TransportType transport() {
        return TransportType.INFINIBAND;
    }
}
