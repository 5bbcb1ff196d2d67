// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.disni;

import java.util.List;

/** How two programs of a test reach each other. */
enum Way {
    ROCE_IN_MEMORY("roce_lo", "auto"),
    ROCE_THROUGH_THE_NETWORK("roce_lo", "network"),
    IWARP(
            "iwarp_lo", "auto");

    private final String device;
    private final String loopback;

    Way(String device, String loopback) {
        this.device = device;
        this.loopback = loopback;
    }

    String device() {
        return device;
    }

    List<String> options() {
        return List.of("-Drdma4j.device=" + device, "-Drdma4j.loopback=" + loopback);
    }
}
