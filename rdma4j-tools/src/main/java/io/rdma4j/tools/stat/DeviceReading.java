// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.stat;

import java.util.List;
import java.util.Map;

/**
 * What one look at an open device shows.
 *
 * @param name its name
 * @param gids the addresses it holds
 * @param contexts how many contexts share it
 * @param capture the file that packets are recorded in, empty for none
 * @param impairment what happens to packets it sends, {@code none} for nothing
 * @param counters by name, in the order they are shown; none if its driver counts nothing
 * @param queuePairs those it has
 */
record DeviceReading(String name, List<String> gids, int contexts, String capture,
        String impairment, Map<String, Long> counters, List<QueuePairReading> queuePairs) {}
