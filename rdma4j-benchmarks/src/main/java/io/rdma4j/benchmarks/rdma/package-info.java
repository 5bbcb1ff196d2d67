/**
 * rdma4j itself, by verbs: two processes whose queue pairs are brought up by hand, and figures of one process.
 *
 * <p>Knows the API and the options of software devices, and no device. Start reading at {@link io.rdma4j.benchmarks.rdma.RdmaStream}.
 */
@NullMarked
package io.rdma4j.benchmarks.rdma;

import org.jspecify.annotations.NullMarked;
