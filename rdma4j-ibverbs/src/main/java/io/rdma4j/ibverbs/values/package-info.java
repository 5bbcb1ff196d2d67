/**
 * The values of the API in the structures of the C headers, and back. Calls nothing, and owns no memory.
 */
@NullMarked
package io.rdma4j.ibverbs.values;

import org.jspecify.annotations.NullMarked;
