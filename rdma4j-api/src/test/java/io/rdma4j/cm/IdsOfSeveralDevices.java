// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.cm;

import io.rdma4j.connection.PortSpace;
import io.rdma4j.verbs.DeviceKind;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.TransportType;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Ids on a machine with several devices: native, RoCE and iWARP in software. */
abstract class IdsOfSeveralDevices {
    static final Duration TIMEOUT = Duration.ofSeconds(2);
    static final InetSocketAddress FIRST = new InetSocketAddress(FakeDevice.FIRST, 0);
    static final InetSocketAddress ANY = new InetSocketAddress(0);

    final FakeDevice nativeDevice = new FakeDevice("zzz0", DeviceKind.NATIVE,
            TransportType.INFINIBAND);
    final FakeDevice softRoce = new FakeDevice("roce0", DeviceKind.SOFTWARE,
            TransportType.INFINIBAND);
    final FakeDevice softIwarp = new FakeDevice("iwarp0", DeviceKind.SOFTWARE,
            TransportType.IWARP);
    final List<CmId> ids = new ArrayList<>();

    @AfterEach
    void close() throws Exception {
        System.clearProperty("rdma4j.device");
        for (CmId id : ids) {
            id.close();
        }
        FakeProvider.offer(FakeProvider.DEVICE);
    }

    final CmId id() throws RdmaException {
        return id(PortSpace.TCP);
    }

    final CmId id(PortSpace space) throws RdmaException {
        CmId id = CmId.create(space);
        ids.add(id);
        return id;
    }

    final CmId bound(InetSocketAddress address) throws RdmaException {
        CmId id = id();
        id.bindAddress(address);
        return id;
    }

    static String deviceOf(CmId id) {
        return id.context().device().name();
    }

    static void assertRefused(ThrowingCallable call, Errno errno, String... words) {
        assertThatExceptionOfType(RdmaException.class).isThrownBy(call)
                .withMessageContainingAll(words)
                .satisfies(e -> assertThat(e.errno()).isEqualTo(errno));
    }
}
