// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.verbs;

import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.spi.CmConnection;
import io.rdma4j.spi.CmContext;
import io.rdma4j.verbs.RdmaException;
import org.junit.jupiter.api.Test;

import java.lang.reflect.Proxy;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** The states of queue pairs of iWARP, as connections tell them. */
class IwarpStatesTest {
    private static final InetSocketAddress ANYWHERE = new InetSocketAddress(1);

    private final List<String> heard = new ArrayList<>();
    private final IwarpStates states = new IwarpStates(
            (number, state) -> heard.add(number + " " + state));

    /** Something of which each call is noted. */
    private <T> T noting(Class<T> type) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[]{type},
                (_, method, _) -> {
                    heard.add(method.getName());
                    return null;
                }));
    }

    @Test
    void queuePairCanSendBeforeItsProgramHearsThatItIsConnected() {
        CmConnection.Handler handler = states.active(7, noting(CmConnection.Handler.class));
        handler.onEstablished(null);
        handler.onDisconnected();
        handler.onTimewaitExit();
        assertThat(heard).containsExactly("7 RTS", "onEstablished", "7 ERR", "onDisconnected",
                "onTimewaitExit");
    }

    @Test
    void requestIsOfTheQueuePairThatItIsAcceptedWith() throws RdmaException {
        List<CmConnection> requests = new ArrayList<>();
        CmConnection.Handler handler = states.passive((_, request, _, _, _) -> {
            requests.add(request);
            return noting(CmConnection.Handler.class);
        }).onRequest(noting(CmContext.class), noting(CmConnection.class), ANYWHERE, ANYWHERE,
                new ConnectionParameters());
        requests.getFirst().accept(new ConnectionParameters(), 9);
        handler.onEstablished(null);
        assertThat(heard).containsExactly("accept", "9 RTS", "onEstablished");
    }
}
