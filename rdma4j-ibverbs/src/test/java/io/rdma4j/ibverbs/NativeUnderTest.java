// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs;

import io.rdma4j.testkit.ConformanceRun;
import io.rdma4j.testkit.DeviceUnderTest;
import io.rdma4j.verbs.RdmaDevice;
import io.rdma4j.verbs.RdmaException;

import java.net.InetAddress;

/** The device that system properties choose, as the conformance suite sees it. */
interface NativeUnderTest extends DeviceUnderTest {
    /** Looked up once. */
    final class Chosen {
        static final NativeSubject SUBJECT = subject();

        private Chosen() {}

        private static NativeSubject subject() {
            try {
                return NativeSubject.ofSystem();
            } catch (RdmaException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    @Override
    default ConformanceRun run() {
        return Chosen.SUBJECT.run();
    }

    @Override
    default RdmaDevice device() {
        return Chosen.SUBJECT.device();
    }

    @Override
    default String chosenDevice() {
        return Chosen.SUBJECT.device().name();
    }

    @Override
    default InetAddress connectionAddress() {
        return Chosen.SUBJECT.address();
    }

    @Override
    default InetAddress multicastAddress() {
        return InetAddress.ofLiteral("239.192.13.9");
    }
}
