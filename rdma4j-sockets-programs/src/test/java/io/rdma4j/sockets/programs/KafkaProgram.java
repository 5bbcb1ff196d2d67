// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.programs;

import org.apache.kafka.clients.CommonClientConfigs;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;

/** A producer and a consumer of Kafka, which checks each record; it knows nothing of RDMA. */
public final class KafkaProgram {
    private static final String TOPIC = "records";
    private static final int PARTITIONS = 3;
    private static final int SMALLEST = 16;
    private static final int LARGEST = 32 * 1024;
    private static final Duration LONGEST_SILENCE = Duration.ofSeconds(30);

    private final String server;
    private final long bytes;
    /** What the records have behind their numbers, each from a place of its own. */
    private final byte[] noise = new byte[1 << 20];

    private KafkaProgram(String server, long bytes) {
        this.server = server;
        this.bytes = bytes;
        new Random(48).nextBytes(noise);
    }

    /** @param arguments the broker's host and port; how many bytes to produce */
    public static void main(String[] arguments) throws Exception {
        KafkaProgram program = new KafkaProgram(arguments[0], Long.parseLong(arguments[1]));
        program.createTopic();
        long start = System.nanoTime();
        long[] counts = program.produce();
        long produced = System.nanoTime();
        System.out.println("produced " + Arrays.stream(counts).sum());
        System.out.println("produce ms " + (produced - start) / 1_000_000);
        System.out.println("consumed " + program.consume(counts));
        System.out.println("consume ms " + (System.nanoTime() - produced) / 1_000_000);
    }

    private Map<String, Object> settings() {
        return new HashMap<>(Map.of(CommonClientConfigs.BOOTSTRAP_SERVERS_CONFIG, server));
    }

    private void createTopic() throws InterruptedException, ExecutionException {
        try (Admin admin = Admin.create(settings())) {
            admin.createTopics(List.of(new NewTopic(TOPIC, PARTITIONS, (short) 1))).all().get();
        }
    }

    /** {@return how many records each partition has got} */
    private long[] produce() throws InterruptedException, ExecutionException {
        Map<String, Object> settings = settings();
        settings.put(ProducerConfig.BATCH_SIZE_CONFIG, 256 * 1024);
        settings.put(ProducerConfig.LINGER_MS_CONFIG, 5);
        long[] counts = new long[PARTITIONS];
        List<Future<?>> acknowledgements = new ArrayList<>();
        try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(settings,
                new ByteArraySerializer(), new ByteArraySerializer())) {
            long sent = 0;
            for (int i = 0; sent < bytes; i++) {
                int partition = i % PARTITIONS;
                byte[] value = value(partition, counts[partition]++);
                acknowledgements
                        .add(producer.send(new ProducerRecord<>(TOPIC, partition, null, value)));
                sent += value.length;
            }
        }
        for (Future<?> each : acknowledgements) {
            each.get();
        }
        return counts;
    }

    private long consume(long[] expected) {
        Map<String, Object> settings = settings();
        settings.put(ConsumerConfig.GROUP_ID_CONFIG, "readers");
        settings.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest");
        long[] counts = new long[PARTITIONS];
        long total = Arrays.stream(expected).sum();
        try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(settings,
                new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            consumer.subscribe(List.of(TOPIC));
            long lastNs = System.nanoTime();
            while (Arrays.stream(counts).sum() < total) {
                for (ConsumerRecord<byte[], byte[]> each : consumer.poll(Duration.ofSeconds(1))) {
                    check(each, counts[each.partition()]++);
                    lastNs = System.nanoTime();
                }
                if (System.nanoTime() - lastNs > LONGEST_SILENCE.toNanos()) {
                    throw new IllegalStateException("no more records after "
                            + Arrays.toString(counts) + " of " + Arrays.toString(expected));
                }
            }
            consumer.commitSync();
            requireNoMore(consumer.endOffsets(consumer.assignment()), expected);
        }
        return total;
    }

    private static void requireNoMore(Map<TopicPartition, Long> ends, long[] expected) {
        for (int i = 0; i < PARTITIONS; i++) {
            Long end = ends.get(new TopicPartition(TOPIC, i));
            if (end == null || end != expected[i]) {
                throw new IllegalStateException("partition " + i + " ends with " + end
                        + " records instead of " + expected[i]);
            }
        }
    }

    private void check(ConsumerRecord<byte[], byte[]> record, long number) {
        boolean isRight = record.offset() == number
                && Arrays.equals(record.value(), value(record.partition(), number));
        if (!isRight) {
            throw new IllegalStateException("record " + number + " of partition "
                    + record.partition() + " is wrong, at offset " + record.offset());
        }
    }

    /** {@return record {@code number} of a partition: both numbers, and bytes that no other record has} */
    private byte[] value(int partition, long number) {
        Random random = new Random(number * PARTITIONS + partition);
        byte[] value = new byte[SMALLEST + random.nextInt(LARGEST - SMALLEST)];
        System.arraycopy(noise, random.nextInt(noise.length - LARGEST), value, 0, value.length);
        ByteBuffer.wrap(value).putInt(partition).putLong(number);
        return value;
    }
}
