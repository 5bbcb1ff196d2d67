// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.abi;

import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;

/**
 * The functions that were found in a library. Thread safe.
 *
 * @param <S> the symbols that it may export
 */
public final class Library<S extends Enum<S> & Symbol> {
    private final Map<S, NativeFunction> functions;

    /**
     * Looks up all symbols.
     *
     * @param name of the library, for the error
     * @param lookup the symbol lookup; in tests that of a library written in Java
     * @throws RdmaException EOPNOTSUPP if the library lacks a required function
     */
    public Library(String name, Class<S> symbols, SymbolLookup lookup) throws RdmaException {
        functions = new EnumMap<>(symbols);
        for (S each : symbols.getEnumConstants()) {
            Optional<MemorySegment> found = lookup.find(each.symbol());
            if (found.isPresent()) {
                functions.put(each, new NativeFunction(each.symbol(), each.signature(),
                        found.get().address()));
            } else if (each.isRequired()) {
                throw new RdmaException(Errno.EOPNOTSUPP, "load " + name, "it has no function "
                        + each.symbol()
                        + ": version 1.2 of librdmacm and 1.1 of libibverbs, both of"
                        + " rdma-core 15, are the oldest that fit");
            }
        }
    }

    /** {@return a function without which the library is of no use} */
    public NativeFunction get(S symbol) {
        NativeFunction found = functions.get(symbol);
        if (found == null) {
            throw new IllegalArgumentException(symbol + " is optional: ask for it with find");
        }
        return found;
    }

    /** {@return a function, null if this version of the library does not have it} */
    public @Nullable NativeFunction find(S symbol) {
        return functions.get(symbol);
    }

    /**
     * {@return a function}
     *
     * @throws RdmaException EOPNOTSUPP if this version of the library does not have it
     */
    public NativeFunction require(S symbol, String operation) throws RdmaException {
        NativeFunction found = functions.get(symbol);
        if (found == null) {
            throw RdmaException.unsupported(operation, "the installed library has no "
                    + symbol.symbol() + "; a newer rdma-core has");
        }
        return found;
    }
}
