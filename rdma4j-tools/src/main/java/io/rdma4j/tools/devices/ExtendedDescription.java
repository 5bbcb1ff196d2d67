// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.devices;

import io.rdma4j.verbs.DeviceAttributes;
import io.rdma4j.verbs.OnDemandCapability;
import io.rdma4j.verbs.QueuePairType;
import org.jspecify.annotations.Nullable;

import java.io.PrintWriter;
import java.util.Set;

/** What {@code ibv_devinfo -v} prints of the extended attributes of a device. */
final class ExtendedDescription {
    private static final String FLAG = "\t\t\t\t\t";

    private final PrintWriter out;
    private final DeviceAttributes attributes;

    ExtendedDescription(PrintWriter out, DeviceAttributes attributes) {
        this.out = out;
        this.attributes = attributes;
    }

    void print() {
        out.println("\tgeneral_odp_caps:");
        if (!attributes.onDemandPaging().isEmpty()) {
            out.println(FLAG + "ODP_SUPPORT");
        }
        printOnDemand("rc", attributes.onDemandPaging().get(QueuePairType.RC));
        printOnDemand("uc", attributes.onDemandPaging().get(QueuePairType.UC));
        printOnDemand("ud", attributes.onDemandPaging().get(QueuePairType.UD));
        printOnDemand("xrc", attributes.onDemandPaging().get(QueuePairType.XRC_SEND));
        printClock();
        printWhatNoDeviceOffers();
        printModeration();
        if (attributes.maxDeviceMemory() != 0) {
            out.printf("\tmaximum available device memory:\t%dBytes%n%n",
                    attributes.maxDeviceMemory());
        }
    }

    private void printOnDemand(String transport, @Nullable Set<OnDemandCapability> capabilities) {
        out.println("\t" + transport + "_odp_caps:");
        if (capabilities == null || capabilities.isEmpty()) {
            out.println(FLAG + "NO SUPPORT");
            return;
        }
        capabilities.stream().sorted()
                .forEach(each -> out.println(FLAG + "SUPPORT_" + switch (each) {
                    case SEND -> "SEND";
                    case RECEIVE -> "RECV";
                    case WRITE -> "WRITE";
                    case READ -> "READ";
                    case ATOMIC -> "ATOMIC";
                    case SHARED_RECEIVE -> "SRQ";
                    case FLUSH -> "FLUSH";
                    case ATOMIC_WRITE -> "ATOMIC_WRITE";
                }));
    }

    private void printClock() {
        if (attributes.completionTimestampMask() == 0) {
            out.println("\tcompletion_timestamp_mask not supported");
        } else {
            out.printf("\tcompletion timestamp_mask:\t\t\t0x%016x%n",
                    attributes.completionTimestampMask());
        }
        if (attributes.clockKhz() == 0) {
            out.println("\tcore clock not supported");
        } else {
            out.printf("\thca_core_clock:\t\t\t%dkHZ%n", attributes.clockKhz());
        }
    }

    private void printWhatNoDeviceOffers() {
        out.println("\tdevice_cap_flags_ex:\t\t0x0");
        out.println("\ttso_caps:");
        out.println("\t\tmax_tso:\t\t\t0");
        out.println("\trss_caps:");
        out.println("\t\tmax_rwq_indirection_tables:\t\t\t0");
        out.println("\t\tmax_rwq_indirection_table_size:\t\t\t0");
        out.println("\t\trx_hash_function:\t\t\t\t0x0");
        out.println("\t\trx_hash_fields_mask:\t\t\t\t0x0");
        out.println("\tmax_wq_type_rq:\t\t\t0");
        out.println("\tpacket_pacing_caps:");
        out.println("\t\tqp_rate_limit_min:\t0kbps");
        out.println("\t\tqp_rate_limit_max:\t0kbps");
        out.println("\ttag matching not supported");
    }

    private void printModeration() {
        if (attributes.maxModerationCount() != 0 && attributes.maxModerationPeriodUs() != 0) {
            out.printf("%n\tcq moderation caps:%n");
            out.printf("\t\tmax_cq_count:\t%d%n", attributes.maxModerationCount());
            out.printf("\t\tmax_cq_period:\t%d us%n%n", attributes.maxModerationPeriodUs());
        }
    }
}
