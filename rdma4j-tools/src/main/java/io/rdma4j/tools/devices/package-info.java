/**
 * The tools that show the devices of this machine, under the names they have in rdma-core and at vendors'.
 *
 * <p>Each tool is a class: {@code IbvDevices} lists, {@code IbvDevinfo} describes, {@code ShowGids} lists GID tables,
 * {@code IbvAsyncwatch} prints events. Knows the API alone. Start reading at {@code IbvDevinfo}.
 */
@NullMarked
package io.rdma4j.tools.devices;

import org.jspecify.annotations.NullMarked;
