// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.softnic.network.SimulatedMemory;
import io.rdma4j.softnic.network.ring.HostileRing;
import io.rdma4j.verbs.Gid;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/**
 * As {@link EngineFuzz}, but the packets are written into the mailboxes of the devices by a process that writes what it likes:
 * records that say something else than they hold, packets that stand for any number, words anywhere in its rings, rings that are
 * skipped.
 */
public final class MemoryFuzz {
    private MemoryFuzz() {}

    /** What the fuzzer calls. */
    public static void fuzzerTestOneInput(byte[] input) throws Exception {
        EngineFuzz.run(input, (choices, devices) -> {
            devices.simulation.network.memory.meet(1, 0, 0);
            return new Writer(choices, devices);
        });
    }

    private static final class Writer implements FuzzPackets.Carrier {
        private final FuzzChoices choices;
        private final FuzzDevices devices;
        private final Map<Gid, HostileRing> rings = new HashMap<>();

        Writer(FuzzChoices choices, FuzzDevices devices) {
            this.choices = choices;
            this.devices = devices;
        }

        private @Nullable HostileRing ring(Gid to) {
            HostileRing present = rings.get(to);
            if (present == null || present.isBroken()) {
                MemorySegment mailbox = devices.simulation.network.memory.mailbox(to);
                present = mailbox == null ? null : HostileRing.take(mailbox);
                if (present != null) {
                    rings.put(to, present);
                }
            }
            return present;
        }

        @Override
        public void carry(Gid from, Gid to, byte[] bytes, int headerLength) {
            // The victim's ring takes packets to a group as well; their headers name the group.
            HostileRing ring = ring(
                    to.isMulticast() ? FuzzDevices.gid(devices.victim) : to);
            if (ring == null) {
                return;
            }
            int payloadLength = bytes.length - headerLength - 4;
            switch (choices.below(16)) {
                case 15 -> ring.write(from, to, bytes, choices.u8(), choices.u16(), choices.u16(),
                        choices.flag());
                case 14 -> ring.write(from, to, bytes, headerLength, payloadLength,
                        choices.below(20), true);
                case 13 -> ring.write(from, to, bytes, headerLength, payloadLength, 1, false);
                case 12 -> ring.write(from, to, new byte[headerLength + 2 * FuzzDevices.MTU],
                        headerLength, 2 * FuzzDevices.MTU, 2, true);
                case 10 -> ring.acknowledge(choices.i64()).write(from, to, bytes, headerLength,
                        payloadLength, 1, true);
                case 11 -> ring.write(from, to, bytes, headerLength, 2 * FuzzDevices.MTU, 2, true);
                case 9 -> ring.lend(from, to, Arrays.copyOf(bytes, headerLength),
                        choices.flag() ? Math.max(1, payloadLength) : choices.u16(),
                        1 + choices.below(2), SimulatedMemory.HOSTILE + choices.below(3),
                        choices.u8(), choices.flag() ? choices.u16() : choices.i64(),
                        choices.below(2));
                default -> ring.write(from, to, bytes, headerLength, payloadLength, 1, true);
            }
        }

        @Override
        public void carry(Gid from, Gid to, byte[] bytes) {
            HostileRing ring = ring(to);
            if (ring == null) {
                return;
            }
            for (int i = 0; i + 1 < bytes.length; i += 2) {
                switch (choices.below(4)) {
                    case 3 -> ring.skip(choices.flag() ? 0 : bytes[i] * bytes[i + 1]);
                    case 2, 0 -> ring.scribbleHeader(bytes[i], choices.i64());
                    default -> ring.scribble(bytes[i], (long) bytes[i + 1] << choices.below(64));
                }
            }
        }
    }
}
