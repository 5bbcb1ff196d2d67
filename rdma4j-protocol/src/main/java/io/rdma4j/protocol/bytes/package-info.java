// SPDX-License-Identifier: Apache-2.0
/** Encoding of values in bytes, for wire formats of any kind. Knows only the JDK. */
@NullMarked
package io.rdma4j.protocol.bytes;

import org.jspecify.annotations.NullMarked;
