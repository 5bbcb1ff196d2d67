// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.examples.spark;

import org.apache.spark.HashPartitioner;
import org.apache.spark.SparkConf;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerStageCompleted;
import org.apache.spark.scheduler.StageInfo;
import scala.Tuple2;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;

/**
 * A program for Spark as anybody writes them: every task makes records, each goes to the task of its key, and that one checks every
 * byte. It knows nothing of RDMA, of sockets, or of how it is started.
 */
public final class Shuffle {
    private static final int MAKERS = 16;
    private static final int CHECKERS = 16;
    private static final int RECORD_BYTES = 8 * 1024;
    private static final int NOISE_BYTES = 1 << 20;
    private static final int EXECUTORS = 2;
    private static final int PATIENCE_MS = 60_000;
    private static final int LOOK_MS = 100;

    private Shuffle() {}

    /** @param arguments how many MiB to shuffle */
    public static void main(String[] arguments) throws InterruptedException {
        long records = (Long.parseLong(arguments[0]) << 20) / RECORD_BYTES / MAKERS;
        try (JavaSparkContext spark = new JavaSparkContext(new SparkConf())) {
            awaitExecutors(spark);
            spark.sc().addSparkListener(new Stages());
            long startNs = System.nanoTime();
            List<Integer> makers = IntStream.range(0, MAKERS).boxed().toList();
            List<Tuple2<Long, Long>> checked = spark.parallelize(makers, MAKERS)
                    .mapPartitionsToPair(each -> make(each.next(), records))
                    .partitionBy(new HashPartitioner(CHECKERS)).mapPartitions(Shuffle::check)
                    .collect();
            long ms = (System.nanoTime() - startNs) / 1_000_000;
            long count = checked.stream().mapToLong(Tuple2::_1).sum();
            long sum = checked.stream().mapToLong(Tuple2::_2).sum();
            long wanted = MAKERS * records;
            if (count != wanted || sum != wanted * (wanted - 1) / 2) {
                throw new IllegalStateException("wrong: " + count + " records of " + wanted
                        + ", sum of their numbers " + sum);
            }
            System.out.println("records " + count);
            System.out.println("bytes " + count * RECORD_BYTES);
            System.out.println("job ms " + ms);
        }
    }

    /** With one executor there would be nothing between two. */
    private static void awaitExecutors(JavaSparkContext spark) throws InterruptedException {
        for (int waitedMs = 0; executors(spark) < EXECUTORS; waitedMs += LOOK_MS) {
            if (waitedMs > PATIENCE_MS) {
                throw new IllegalStateException("only " + executors(spark) + " executors came");
            }
            Thread.sleep(LOOK_MS);
        }
    }

    private static int executors(JavaSparkContext spark) {
        // The driver is one of them.
        return spark.sc().statusTracker().getExecutorInfos().length - 1;
    }

    /** {@return records with numbers that no other task makes} */
    private static Iterator<Tuple2<Long, byte[]>> make(int maker, long records) {
        byte[] noise = noise();
        return new Iterator<>() {
            private long made;

            @Override
            public boolean hasNext() {
                return made < records;
            }

            @Override
            public Tuple2<Long, byte[]> next() {
                long number = maker * records + made++;
                return new Tuple2<>(number, record(number, noise));
            }
        };
    }

    private static byte[] noise() {
        byte[] noise = new byte[NOISE_BYTES];
        new Random(48).nextBytes(noise);
        return noise;
    }

    /** {@return its number, and bytes from a place of its own} */
    private static byte[] record(long number, byte[] noise) {
        int from = (int) ((number * 0x9e37_79b9_7f4a_7c15L) >>> 44);
        byte[] record = Arrays.copyOfRange(noise, from % (NOISE_BYTES - RECORD_BYTES),
                from % (NOISE_BYTES - RECORD_BYTES) + RECORD_BYTES);
        ByteBuffer.wrap(record).putLong(number);
        return record;
    }

    /** {@return how many records came, and the sum of their numbers} */
    private static Iterator<Tuple2<Long, Long>> check(Iterator<Tuple2<Long, byte[]>> records) {
        byte[] noise = noise();
        long count = 0;
        long sum = 0;
        while (records.hasNext()) {
            Tuple2<Long, byte[]> each = records.next();
            if (each._1() % CHECKERS != TaskContext.getPartitionId()
                    || !Arrays.equals(each._2(), record(each._1(), noise))) {
                throw new IllegalStateException("record " + each._1() + " is wrong");
            }
            count++;
            sum += each._1();
        }
        return new ArrayList<>(List.of(new Tuple2<>(count, sum))).iterator();
    }

    /** Prints what Spark says of each stage. */
    private static final class Stages extends SparkListener {
        @Override
        public void onStageCompleted(SparkListenerStageCompleted completed) {
            StageInfo stage = completed.stageInfo();
            long ms = (Long) stage.completionTime().get() - (Long) stage.submissionTime().get();
            System.out.println((stage.stageId() == 0 ? "write ms " : "read ms ") + ms);
            if (stage.stageId() > 0) {
                System.out.println("remote bytes "
                        + stage.taskMetrics().shuffleReadMetrics().remoteBytesRead());
            }
        }
    }
}
