// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.observe.jfr;

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Frequency;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Period;
import jdk.jfr.StackTrace;
import jdk.jfr.Timespan;
import org.jspecify.annotations.Nullable;

/** What an open device has done since the last time. */
@Name("io.rdma4j.DeviceStatistics")
@Label("Device Statistics")
@Category("rdma4j")
@Description("What an open device has sent and received since the last event of this kind.")
@StackTrace(false)
@Period("1 s")
final class DeviceStatisticsEvent extends Event {
    @Label("Device")
    @Description("Its name")
    @Nullable
    String device;

    @Label("Queue Pairs")
    @Description("How many this process has on it")
    int queuePairs;

    @Label("Elapsed")
    @Description("The time that the figures are of")
    @Timespan
    long elapsed;

    @Label("Sent Packets")
    @Description("-1 if the device does not count them")
    long sentPackets;

    @Label("Received Packets")
    @Description("-1 if the device does not count them")
    long receivedPackets;

    @Label("Sent")
    @Description("Bytes with the headers of the transport, -1 if the device does not count them")
    @DataAmount
    long sentBytes;

    @Label("Received")
    @Description("Bytes with the headers of the transport, -1 if the device does not count them")
    @DataAmount
    long receivedBytes;

    @Label("Send Rate")
    @Description("Bytes sent in a second")
    @DataAmount
    @Frequency
    double sendRate;

    @Label("Receive Rate")
    @Description("Bytes received in a second")
    @DataAmount
    @Frequency
    double receiveRate;

    @Label("Retransmitted Packets")
    @Description("-1 if the device does not count them")
    long retransmittedPackets;

    @Label("Failures")
    @Description("Requests that failed after all retries, -1 if the device does not count them")
    long failures;

    @Label("Drops")
    @Description("What arrived and was dropped, -1 if the device does not count it")
    long drops;
}
