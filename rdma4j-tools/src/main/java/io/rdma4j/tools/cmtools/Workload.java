// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.cmtools;

/**
 * What goes over how many connections.
 *
 * @param connections how many
 * @param messages over each in each direction
 * @param size bytes of a message
 */
record Workload(int connections, int messages, int size) {
    Workload {
        if (size == 0) {
            messages = 0; // As in the C programs: no bytes, no messages.
        }
    }
}
