// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.demo;

import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaDevice;
import io.rdma4j.verbs.RdmaDevices;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.concurrent.Callable;

/** One process of the demo; the demo starts it. */
@Command(name = "demo-side", hidden = true)
public final class DemoSide implements Callable<Integer> {
    private static final String PROPERTY = "rdma4j.device";

    /** Of a client: where the server is; {@code -} if a line of standard input says so. */
    @Option(names = "--server", paramLabel = "ADDR:PORT")
    private @Nullable String server;

    @Option(names = "--device")
    private @Nullable String device;

    @Option(names = "--file")
    private boolean isFile;

    @Parameters(index = "0", arity = "0..1")
    private @Nullable Path file;

    @Spec
    private CommandSpec spec = CommandSpec.create();

    /** Called by the command line. */
    public DemoSide() {}

    @Override
    public Integer call() throws Exception {
        Reporter reporter = new Reporter(spec.commandLine().getOut());
        if (server == null) {
            new DemoServer(reporter).run(deviceName(), isFile, file);
        } else {
            String where = "-".equals(server) ? readAddress() : server;
            int colon = where.lastIndexOf(':');
            new DemoClient(reporter).run(deviceName(),
                    new InetSocketAddress(InetAddress.getByName(where.substring(0, colon)),
                            Integer.parseInt(where.substring(colon + 1))),
                    file);
        }
        return 0;
    }

    private static String readAddress() throws IOException {
        String line = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))
                .readLine();
        if (line == null) {
            throw new IOException("the demo has ended early");
        }
        return line;
    }

    /** {@return the name of the device to use: what the user says, else that of loopback} */
    private String deviceName() throws RdmaException {
        String chosen = device == null ? System.getProperty(PROPERTY) : device;
        if (chosen != null) {
            return chosen;
        }
        for (RdmaDevice each : RdmaDevices.list()) {
            if (each.name().startsWith("roce_lo")) {
                return each.name();
            }
        }
        throw new RdmaException(Errno.ENODEV, "demo", "there is no loopback device");
    }

    static String display(InetSocketAddress address) {
        return address.getAddress().getHostAddress();
    }

    static String hello(String side) {
        return "hello from the " + side + ", pid " + ProcessHandle.current().pid();
    }

    static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }

    static String hex(MessageDigest digest) {
        return HexFormat.of().formatHex(digest.digest());
    }
}
