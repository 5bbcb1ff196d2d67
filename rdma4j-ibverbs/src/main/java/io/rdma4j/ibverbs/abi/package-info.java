/**
 * The application binary interface of libibverbs and librdmacm: which functions there are, how they are called, where
 * the fields of their structures are, and how they report errors. Knows no object of the verbs; nothing outside of this
 * module sees it.
 */
@NullMarked
package io.rdma4j.ibverbs.abi;

import org.jspecify.annotations.NullMarked;
