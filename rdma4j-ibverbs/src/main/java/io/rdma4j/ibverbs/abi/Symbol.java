package io.rdma4j.ibverbs.abi;

/** A function that a library exports. */
public sealed interface Symbol permits VerbsSymbol, CmSymbol, SystemSymbol {
    /** {@return its name in the library} */
    String symbol();

    /** {@return what it takes and returns} */
    Signature signature();

    /** {@return whether there is no use of the library without it} */
    boolean isRequired();
}
