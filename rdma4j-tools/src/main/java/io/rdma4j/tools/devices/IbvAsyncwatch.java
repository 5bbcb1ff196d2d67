// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.devices;

import io.rdma4j.tools.options.DeviceName;
import io.rdma4j.verbs.AsyncEvent;
import io.rdma4j.verbs.AsyncEventType;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaDevice;
import io.rdma4j.verbs.RdmaException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

import java.io.IOException;
import java.io.PrintWriter;
import java.util.concurrent.Callable;

/** Prints the asynchronous events of a device until it is stopped or the device is gone, as the tool of that name in rdma-core. */
@Command(name = "ibv_asyncwatch", description = "Print the asynchronous events of a device.")
public final class IbvAsyncwatch implements Callable<Integer> {
    @Mixin
    private DeviceName deviceName = new DeviceName();

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Override
    public Integer call() throws IOException {
        PrintWriter out = spec.commandLine().getOut();
        RdmaDevice device = deviceName.device();
        try (DeviceContext context = device.open()) {
            // Events come without a file descriptor here.
            out.println(device.name() + ": async event FD -1");
            out.flush();
            while (true) {
                try (AsyncEvent event = context.asyncEventChannel().awaitEvent()) {
                    out.printf("  event_type %s (%d), port %d%n", name(event.type()),
                            event.typeCode(), event.port());
                    out.flush();
                    if (event.type() == AsyncEventType.DEVICE_FATAL) {
                        // The last event: C's call for the next one fails then.
                        throw new RdmaException(Errno.EIO, "await event",
                                device.name() + " was removed, or has failed for good");
                    }
                }
            }
        }
    }

    /** {@return the name in C} Without queue pairs or queues only events of the whole device are expected. */
    private static String name(AsyncEventType type) {
        return switch (type) {
            case DEVICE_FATAL -> "IBV_EVENT_DEVICE_FATAL";
            case PORT_ACTIVE -> "IBV_EVENT_PORT_ACTIVE";
            case PORT_ERROR -> "IBV_EVENT_PORT_ERR";
            case LID_CHANGE -> "IBV_EVENT_LID_CHANGE";
            case PKEY_CHANGE -> "IBV_EVENT_PKEY_CHANGE";
            case SM_CHANGE -> "IBV_EVENT_SM_CHANGE";
            case CLIENT_REREGISTER -> "IBV_EVENT_CLIENT_REREGISTER";
            case GID_CHANGE -> "IBV_EVENT_GID_CHANGE";
            case DEVICE_SPEED_CHANGE -> "IBV_EVENT_DEVICE_SPEED_CHANGE";
            case CQ_ERROR, QP_FATAL, QP_REQUEST_ERROR, QP_ACCESS_ERROR, COMMUNICATION_ESTABLISHED,
                    SEND_QUEUE_DRAINED, PATH_MIGRATED, PATH_MIGRATION_ERROR, SRQ_ERROR,
                    SRQ_LIMIT_REACHED, QP_LAST_WQE_REACHED, WQ_FATAL, UNKNOWN ->
                "unexpected";
        };
    }
}
