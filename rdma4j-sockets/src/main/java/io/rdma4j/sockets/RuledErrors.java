// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import io.rdma4j.sockets.rules.Rule;
import io.rdma4j.sockets.rules.Way;

import java.io.IOException;
import java.net.BindException;
import java.net.ConnectException;
import java.net.NoRouteToHostException;

/** Errors of connecting and binding that say which rule has chosen RDMA. Their classes stay, because programs act on them. */
final class RuledErrors {
    private RuledErrors() {}

    static IOException explain(IOException error, Rule rule) {
        if (rule.way() != Way.RDMA) {
            return error;
        }
        String text = error.getMessage() + " (over RDMA, by the rule '" + rule + "')";
        IOException explained = switch (error) {
            case NoRouteToHostException _ -> new NoRouteToHostException(text);
            case ConnectException _ -> new ConnectException(text);
            case BindException _ -> new BindException(text);
            default -> null;
        };
        if (explained == null) {
            return error;
        }
        explained.initCause(error);
        return explained;
    }
}
