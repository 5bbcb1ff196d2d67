// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.abi;

/** A function that a library exports. */
public sealed interface Symbol permits VerbsSymbol, CmSymbol, SystemSymbol {
    /** {@return its name in the library} */
    String symbol();

    /** {@return its parameter and result types} */
    Signature signature();

    /** {@return whether the library is unusable without it} */
    boolean isRequired();
}
