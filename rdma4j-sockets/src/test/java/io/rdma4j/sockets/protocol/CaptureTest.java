// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.protocol;

import io.rdma4j.sockets.protocol.CapturedRsocket.Sent;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

import static org.assertj.core.api.Assertions.assertThat;

/** Either side of a connection of librdmacm's {@code rstream} is played by ours, which sends the same. */
class CaptureTest {
    private static final String ROCE = "rxe-rstream.pcap.gz";
    private static final String IWARP = "siw-rstream.pcap.gz";
    private static final int MESSAGE = 4000;

    private final Transmission out = new Transmission();

    @ParameterizedTest
    @ValueSource(strings = {ROCE, IWARP})
    void connectionDataIsReadAndWrittenAsItWas(String name) throws IOException {
        CapturedRsocket captured = CapturedRsocket.read(name);
        for (ConnectionData data : new ConnectionData[]{captured.client(), captured.server()}) {
            assertThat(data.order()).isEqualTo(ByteOrder.LITTLE_ENDIAN);
            assertThat(data.credits()).isEqualTo(384);
            assertThat(data.mappings()).isZero();
            assertThat(data.slots().length()).isEqualTo(2);
            assertThat(data.buffer().length()).isEqualTo(1 << 19);
            assertThat(ConnectionData.decode(data.encode())).isEqualTo(data);
        }
    }

    @ParameterizedTest
    @CsvSource({ROCE + ", true", ROCE + ", false", IWARP + ", true", IWARP + ", false"})
    void eachMessageIsWhatLibrdmacmSent(String name, boolean isClient) throws IOException {
        CapturedRsocket captured = CapturedRsocket.read(name);
        assertThat(captured.messages).hasSizeGreaterThan(40);
        ConnectionData ours = isClient ? captured.client() : captured.server();
        RsocketStream stream = new RsocketStream(
                new StreamSettings(384, 384, 64, 1 << 20, 1 << 20, 0, name.equals(ROCE)),
                new RemoteRange(ours.buffer().address(), ours.buffer().key(), 1 << 20),
                isClient ? captured.server() : captured.client());
        int left = 0;
        long received = 0;
        for (Sent message : captured.messages) {
            if (message.isFromClient() != isClient) {
                receive(stream, message);
                continue;
            }
            int type = Message.type(message.word());
            if (type != Message.CREDITS) {
                // The program read before it wrote or closed; credits came by themselves.
                received += stream.readable();
                stream.read(stream.readable());
            }
            if (type == Message.DATA) {
                int count = message.payload().length;
                if (left == 0) {
                    left = count == 16 ? 16 : MESSAGE;
                    stream.startWrite();
                }
                // It begins a write with shorter messages. Where one is cut is up to the sender.
                assertThat(stream.writable(left)).isBetween(count, left);
                assertThat(stream.write(count, stream.isInline(count), out)).isTrue();
                left -= count;
            } else {
                if (type == Message.CONTROL) {
                    stream.disconnect();
                }
                assertThat(stream.pollTransmit(out)).isTrue();
            }
            expect(message);
            stream.onSent(out.id());
            assertThat(stream.pollTransmit(new Transmission())).as("more after %s", message)
                    .isFalse();
        }
        received += stream.readable();
        assertThat(received).isEqualTo(3 * MESSAGE * 3L + 16);
        assertThat(stream.isDisconnected()).isTrue();
        assertThat(stream.wasReset()).isFalse();
    }

    private static void receive(RsocketStream stream, Sent message) throws RsocketException {
        if (Message.isCredits(message.word())) {
            stream.onCredits(message.word(), range(message));
        } else {
            stream.onMessage(message.word());
        }
    }

    private static RemoteRange range(Sent message) {
        ByteBuffer in = ByteBuffer.wrap(message.payload()).order(ByteOrder.LITTLE_ENDIAN);
        return new RemoteRange(in.getLong(), in.getInt(), in.getInt());
    }

    private void expect(Sent message) {
        assertThat(out.hasWord()).isTrue();
        assertThat(Integer.toHexString(out.word())).isEqualTo(Integer.toHexString(message.word()));
        switch (out.content()) {
            case INLINE, BUFFER -> assertThat(out.length()).isEqualTo(message.payload().length);
            case RANGE -> assertThat(out.range()).isEqualTo(range(message));
            case NOTHING -> assertThat(message.payload()).isEmpty();
            case MAPPING -> throw new AssertionError(Arrays.toString(message.payload()));
        }
        if (message.payload().length > 0) {
            assertThat(out.remoteAddress()).isEqualTo(message.address());
            assertThat(out.remoteKey()).isEqualTo(message.key());
        }
    }
}
