// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.programs;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * As much of a PostgreSQL server as its JDBC driver needs to be told the text of a statement: protocol 3.0, simple queries, no
 * password. A statement that begins with {@code select} has one row with one column, its own text; all others have none.
 */
final class PostgresStub implements Runnable {
    private static final int PROTOCOL_3 = 3 << 16;
    private static final int TEXT = 25;
    private static final List<String> PARAMETERS = List.of("server_version", "16.0",
            "client_encoding", "UTF8", "DateStyle", "ISO, MDY", "integer_datetimes", "on",
            "standard_conforming_strings", "on");

    private final ServerSocket listener;

    PostgresStub(ServerSocket listener) {
        this.listener = listener;
    }

    /** Serves connections, one after the other, until the listener is closed. */
    @Override
    public void run() {
        while (!listener.isClosed()) {
            try (Socket client = listener.accept();
                    DataInputStream in = new DataInputStream(client.getInputStream());
                    DataOutputStream out = new DataOutputStream(client.getOutputStream())) {
                serve(in, out);
            } catch (IOException ended) {
                // By the client, or with the listener.
            }
        }
    }

    private static void serve(DataInputStream in, DataOutputStream out) throws IOException {
        byte[] startup = body(in);
        if ((startup[1] << 16) != PROTOCOL_3) {
            throw new IOException("another protocol");
        }
        message(out, 'R', body -> body.writeInt(0));
        for (int i = 0; i < PARAMETERS.size(); i += 2) {
            String name = PARAMETERS.get(i);
            String value = PARAMETERS.get(i + 1);
            message(out, 'S', body -> {
                text(body, name);
                text(body, value);
            });
        }
        ready(out);
        int kind = in.read();
        while (kind == 'Q') {
            byte[] statement = body(in);
            answer(out, new String(statement, 0, statement.length - 1, StandardCharsets.UTF_8));
            ready(out);
            kind = in.read();
        }
    }

    private static void answer(DataOutputStream out, String statement) throws IOException {
        boolean isSelect = statement.startsWith("select");
        if (isSelect) {
            message(out, 'T', body -> {
                body.writeShort(1);
                text(body, "statement");
                body.writeInt(0);
                body.writeShort(0);
                body.writeInt(TEXT);
                body.writeShort(-1);
                body.writeInt(-1);
                body.writeShort(0);
            });
            message(out, 'D', body -> {
                byte[] value = statement.getBytes(StandardCharsets.UTF_8);
                body.writeShort(1);
                body.writeInt(value.length);
                body.write(value);
            });
        }
        message(out, 'C', body -> text(body, isSelect ? "SELECT 1" : "SET"));
    }

    private static void ready(DataOutputStream out) throws IOException {
        message(out, 'Z', body -> body.write('I'));
        out.flush();
    }

    private interface Body {
        void write(DataOutputStream out) throws IOException;
    }

    private static void message(DataOutputStream out, char kind, Body body) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        body.write(new DataOutputStream(bytes));
        out.write(kind);
        out.writeInt(Integer.BYTES + bytes.size());
        bytes.writeTo(out);
    }

    private static void text(DataOutputStream out, String text) throws IOException {
        out.write(text.getBytes(StandardCharsets.UTF_8));
        out.write(0);
    }

    private static byte[] body(DataInputStream in) throws IOException {
        byte[] body = new byte[in.readInt() - Integer.BYTES];
        if (in.readNBytes(body, 0, body.length) < body.length) {
            throw new EOFException();
        }
        return body;
    }
}
