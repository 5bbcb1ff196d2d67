// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.rules;

/** Reads numbers. */
final class RuleNumbers {
    private RuleNumbers() {}

    /** @param what is named in the error */
    static int parse(String text, int least, int most, String what) {
        try {
            int number = Integer.parseInt(text);
            if (number >= least && number <= most) {
                return number;
            }
        } catch (NumberFormatException e) {
            // Said below.
        }
        throw new IllegalArgumentException(what + " '" + text + "' is not " + least + " to "
                + most);
    }
}
