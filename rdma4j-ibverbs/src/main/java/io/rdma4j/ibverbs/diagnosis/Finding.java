// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.diagnosis;

/**
 * Something that is missing on this machine.
 *
 * @param level how severe it is
 * @param sentence the problem and its solution, in one line, for people
 */
public record Finding(Level level, String sentence) {
    static Finding obstacle(String sentence) {
        return new Finding(Level.OBSTACLE, sentence);
    }

    static Finding restriction(String sentence) {
        return new Finding(Level.RESTRICTION, sentence);
    }
}
