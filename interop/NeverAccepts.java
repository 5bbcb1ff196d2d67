// SPDX-License-Identifier: Apache-2.0
import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmId;
import io.rdma4j.cm.CmEventChannel;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.verbs.RdmaException;
import java.net.InetSocketAddress;

/**
 * A server that takes requests for connections and answers none of them: it prints a line for each.
 *
 * <p>Run by {@code interop/hosts} as {@code java NeverAccepts.java PORT}, and killed.
 */
final class NeverAccepts {
    private NeverAccepts() {}

    public static void main(String[] arguments) throws RdmaException {
        try (CmEventChannel events = CmEventChannel.create();
                CmId listener = CmId.create(events, PortSpace.TCP)) {
            listener.bindAddress(new InetSocketAddress(Integer.parseInt(arguments[0])));
            listener.listen(10);
            while (true) {
                try (CmEvent event = events.awaitEvent()) {
                    System.out.println(event.type());
                }
            }
        }
    }
}
