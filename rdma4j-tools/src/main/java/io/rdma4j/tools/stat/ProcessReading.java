// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.stat;

import java.util.List;

/**
 * What one look at a process shows.
 *
 * @param pid its number
 * @param program its main class or jar
 * @param devices those it has open
 */
record ProcessReading(long pid, String program, List<DeviceReading> devices) implements Reading {
    @Override
    public boolean isEmpty() {
        return devices.isEmpty();
    }
}
