/**
 * Which software devices this machine has: one of each family on each network interface. The top of this module: it knows the
 * families, and nobody knows it.
 */
@NullMarked
package io.rdma4j.softnic.provider;

import org.jspecify.annotations.NullMarked;
