// SPDX-License-Identifier: Apache-2.0
/**
 * Small complete programs, each of which shows one way to use RDMA. Each program is one file, which explains it. All
 * share only {@code Arguments} and {@code Patience}; the basic client and server also share
 * {@link io.rdma4j.examples.BasicConnection}. {@code examples/README.md} says which to read first and how to run them.
 */
@NullMarked
package io.rdma4j.examples;

import org.jspecify.annotations.NullMarked;
