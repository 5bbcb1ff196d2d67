// SPDX-License-Identifier: Apache-2.0
/**
 * Lists the software devices of this machine: one of each family for each network interface. This is the top layer of the
 * module: it knows the families, and nothing knows it.
 */
@NullMarked
package io.rdma4j.softnic.provider;

import org.jspecify.annotations.NullMarked;
