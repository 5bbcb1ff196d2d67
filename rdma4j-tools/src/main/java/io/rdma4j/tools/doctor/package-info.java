/**
 * Checks a machine: prints the remarks of the providers, and tests each device by a transfer to itself.
 *
 * <p>{@code Doctor} is the command, {@code DeviceCheck} checks one device, {@code LoopbackTransfer} sends from the device
 * to itself, {@code Checklist} collects the output. Knows only the API and the shared parts of the tools, so devices of
 * any provider are checked alike. Start reading at {@code Doctor}.
 */
@NullMarked
package io.rdma4j.tools.doctor;

import org.jspecify.annotations.NullMarked;
