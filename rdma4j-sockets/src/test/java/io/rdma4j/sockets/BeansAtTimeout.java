// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.PreInterruptCallback;
import org.junit.jupiter.api.extension.PreInterruptContext;

import java.lang.management.ManagementFactory;

import javax.management.JMException;
import javax.management.MBeanAttributeInfo;
import javax.management.MBeanServer;
import javax.management.ObjectName;

/** Prints what the sockets and devices of this process show when the time of a test is up, before its thread is interrupted. */
public final class BeansAtTimeout implements PreInterruptCallback {
    @Override
    public void beforeThreadInterrupt(PreInterruptContext context, ExtensionContext extension)
            throws JMException {
        StringBuilder shown = new StringBuilder("The time of a test is up:\n");
        MBeanServer server = ManagementFactory.getPlatformMBeanServer();
        for (ObjectName name : server.queryNames(new ObjectName("io.rdma4j:*"), null)) {
            shown.append(name).append('\n');
            for (MBeanAttributeInfo each : server.getMBeanInfo(name).getAttributes()) {
                shown.append("  ").append(each.getName()).append(" = ")
                        .append(server.getAttribute(name, each.getName())).append('\n');
            }
        }
        System.out.println(shown);
    }
}
