// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.testkit;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmEventChannel;
import io.rdma4j.cm.CmEventType;
import io.rdma4j.cm.CmId;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.TransportType;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

/** One side of a connection of the connection manager: its events, and memory to send from and receive into. */
final class CmPlayer {
    /** Bytes of a message. */
    static final int MESSAGE = 1000;
    /** Where in the memory messages arrive. */
    static final int RECEIVE_AT = 2048;
    private static final int MEMORY = 4096;

    final CmEventChannel events;
    final MemorySegment memory = Arena.ofAuto().allocate(MEMORY, 64);
    private final Cleanup cleanup;
    private final DeviceUnderTest device;
    private final byte fill;

    CmPlayer(Cleanup cleanup, DeviceUnderTest device, int fill) {
        this.cleanup = cleanup;
        this.device = device;
        this.fill = (byte) fill;
        events = cleanup.keep(CmEventChannel.create());
    }

    CmId newId(PortSpace space) throws RdmaException {
        return ofDevice(CmId.create(events, space));
    }

    /** {@return an id that waits by itself} */
    CmId newSynchronousId(PortSpace space) throws RdmaException {
        return ofDevice(CmId.create(space));
    }

    private CmId ofDevice(CmId id) throws RdmaException {
        cleanup.keep(id);
        String chosen = device.chosenDevice();
        if (chosen != null) {
            id.device(chosen);
        }
        return id;
    }

    /**
     * Takes the next event, which must be of a type. The caller closes it. Over iWARP skips any TIMEWAIT_EXIT, which comes
     * there at once or not at all.
     */
    CmEvent expect(CmEventType type) throws RdmaException {
        CmEvent event = events.pollEvent(UnderTest.LIMIT);
        while (isIwarp() && event != null && event.type() == CmEventType.TIMEWAIT_EXIT) {
            event.close();
            event = events.pollEvent(UnderTest.LIMIT);
        }
        if (event == null) {
            return fail("no event came, %s was expected", type);
        }
        assertThat(event.type()).as(event.toString()).isEqualTo(type);
        return event;
    }

    private boolean isIwarp() {
        return device.run().profile().transport() == TransportType.IWARP;
    }

    MemoryRegion register(CmId id) throws RdmaException {
        return register(id.protectionDomain());
    }

    MemoryRegion register(ProtectionDomain domain) throws RdmaException {
        return cleanup.keep(domain.register(memory, AccessFlag.LOCAL_WRITE,
                AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE));
    }

    /** Writes the message of a round to be sent. {@return its bytes} */
    byte[] written(int round) {
        byte[] bytes = new byte[MESSAGE];
        Arrays.fill(bytes, (byte) (fill + round));
        MemorySegment.copy(MemorySegment.ofArray(bytes), 0, memory, 0, MESSAGE);
        return bytes;
    }

    /** {@return the received message after a header} */
    byte[] received(int header) {
        byte[] bytes = new byte[MESSAGE];
        MemorySegment.copy(memory, RECEIVE_AT + header, MemorySegment.ofArray(bytes), 0, MESSAGE);
        return bytes;
    }
}
