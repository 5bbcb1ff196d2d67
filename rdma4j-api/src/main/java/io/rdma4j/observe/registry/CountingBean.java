// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.observe.registry;

import io.rdma4j.observe.jmx.DeviceMXBean;

import java.util.Arrays;
import java.util.Map;
import java.util.stream.Stream;

import javax.management.Attribute;
import javax.management.AttributeList;
import javax.management.AttributeNotFoundException;
import javax.management.MBeanAttributeInfo;
import javax.management.MBeanException;
import javax.management.MBeanInfo;
import javax.management.ReflectionException;
import javax.management.StandardMBean;
import javax.management.openmbean.OpenMBeanAttributeInfoSupport;
import javax.management.openmbean.SimpleType;

/**
 * A device's bean with one attribute more for each counter, a {@code long} of the counter's name: what draws curves takes numbers,
 * and no maps.
 */
final class CountingBean extends StandardMBean {
    private final DeviceMXBean bean;

    private <T extends DeviceMXBean> CountingBean(T bean, Class<T> type) {
        super(bean, type, true);
        this.bean = bean;
    }

    /** {@return a device's bean, with the attributes of the interface that it implements} */
    static CountingBean of(DeviceMXBean bean) {
        for (Class<?> type : bean.getClass().getInterfaces()) {
            if (DeviceMXBean.class.isAssignableFrom(type)) {
                return of(bean, type.asSubclass(DeviceMXBean.class));
            }
        }
        return of(bean, DeviceMXBean.class);
    }

    private static <T extends DeviceMXBean> CountingBean of(DeviceMXBean bean, Class<T> type) {
        return new CountingBean(type.cast(bean), type);
    }

    @Override
    public MBeanInfo getMBeanInfo() {
        MBeanInfo plain = super.getMBeanInfo();
        Stream<MBeanAttributeInfo> numbers = bean.getCounters().keySet().stream()
                .map(name -> new OpenMBeanAttributeInfoSupport(name, "The counter of this name",
                        SimpleType.LONG, true, false, false));
        return new MBeanInfo(plain.getClassName(), plain.getDescription(),
                Stream.concat(Arrays.stream(plain.getAttributes()), numbers)
                        .toArray(MBeanAttributeInfo[]::new),
                plain.getConstructors(), plain.getOperations(), plain.getNotifications(),
                plain.getDescriptor());
    }

    @Override
    public Object getAttribute(String attribute)
            throws AttributeNotFoundException, MBeanException, ReflectionException {
        try {
            return super.getAttribute(attribute);
        } catch (AttributeNotFoundException e) {
            Long value = bean.getCounters().get(attribute);
            if (value == null) {
                throw e;
            }
            return value;
        }
    }

    /** All counters are of one moment. */
    @Override
    public AttributeList getAttributes(String[] attributes) {
        Map<String, Long> counters = bean.getCounters();
        AttributeList found = super.getAttributes(Arrays.stream(attributes)
                .filter(name -> !counters.containsKey(name)).toArray(String[]::new));
        for (String name : attributes) {
            Long value = counters.get(name);
            if (value != null) {
                found.add(new Attribute(name, value));
            }
        }
        return found;
    }
}
