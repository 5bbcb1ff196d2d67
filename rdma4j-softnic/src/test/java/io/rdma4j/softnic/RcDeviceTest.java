// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.protocol.bytes.Layouts;
import io.rdma4j.protocol.count.Counter;
import io.rdma4j.protocol.roce.wire.Icrc;
import io.rdma4j.protocol.roce.wire.Opcode;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import org.junit.jupiter.api.Test;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;

import static io.rdma4j.softnic.Counted.counted;
import static org.assertj.core.api.Assertions.assertThat;

/** What a device adds to the reliable connection: acknowledgements that wait, slots, inline data, events, sources. */
class RcDeviceTest {
    /** Its acknowledgement may have waited for what the receiver does next. */
    @Test
    void lastMessageIsAcknowledgedThoughItsReceiverClosesAtOnce() throws Exception {
        Pair pair = new Pair();
        pair.b.receive(7, 100);
        pair.a.send(1, 100);
        pair.simulation.network.advanceTo(pair.simulation.network.nowNs() + 1_000_000);
        assertThat(pair.b.completionQueue.poll(new WorkCompletion())).isTrue();
        pair.b.queuePair.close();
        pair.run(1_000_000);
        pair.a.assertCompleted("1 SUCCESS");
    }

    @Test
    void answerTakesTheAcknowledgementAlong() throws Exception {
        Pair pair = new Pair();
        pair.a.receive(8, 100);
        pair.b.receive(7, 100);
        pair.a.send(1, 100);
        pair.simulation.network.advanceTo(pair.simulation.network.nowNs() + 1_000_000);
        int before = pair.simulation.network.packets();
        assertThat(pair.b.completionQueue.poll(new WorkCompletion())).isTrue();
        assertThat(pair.simulation.network.packets()).isEqualTo(before);
        pair.b.send(2, 100);
        assertThat(pair.simulation.network.packets()).isEqualTo(before + 2);
        pair.settle();
        pair.a.assertCompleted("1 SUCCESS", "8 SUCCESS");
    }

    @Test
    void unsignaledRequestsReportNothingAndFreeTheirSlots() throws Exception {
        Pair pair = new Pair();
        SendWorkRequest quiet = new SendWorkRequest()
                .write(pair.b.region.address() + Pair.MEMORY / 2, pair.b.region.rkey())
                .add(pair.a.region, 0, 100);
        for (int i = 0; i < 5 * Pair.DEPTH; i++) {
            pair.a.queuePair.postSend(quiet.id(i));
            pair.run(200_000);
        }
        pair.a.assertCompleted();
        pair.a.write(1000, 100);
        pair.settle();
        pair.a.assertCompleted("1000 SUCCESS");
    }

    @Test
    void inlineDataMayChangeAsSoonAsItIsPosted() throws Exception {
        Pair pair = new Pair();
        byte[] bytes = "inline bytes".getBytes(StandardCharsets.US_ASCII);
        pair.simulation.network.loseIf(packet -> true);
        pair.a.queuePair.postSend(pair.a.request(1)
                .write(pair.b.region.address() + Pair.MEMORY / 2, pair.b.region.rkey())
                .inline(MemorySegment.ofArray(bytes)));
        Arrays.fill(bytes, (byte) 'x');
        pair.run(100_000);
        pair.simulation.network.loseIf(null);
        pair.settle();
        pair.a.assertCompleted("1 SUCCESS");
        assertThat(pair.b.memory.asSlice(Pair.MEMORY / 2, 13).getString(0))
                .isEqualTo("inline bytes");
    }

    @Test
    void inlineElementsAreCopiedToo() throws Exception {
        Pair pair = new Pair();
        byte first = pair.a.memory.get(ValueLayout.JAVA_BYTE, 0);
        pair.simulation.network.loseIf(packet -> true);
        pair.a.queuePair.postSend(pair.a.request(1)
                .write(pair.b.region.address() + Pair.MEMORY / 2, pair.b.region.rkey())
                .add(pair.a.region, 0, 10).add(pair.a.region, 20, 10).set(SendFlag.INLINE));
        pair.a.memory.set(ValueLayout.JAVA_BYTE, 0, (byte) (first + 1));
        pair.run(100_000);
        pair.simulation.network.loseIf(null);
        pair.settle();
        assertThat(pair.b.upperByte(0)).isEqualTo(first);
    }

    @Test
    void solicitedNotificationWaitsForASolicitedMessage() throws Exception {
        Pair pair = new Pair();
        CompletionChannel channel = CompletionChannel.create();
        CompletionQueue queue = pair.b.node.context.createCompletionQueue(16, channel);
        Pair.Side receiver = pair.new Side(pair.simulation.b, queue);
        Pair.Side sender = pair.new Side(pair.simulation.a);
        sender.connect(receiver, new Pair.Settings());
        receiver.connect(sender, new Pair.Settings());
        queue.requestSolicitedNotification();
        receiver.receive(1, 100);
        receiver.receive(2, 100);
        sender.send(1, 10);
        pair.settle();
        assertThat(channel.pollEvent(Duration.ZERO)).isNull();
        sender.queuePair.postSend(sender.request(2).send().add(sender.region, 0, 10)
                .set(SendFlag.SOLICITED));
        pair.settle();
        assertThat(channel.pollEvent(Duration.ZERO)).isSameAs(queue);
        queue.acknowledgeEvents(1);
    }

    @Test
    void aPacketFromAnotherAddressIsDropped() throws Exception {
        Pair pair = new Pair();
        var forged = pair.a.forge(Opcode.RC_WRITE_ONLY, Pair.FIRST_PSN)
                .rdma(pair.b.region.address() + Pair.MEMORY / 2, pair.b.region.rkey(), 0);
        byte[] bytes = new byte[forged.totalLength()];
        MemorySegment memory = MemorySegment.ofArray(bytes);
        int length = forged.copyTo(memory, 0);
        Gid stranger = Gid
                .of(InetAddress.ofLiteral("127.0.0.9"));
        int crc = new Icrc().compute(stranger,
                forged.path().destination(), 4791, 4791, 0, ByteBuffer.wrap(bytes), 0,
                length);
        memory.set(Layouts.U32_LITTLE, length, crc);
        pair.simulation.network.inject(stranger, forged.path().destination(), bytes);
        pair.settle();
        assertThat(counted(pair.b.queuePair, Counter.DROPPED_WRONG_SOURCE)).isOne();
        pair.a.write(1, 100);
        pair.settle();
        pair.a.assertCompleted("1 SUCCESS");
    }
}
