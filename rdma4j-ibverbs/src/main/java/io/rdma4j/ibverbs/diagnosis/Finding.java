package io.rdma4j.ibverbs.diagnosis;

/**
 * Something that is missing on this machine.
 *
 * @param level how much it takes away
 * @param sentence what it is and what to do about it, in one line, for people
 */
public record Finding(Level level, String sentence) {
    static Finding obstacle(String sentence) {
        return new Finding(Level.OBSTACLE, sentence);
    }

    static Finding restriction(String sentence) {
        return new Finding(Level.RESTRICTION, sentence);
    }
}
