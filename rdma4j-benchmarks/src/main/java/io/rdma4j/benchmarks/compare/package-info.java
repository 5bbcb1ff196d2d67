/**
 * The command {@code compare}: runs trials in turn, again and again, and says how they relate.
 *
 * <p>A {@link io.rdma4j.benchmarks.compare.Trial} is run once by its
 * {@link io.rdma4j.benchmarks.compare.Runner}; {@link io.rdma4j.benchmarks.compare.Catalogue} lists them,
 * {@link io.rdma4j.benchmarks.compare.Session} interleaves and keeps what they measured,
 * {@link io.rdma4j.benchmarks.compare.Goals} are the ratios that are sought. Knows how one
 * process of a measurement is called, and no peer. Start reading at
 * {@link io.rdma4j.benchmarks.compare.Compare}.
 */
@NullMarked
package io.rdma4j.benchmarks.compare;

import org.jspecify.annotations.NullMarked;
