/**
 * The verbs' objects of native devices: each owns one object of libibverbs, and lets no call reach it before it exists or
 * after it is gone. Knows the connection manager by the interfaces of {@code io.rdma4j.spi} alone.
 */
@NullMarked
package io.rdma4j.ibverbs.verbs;

import org.jspecify.annotations.NullMarked;
