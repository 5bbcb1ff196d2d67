/**
 * Small complete programs, each showing one way to use RDMA. Every program stands in one file, with its
 * explanation; {@code examples/README.md} says which to read first and how to run them.
 */
@NullMarked
package io.rdma4j.examples;

import org.jspecify.annotations.NullMarked;
