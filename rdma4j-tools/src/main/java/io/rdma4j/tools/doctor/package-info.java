// SPDX-License-Identifier: Apache-2.0
/**
 * Checks a machine: prints the remarks of the providers, says which interfaces are down, and tests each device by a transfer
 * to itself. Checks the way to another machine, where a doctor serves.
 *
 * <p>{@code Doctor} is the command, {@code InterfaceCheck} checks interfaces, {@code DeviceCheck} one device,
 * {@code LoopbackTransfer} sends from the device to itself, {@code Checklist} collects the output. {@code PeerCheck} and
 * {@code TrialServer} are the two sides of a check between hosts: over a {@code TrialChannel} they agree on trials,
 * {@code PacketTrial} of RoCE's packets and {@code ConnectionTrial} of the connection manager. Knows only the API and the shared parts of the tools, so devices of
 * any provider are checked alike. Start reading at {@code Doctor}.
 */
@NullMarked
package io.rdma4j.tools.doctor;

import org.jspecify.annotations.NullMarked;
