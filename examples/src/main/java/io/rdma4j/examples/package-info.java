/**
 * Small complete programs, each showing one way to use RDMA. A program stands in one file, with its
 * explanation; only the basic client and server share a second one,
 * {@link io.rdma4j.examples.BasicConnection}. {@code examples/README.md} says which to read first and how to
 * run them.
 */
@NullMarked
package io.rdma4j.examples;

import org.jspecify.annotations.NullMarked;
