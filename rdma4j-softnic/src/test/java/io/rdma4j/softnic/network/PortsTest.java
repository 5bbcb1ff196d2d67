// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network;

import io.rdma4j.protocol.roce.wire.OutgoingPacket;
import io.rdma4j.protocol.roce.wire.Path;
import io.rdma4j.verbs.Gid;
import org.junit.jupiter.api.Test;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** How a packet finds its port. */
class PortsTest {
    private final Ports ports = new Ports();
    private int asked;

    /** A port that counts how often it is asked where it is. */
    private final class Counted implements PacketPort {
        private final Gid local;

        Counted(Gid local) {
            this.local = local;
        }

        @Override
        public Gid local() {
            asked++;
            return local;
        }

        @Override
        public Sent send(OutgoingPacket packet) {
            return Sent.REFUSED;
        }

        @Override
        public Sent send(ByteBuffer datagram, Path path) {
            return Sent.REFUSED;
        }

        @Override
        public boolean flush() {
            return true;
        }

        @Override
        public int waiting() {
            return 0;
        }

        @Override
        public int dropWaiting() {
            return 0;
        }

        @Override
        public int receive(PacketHandler handler, int budget) {
            return 0;
        }
    }

    private static Gid address(int number) {
        return new Gid(0, 0xffff_ef00_0000L | number);
    }

    @Test
    void portIsFoundWithoutAskingTheOthers() {
        List<PacketPort> added = new ArrayList<>();
        for (int i = 0; i < 1000; i++) {
            added.add(ports.add(new Counted(address(i))));
        }
        asked = 0;
        for (int i = 0; i < 1000; i++) {
            assertThat(ports.find(address(i))).isSameAs(added.get(i));
        }
        assertThat(ports.find(address(1000))).isNull();
        assertThat(asked).isZero();
    }

    @Test
    void portsKeepTheirOrderWhenOthersGo() {
        for (int i = 0; i < 5; i++) {
            ports.add(new Counted(address(i)));
        }
        assertThat(ports.remove(address(1))).isNotNull();
        assertThat(ports.remove(address(1))).isNull();
        ports.add(new Counted(address(1)));
        assertThat(ports.inOrder()).extracting(PacketPort::local).containsExactly(address(0),
                address(2), address(3), address(4), address(1));
        ports.clear();
        assertThat(ports.inOrder()).isEmpty();
        assertThat(ports.find(address(0))).isNull();
    }
}
