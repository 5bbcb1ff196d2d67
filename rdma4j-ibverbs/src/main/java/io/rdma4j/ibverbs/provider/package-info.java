/**
 * Which native devices there are. Loads no library on a machine that has none.
 */
@NullMarked
package io.rdma4j.ibverbs.provider;

import org.jspecify.annotations.NullMarked;
