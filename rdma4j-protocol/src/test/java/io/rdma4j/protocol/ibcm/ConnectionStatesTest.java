// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.ibcm;

import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.protocol.ibcm.CmMessage.DisconnectReply;
import io.rdma4j.protocol.ibcm.CmMessage.DisconnectRequest;
import io.rdma4j.protocol.ibcm.CmMessage.MessageReceipt;
import io.rdma4j.protocol.ibcm.CmMessage.ReadyToUse;
import io.rdma4j.protocol.ibcm.CmMessage.Reject;
import io.rdma4j.protocol.ibcm.CmMessage.Reply;
import io.rdma4j.protocol.ibcm.CmMessage.Request;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import java.util.Locale;
import java.util.Objects;

import static org.assertj.core.api.Assertions.assertThat;

/** What each message does in each state: the whole table. */
class ConnectionStatesTest extends CmPair {
    private static final String[] MESSAGES = {"REQ", "REP", "RTU", "REJ", "MRA", "DREQ", "DREP"};

    private @Nullable Request request;

    /** {@code >} leads to another state, behind {@code /} is the answer; {@code .} is neither. */
    @Test
    void eachMessageInEachState() throws Exception {
        assertThat(table()).isEqualTo(
                """
                        state | REQ | REP | RTU | REJ | MRA | DREQ | DREP
                        active REQUEST_SENT | /REJ | >REPLY_RECEIVED | . | >CLOSED | . | . | .
                        active REPLY_RECEIVED | /REJ | /MRA | . | >CLOSED | . | . | .
                        passive REQUEST_RECEIVED | /MRA | /REJ | . | >CLOSED | . | . | .
                        passive REPLY_SENT | /REP | /REJ | >ESTABLISHED | >CLOSED | . | >TIME_WAIT/DREP | .
                        active ESTABLISHED | /REJ | /RTU | . | >TIME_WAIT | . | >TIME_WAIT/DREP | .
                        passive ESTABLISHED | . | /REJ | . | >TIME_WAIT | . | >TIME_WAIT/DREP | .
                        active DISCONNECT_SENT | /REJ | . | . | >TIME_WAIT | . | >TIME_WAIT/DREP | >TIME_WAIT
                        passive DISCONNECT_SENT | . | /REJ | . | >TIME_WAIT | . | >TIME_WAIT/DREP | >TIME_WAIT
                        active TIME_WAIT | /REJ | . | . | . | . | /DREP | .
                        passive TIME_WAIT | /REJ | /REJ | . | . | . | /DREP | .
                        active CLOSED | /REJ | /REJ | . | . | . | /DREP | .
                        passive CLOSED | >REQUEST_RECEIVED | /REJ | . | . | . | /DREP | .
                        """);
    }

    private String table() throws Exception {
        StringBuilder table = new StringBuilder("state");
        for (String message : MESSAGES) {
            table.append(" | ").append(message);
        }
        table.append('\n');
        for (IbCmConnection.State state : IbCmConnection.State.values()) {
            for (boolean isActive : new boolean[]{true, false}) {
                row(table, state, isActive);
            }
        }
        return table.toString();
    }

    private static void row(StringBuilder table, IbCmConnection.State state, boolean isActive)
            throws Exception {
        StringBuilder row = new StringBuilder();
        for (String message : MESSAGES) {
            ConnectionStatesTest world = new ConnectionStatesTest();
            Host host = isActive ? world.client : world.server;
            if (!world.bringTo(state, isActive)) {
                return;
            }
            CmMessage answer = host.receive(isActive ? SERVER : CLIENT, 1,
                    world.message(message, isActive));
            IbCmConnection.State now = host.connection().state();
            String cell = (now == state ? "" : ">" + now)
                    + (answer == null ? "" : "/" + name(answer));
            row.append(" | ").append(cell.isEmpty() ? "." : cell);
        }
        table.append(isActive ? "active " : "passive ").append(state).append(row).append('\n');
    }

    private static String name(CmMessage message) {
        return switch (message) {
            case Request request -> "REQ";
            case Reply reply -> "REP";
            case ReadyToUse ready -> "RTU";
            case Reject reject -> "REJ";
            case MessageReceipt receipt -> "MRA";
            case DisconnectRequest request -> "DREQ";
            case DisconnectReply reply -> "DREP";
            case CmMessage.LoadAlternatePath offer -> "LAP";
            case CmMessage.AlternatePathResponse response -> "APR";
            case CmMessage.ServiceRequest request -> "SIDR_REQ";
            case CmMessage.ServiceReply reply -> "SIDR_REP";
        };
    }

    /** {@return false if a side of that kind is never in the state} */
    private boolean bringTo(IbCmConnection.State state, boolean isActive) throws Exception {
        listen(1);
        client.acceptsAtOnce = false;
        server.acceptsAtOnce = false;
        client.connect(new ConnectionParameters());
        request = (Request) Objects.requireNonNull(client.next());
        if (state == IbCmConnection.State.REQUEST_SENT) {
            return isActive;
        }
        server.receive(CLIENT, 1, request);
        if (state == IbCmConnection.State.REQUEST_RECEIVED) {
            return !isActive;
        }
        server.connection().accept(server.own, 0x222222, nowNs);
        CmMessage reply = Objects.requireNonNull(server.next());
        if (state == IbCmConnection.State.REPLY_SENT) {
            return !isActive;
        }
        client.receive(SERVER, 1, reply);
        if (state == IbCmConnection.State.REPLY_RECEIVED) {
            return isActive;
        }
        client.connection().establish();
        server.receive(CLIENT, 1, Objects.requireNonNull(client.next()));
        if (state == IbCmConnection.State.ESTABLISHED) {
            return true;
        }
        Host host = isActive ? client : server;
        host.connection().disconnect(nowNs);
        host.next();
        if (state == IbCmConnection.State.DISCONNECT_SENT) {
            return true;
        }
        host.receive(isActive ? SERVER : CLIENT, 1, message("DREP", isActive));
        if (state == IbCmConnection.State.CLOSED) {
            nowNs = host.manager.deadlineNs();
            host.manager.onDeadline(nowNs);
        }
        return true;
    }

    private CmMessage message(String name, boolean toActive) {
        Host host = toActive ? client : server;
        int own = host.connection().localId();
        int peers = toActive
                ? (server.connection == null ? 77 : server.connection.localId())
                : client.connection().localId();
        int queuePair = toActive ? 0x111111 : 0x222222;
        return switch (name.toUpperCase(Locale.ROOT)) {
            case "REQ" -> Objects.requireNonNull(request);
            case "REP" -> new Reply(peers, own, 0, 4, 5, 1, 1, 0, 0, true, 7, false, 1,
                    PrivateData.NONE);
            case "RTU" -> new ReadyToUse(peers, own, PrivateData.NONE);
            case "REJ" -> new Reject(peers, own, Reject.OF_NONE, 28, PrivateData.NONE, 0,
                    PrivateData.NONE);
            case "MRA" -> new MessageReceipt(peers, own, MessageReceipt.OF_REQUEST, 20,
                    PrivateData.NONE);
            case "DREQ" -> new DisconnectRequest(peers, own, queuePair, PrivateData.NONE);
            case "DREP" -> new DisconnectReply(peers, own, PrivateData.NONE);
            default -> throw new IllegalArgumentException(name);
        };
    }
}
