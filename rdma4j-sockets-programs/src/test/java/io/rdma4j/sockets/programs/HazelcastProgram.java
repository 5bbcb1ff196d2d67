// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.programs;

import com.hazelcast.config.Config;
import com.hazelcast.config.JoinConfig;
import com.hazelcast.core.Hazelcast;
import com.hazelcast.core.HazelcastInstance;
import com.hazelcast.map.IMap;

import java.util.Arrays;

/** Two members of a Hazelcast cluster with a map. */
public final class HazelcastProgram {
    private static final int ENTRIES = 200;
    private static final int BYTES = 10_000;

    private HazelcastProgram() {}

    public static void main(String[] arguments) {
        HazelcastInstance one = Hazelcast.newHazelcastInstance(config(5811));
        HazelcastInstance other = Hazelcast.newHazelcastInstance(config(5812));
        IMap<Integer, byte[]> map = one.getMap("map");
        for (int i = 0; i < ENTRIES; i++) {
            map.put(i, SeededBytes.of(i, BYTES));
        }
        IMap<Integer, byte[]> seen = other.getMap("map");
        int count = 0;
        for (int i = 0; i < ENTRIES; i++) {
            byte[] value = seen.get(i);
            if (Arrays.equals(value, SeededBytes.of(i, BYTES))) {
                count++;
            }
        }
        System.out.println(one.getCluster().getMembers().size() + " members, " + count
                + " entries");
        one.getLifecycleService().terminate();
        other.getLifecycleService().terminate();
    }

    private static Config config(int port) {
        Config config = new Config();
        config.setProperty("hazelcast.logging.type", "none");
        config.setProperty("hazelcast.phone.home.enabled", "false");
        config.getNetworkConfig().setPort(port).setPortAutoIncrement(false);
        config.getNetworkConfig().getInterfaces().setEnabled(true).addInterface("127.0.0.1");
        JoinConfig join = config.getNetworkConfig().getJoin();
        join.getAutoDetectionConfig().setEnabled(false);
        join.getMulticastConfig().setEnabled(false);
        join.getTcpIpConfig().setEnabled(true).addMember("127.0.0.1:5811")
                .addMember("127.0.0.1:5812");
        return config;
    }
}
