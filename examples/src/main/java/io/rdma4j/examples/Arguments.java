// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.examples;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.io.PrintWriter;
import java.net.InetSocketAddress;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;

/**
 * The arguments of a program, and how it ends: wrong arguments with the usage and status 2, a failure with one line
 * and status 1.
 */
final class Arguments {
    /** What a program does. */
    @FunctionalInterface
    interface Body {
        void run(Arguments arguments) throws IOException, Wrong;
    }

    /** The arguments are not as the usage says. */
    static final class Wrong extends Exception {
        private static final long serialVersionUID = 1L;
    }

    private static final int LAST_PORT = 65535;

    private final String[] words;

    private Arguments(String[] words) {
        this.words = words;
    }

    /**
     * Runs a program; exits if that fails.
     *
     * @param name what the program is called
     * @param usage the arguments it takes, without its name
     */
    static void run(String name, String usage, String[] words, Body body) {
        try {
            body.run(new Arguments(words));
        } catch (Wrong e) {
            System.err.println("usage: " + name + " " + usage.replace("| ", "| " + name + " "));
            System.exit(2);
        } catch (FileAlreadyExistsException e) {
            fail(name, e.getFile() + " exists already; move it away, or choose another folder");
        } catch (NoSuchFileException e) {
            fail(name, e.getFile() + ": no such file or folder");
        } catch (IOException e) {
            fail(name, e.getMessage());
        }
    }

    private static void fail(String name, @Nullable String reason) {
        System.err.println(name + ": " + reason);
        System.exit(1);
    }

    int count() {
        return words.length;
    }

    /** {@return where the program prints; lines come out at once} */
    PrintWriter out() {
        return new PrintWriter(System.out, true, System.out.charset());
    }

    /** {@return whether the first word is this one, and there are as many words} */
    boolean are(String role, int least, int most) {
        return words.length >= least && words.length <= most && words[0].equals(role);
    }

    String text(int index) {
        return words[index];
    }

    int number(int index) throws Wrong {
        try {
            return Integer.parseInt(words[index]);
        } catch (NumberFormatException e) {
            throw new Wrong();
        }
    }

    /** {@return a port, or any if the word is missing} */
    int port(int index, int otherwise) throws Wrong {
        int port = index < words.length ? number(index) : otherwise;
        if (port < 0 || port > LAST_PORT) {
            throw new Wrong();
        }
        return port;
    }

    /** {@return the address of a host, and the port in the word after it} */
    InetSocketAddress peer(int index) throws IOException, Wrong {
        InetSocketAddress peer = new InetSocketAddress(words[index], port(index + 1, 0));
        if (peer.isUnresolved()) {
            throw new IOException("unknown host '" + words[index] + "'");
        }
        return peer;
    }
}
