/**
 * What checks a machine: what its providers say of it, and each device by a transfer to itself.
 *
 * <p>{@code Doctor} is the command, {@code DeviceCheck} looks at one device, {@code LoopbackTransfer} uses it,
 * {@code Checklist} is what is printed. Knows the API alone, so devices of any provider are checked alike. Start reading
 * at {@code Doctor}.
 */
@NullMarked
package io.rdma4j.tools.doctor;

import org.jspecify.annotations.NullMarked;
