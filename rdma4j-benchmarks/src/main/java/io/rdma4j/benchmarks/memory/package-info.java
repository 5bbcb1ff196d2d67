/** Memory that two processes have mapped, and nothing else. */
@NullMarked
package io.rdma4j.benchmarks.memory;

import org.jspecify.annotations.NullMarked;
