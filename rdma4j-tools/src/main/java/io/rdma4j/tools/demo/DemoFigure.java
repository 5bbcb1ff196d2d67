// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.demo;

import org.jspecify.annotations.Nullable;

import java.util.Locale;
import java.util.Map;
import java.util.OptionalLong;

/** A figure of the device that the demonstration reports, and the counters that contain it. */
enum DemoFigure {
    PACKETS("sent_pkts", "port_xmit_packets", 1),
    // InfiniBand counts words of four bytes (IBTA 16.1.3.5, PortXmitData).
    BYTES("sent_bytes", "port_xmit_data", 4),
    // No port of InfiniBand counts it.
    RETRANSMITTED("retransmitted_pkts", null, 1);

    /** Of software devices, and of rxe. */
    private final String counter;
    /** Of drivers whose devices have ports as InfiniBand defines them; null if there is none. */
    private final @Nullable String ofPort;
    /** The factor of the counter of ports. */
    private final int unit;

    DemoFigure(String counter, @Nullable String ofPort, int unit) {
        this.counter = counter;
        this.ofPort = ofPort;
        this.unit = unit;
    }

    /** {@return the name under which it is reported} */
    String text() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** {@return its value among a device's counters, if the device counts it} */
    OptionalLong value(Map<String, Long> counted) {
        Long own = counted.get(counter);
        if (own != null) {
            return OptionalLong.of(own);
        }
        Long port = ofPort == null ? null : counted.get(ofPort);
        return port == null ? OptionalLong.empty() : OptionalLong.of(port * unit);
    }
}
