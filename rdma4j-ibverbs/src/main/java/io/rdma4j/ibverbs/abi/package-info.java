// SPDX-License-Identifier: Apache-2.0
/**
 * The application binary interface of libibverbs and librdmacm: their functions, how to call them, the offsets of
 * the fields in their structures, and how they report errors. Knows no object of the verbs; nothing outside of this
 * module uses it.
 */
@NullMarked
package io.rdma4j.ibverbs.abi;

import org.jspecify.annotations.NullMarked;
