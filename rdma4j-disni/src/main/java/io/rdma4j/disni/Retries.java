// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.disni;

/**
 * How often a queue pair repeats what the peer does not answer. DiSNI asks for no repetition unless its program says otherwise, which
 * goes well where NICs answer while JVMs pause; a software device answers as soon as its JVM runs.
 */
enum Retries {
    /** None becomes as many as there can be. */
    RAISED,
    /** As the program says. */
    EXACT;

    /** The property that chooses: {@code raised}, which is the default, or {@code exact}. */
    static final String PROPERTY = "rdma4j.disni.retries";
    private static final int MOST = 7;

    static Retries ofProperty() {
        String value = System.getProperty(PROPERTY, "raised");
        return switch (value) {
            case "raised" -> RAISED;
            case "exact" -> EXACT;
            default -> throw new IllegalArgumentException(
                    PROPERTY + " is raised or exact, not '" + value + "'");
        };
    }

    /** {@return the retries for those that a program asks for, of either kind} */
    int of(int wanted) {
        if (wanted == 0 && this == RAISED) {
            return MOST;
        }
        return Math.clamp(wanted, 0, MOST);
    }
}
