// SPDX-License-Identifier: Apache-2.0
/**
 * A native device that is open, and its protection domains, which make all other objects. Each object owns one of libibverbs, and passes
 * calls to it only while that exists. Only {@code NativeContext} and {@code ConnectionManager} know the package {@code
 * io.rdma4j.ibverbs.cm}. The packages {@code xrc}, {@code queue}, {@code completion}, {@code memory}, {@code device} and {@code work} are
 * below it, each above the next.
 */
@NullMarked
package io.rdma4j.ibverbs.verbs;

import org.jspecify.annotations.NullMarked;
