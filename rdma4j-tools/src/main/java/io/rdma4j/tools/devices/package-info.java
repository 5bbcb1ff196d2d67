// SPDX-License-Identifier: Apache-2.0
/**
 * The tools that show the devices of this machine, under the names that rdma-core and vendors use.
 *
 * <p>Each tool is a class: {@code IbvDevices} lists devices, {@code IbvDevinfo} describes them, {@code ShowGids} lists GID
 * tables, {@code IbvAsyncwatch} prints events. Knows only the API and the shared parts of the tools. Start reading at
 * {@code IbvDevinfo}.
 */
@NullMarked
package io.rdma4j.tools.devices;

import org.jspecify.annotations.NullMarked;
