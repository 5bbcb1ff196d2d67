// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.perftest;

import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

import java.io.IOException;
import java.util.concurrent.Callable;

/** A tool: options and what they are to measure. */
abstract class Measurement implements Callable<Integer> {
    /** The options of a tool, and what it does with them. */
    @FunctionalInterface
    interface Options {
        /** {@return the exit status} */
        int run(CommandSpec spec, Verb verb) throws IOException;
    }

    @Mixin
    private final Options options;

    @Spec
    private CommandSpec spec = CommandSpec.create();

    private final Verb verb;

    Measurement(Options options, Verb verb) {
        this.options = options;
        this.verb = verb;
    }

    @Override
    public Integer call() throws IOException {
        return options.run(spec, verb);
    }
}
