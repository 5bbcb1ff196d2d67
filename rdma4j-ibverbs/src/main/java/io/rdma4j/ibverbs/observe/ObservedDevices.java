// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.observe;

import io.rdma4j.observe.jfr.FlightEvents;
import io.rdma4j.observe.registry.ShownDevice;

import java.util.HashMap;
import java.util.Map;

/** The native devices that this process has open, for JMX and Java Flight Recorder. Thread safe. */
public final class ObservedDevices {
    /** The only one: each context has a context of the library, and JMX has one bean for all of a device. */
    public static final ObservedDevices OF_PROCESS = new ObservedDevices();

    private final Map<String, Open> byName = new HashMap<>();

    ObservedDevices() {}

    private record Open(DeviceBean bean, ShownDevice shown) {}

    /** A context was opened. */
    public synchronized void add(ShownContext context) {
        FlightEvents.prepare();
        Open open = byName.get(context.device());
        if (open != null) {
            open.bean.add(context);
            return;
        }
        DeviceBean bean = new DeviceBean(context.device());
        bean.add(context);
        FlightEvents.show(bean);
        byName.put(context.device(), new Open(bean, ShownDevice.show(bean)));
    }

    /** A context is closed, which was added. */
    public synchronized void remove(ShownContext context) {
        FlightEvents.forget();
        Open open = byName.get(context.device());
        if (open != null && open.bean.remove(context)) {
            byName.remove(context.device());
            open.shown.hide();
            FlightEvents.hide(open.bean);
        }
    }
}
