// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;
import java.util.Arrays;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

/** The loops of {@code post_and_poll.c}: Java calls each once for many calls of theirs. */
final class CCaller implements Caller {
    private static final Linker LINKER = Linker.nativeLinker();

    private final MethodHandle sendLists;
    private final MethodHandle receiveLists;
    private final MethodHandle sharedLists;
    private final MethodHandle polls;

    CCaller(Path library) {
        SymbolLookup lookup = SymbolLookup.libraryLookup(library, Arena.global());
        sendLists = loop(lookup, "send_lists", 2);
        receiveLists = loop(lookup, "receive_lists", 2);
        sharedLists = loop(lookup, "shared_lists", 2);
        polls = loop(lookup, "polls", 3);
        MethodHandle setUp = LINKER.downcallHandle(lookup.findOrThrow("set_up"),
                FunctionDescriptor.of(JAVA_INT));
        try {
            if ((int) setUp.invokeExact() != 0) {
                throw new IllegalStateException(library + " cannot make its objects");
            }
        } catch (Throwable t) {
            throw failed(t);
        }
    }

    private static MethodHandle loop(SymbolLookup lookup, String name, int numbers) {
        MemoryLayout[] parameters = new MemoryLayout[numbers];
        Arrays.fill(parameters, JAVA_INT);
        return LINKER.downcallHandle(lookup.findOrThrow(name),
                FunctionDescriptor.of(JAVA_LONG, parameters));
    }

    @Override
    public long sendLists(int length, int calls) {
        return took(sendLists, length, calls);
    }

    @Override
    public long receiveLists(int length, int calls) {
        return took(receiveLists, length, calls);
    }

    @Override
    public long sharedLists(int length, int calls) {
        return took(sharedLists, length, calls);
    }

    private static long took(MethodHandle loop, int length, int calls) {
        try {
            return checked((long) loop.invokeExact(length, calls));
        } catch (Throwable t) {
            throw failed(t);
        }
    }

    @Override
    public long polls(int most, int expected, int calls) {
        try {
            return checked((long) polls.invokeExact(most, expected, calls));
        } catch (Throwable t) {
            throw failed(t);
        }
    }

    private static long checked(long ns) {
        if (ns == 0) {
            throw new IllegalStateException("a call of the C loops failed");
        }
        return ns;
    }

    private static IllegalStateException failed(Throwable t) {
        if (t instanceof Error error) {
            throw error;
        }
        return new IllegalStateException(t);
    }
}
