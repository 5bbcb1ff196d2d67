// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.iwarp;

import io.rdma4j.protocol.iwarp.MpaSettings;
import io.rdma4j.softnic.network.stream.PortableStreams;
import io.rdma4j.softnic.network.stream.Stream;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** A connection whose user fails with an Error, for instance at the end of its stack: it ends, and gets no bytes twice. */
class ThrowingUserTest {
    private final PortableStreams network;
    private final IwarpLink link;
    private final FedStream stream = new FedStream();
    private final FailingUser user = new FailingUser();

    ThrowingUserTest() throws RdmaException {
        network = new PortableStreams();
        link = new IwarpLink(network,
                new IwarpSettings(MpaSettings.USUAL, 0, new IwarpPatience(1, 1, 1, 1, 1, 0)),
                new Random(1)::nextInt);
    }

    @AfterEach
    void close() {
        network.close();
    }

    /** Uses whole words that end with a dot, and fails at a word. */
    private static final class FailingUser implements StreamConnection.User {
        final List<String> heard = new ArrayList<>();
        @Nullable
        String failsAt;
        boolean hasEnded;

        @Override
        public long onBytes(MemorySegment memory, long offset, long available) {
            String text = new String(memory.asSlice(offset, available)
                    .toArray(ValueLayout.JAVA_BYTE), StandardCharsets.US_ASCII);
            int used = text.lastIndexOf('.') + 1;
            for (String word : text.substring(0, used).split("\\.", 0)) {
                heard.add(word);
                if (word.equals(failsAt)) {
                    throw new StackOverflowError();
                }
            }
            return used;
        }

        @Override
        public void onRoom() {
            // It sends nothing.
        }

        @Override
        public void onEnd() {
            hasEnded = true;
        }
    }

    private static final class FedStream implements Stream {
        private ByteBuffer bytes = ByteBuffer.allocate(0);
        boolean isReset;

        void feed(String text) {
            bytes = ByteBuffer.wrap(text.getBytes(StandardCharsets.US_ASCII));
        }

        @Override
        public void handler(Handler handler) {
            // The test calls it.
        }

        @Override
        public InetSocketAddress local() {
            return new InetSocketAddress(InetAddress.getLoopbackAddress(), 1);
        }

        @Override
        public InetSocketAddress remote() {
            return local();
        }

        @Override
        public int read(ByteBuffer into) {
            int length = bytes.remaining();
            into.put(bytes);
            return length;
        }

        @Override
        public int write(ByteBuffer from) {
            return 0;
        }

        @Override
        public boolean isAcknowledged() {
            return true;
        }

        @Override
        public void finish() {}

        @Override
        public void close() {}

        @Override
        public void reset() {
            isReset = true;
        }
    }

    @Test
    void itEndsAndGetsNoBytesAgain() {
        StreamConnection connection = new StreamConnection(link, stream, user);
        stream.feed("one.tw");
        connection.onReadable();
        user.failsAt = "two";
        stream.feed("o.three.fo");
        assertThatExceptionOfType(StackOverflowError.class).isThrownBy(connection::onReadable);
        assertThat(stream.isReset).isTrue();
        assertThat(user.hasEnded).isTrue();
        stream.feed("ur.five.");
        connection.onReadable();
        assertThat(user.heard).containsExactly("one", "two");
    }
}
