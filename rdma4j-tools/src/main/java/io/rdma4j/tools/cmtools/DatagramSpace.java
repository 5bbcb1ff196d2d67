// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.cmtools;

import io.rdma4j.connection.PortSpace;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;

/** The port space of datagrams, given as a number. */
final class DatagramSpace {
    /** IP over InfiniBand ({@code RDMA_PS_IPOIB}). */
    private static final int IPOIB = 0x2;

    private DatagramSpace() {}

    /** Refuses any but UDP. */
    static void check(CommandSpec spec, @Nullable Long number) {
        if (number == null || number == PortSpace.UDP.code()) {
            return;
        }
        throw new ParameterException(spec.commandLine(), number == IPOIB
                ? "-p 0x2 is not possible: port space IPoIB needs an InfiniBand link"
                : "-p must be 0x111, the port space UDP, not " + number);
    }
}
