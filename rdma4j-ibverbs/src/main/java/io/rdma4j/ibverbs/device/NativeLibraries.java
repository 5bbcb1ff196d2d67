// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.device;

import io.rdma4j.ibverbs.abi.Library;
import io.rdma4j.ibverbs.abi.SystemSymbol;
import io.rdma4j.ibverbs.abi.VerbsSymbol;
import io.rdma4j.verbs.RdmaException;

import java.lang.foreign.SymbolLookup;

/**
 * The libraries that native devices call.
 *
 * @param verbs libibverbs
 * @param system the C library
 */
public record NativeLibraries(Library<VerbsSymbol> verbs, Library<SystemSymbol> system) {
    /**
     * Binds them.
     *
     * @throws RdmaException EOPNOTSUPP naming a function without which they are of no use
     */
    public static NativeLibraries of(SymbolLookup verbs, SymbolLookup system)
            throws RdmaException {
        return new NativeLibraries(new Library<>("libibverbs.so.1", VerbsSymbol.class, verbs),
                new Library<>("the C library", SystemSymbol.class, system));
    }
}
