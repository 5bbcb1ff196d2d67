// SPDX-License-Identifier: Apache-2.0
/**
 * What DiSNI asked its native library for, done by {@code io.rdma4j.verbs} and {@code io.rdma4j.cm}: objects behind numbers, and
 * structures of C in memory that DiSNI owns. The classes of {@code com.ibm.disni} in this module take the place of DiSNI's own and
 * call this package; it knows none of DiSNI's classes. Start reading at {@link io.rdma4j.disni.VerbsCalls}.
 */
@NullMarked
package io.rdma4j.disni;

import org.jspecify.annotations.NullMarked;
