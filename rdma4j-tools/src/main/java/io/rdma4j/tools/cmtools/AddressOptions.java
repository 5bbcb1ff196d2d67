// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.cmtools;

import io.rdma4j.cm.AddressInfo;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.tools.options.AddressFormat;
import io.rdma4j.tools.options.WholeNumber;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.Objects;

/** The options for the addresses of both sides. */
final class AddressOptions {
    private static final int LARGEST_TOS = 255;

    @Option(names = "-s", paramLabel = "ADDR",
            description = "Connect to this server (default: be the server).")
    private @Nullable String server;

    @Option(names = "-b", paramLabel = "ADDR", description = "Local address (default: all).")
    private @Nullable String local;

    @Mixin
    private AddressFormat format = new AddressFormat();

    @Option(names = "-t", paramLabel = "TOS", converter = WholeNumber.class,
            description = "IP type of service.")
    private @Nullable Long typeOfService;

    /** Refuses values that make no sense. */
    void check(CommandSpec spec) {
        format.check(spec);
        if (typeOfService != null) {
            WholeNumber.checked(spec, "-t", typeOfService, 0, LARGEST_TOS);
        }
    }

    boolean isServer() {
        return server == null;
    }

    @Nullable
    Integer typeOfService() {
        return typeOfService == null ? null : typeOfService.intValue();
    }

    /** {@return the address that a server listens at} */
    InetSocketAddress toBind(PortSpace space, String service) throws IOException {
        AddressInfo info = AddressInfo
                .resolve(local, service, hints(space).set(AddressInfo.Flag.PASSIVE)).getFirst();
        return Objects.requireNonNull(info.source());
    }

    /** {@return where a client connects to, and from where if that was chosen} */
    AddressInfo toConnect(PortSpace space, String service) throws IOException {
        AddressInfo.Hints hints = hints(space);
        if (local != null) {
            hints.source(toBind(space, "0"));
        }
        return AddressInfo.resolve(server, service, hints).getFirst();
    }

    private AddressInfo.Hints hints(PortSpace space) {
        AddressInfo.Hints hints = new AddressInfo.Hints().portSpace(space);
        return format.isNumeric() ? hints.set(AddressInfo.Flag.NUMERIC_HOST) : hints;
    }
}
