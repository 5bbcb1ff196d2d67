// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.testkit.junit;

import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.RdmaDevice;
import io.rdma4j.verbs.RdmaException;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionConfigurationException;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolutionException;
import org.junit.jupiter.api.extension.ParameterResolver;

import java.lang.foreign.Arena;
import java.lang.reflect.Method;
import java.net.InetSocketAddress;
import java.util.Set;

/** What {@link RdmaTest} says. JUnit makes one for each class of tests; what belongs to one test is a {@link TestRun}. */
public final class RdmaExtension
        implements
            BeforeEachCallback,
            AfterEachCallback,
            ParameterResolver {
    private static final Namespace NAMESPACE = Namespace.create(RdmaExtension.class);
    private static final Set<Class<?>> GIVEN = Set.of(RdmaDevice.class, DeviceContext.class,
            InetSocketAddress.class, ConnectedIds.class, Arena.class);

    /** Called by JUnit. */
    public RdmaExtension() {}

    @Override
    public void beforeEach(ExtensionContext context) {
        context.getStore(NAMESPACE).put(TestRun.class, TestRun.begin(settings(context), context));
    }

    private static RdmaTest settings(ExtensionContext context) {
        RdmaTest ofMethod = context.getRequiredTestMethod().getAnnotation(RdmaTest.class);
        if (ofMethod != null) {
            return ofMethod;
        }
        // Nested classes have it from those around them.
        for (Class<?> type = context.getRequiredTestClass(); type != null; type = type
                .getEnclosingClass()) {
            RdmaTest ofType = type.getAnnotation(RdmaTest.class);
            if (ofType != null) {
                return ofType;
            }
        }
        throw new ExtensionConfigurationException("annotate the class or the method with @RdmaTest;"
                + " the extension alone does not say which device");
    }

    @Override
    public void afterEach(ExtensionContext context) throws Exception {
        TestRun run = context.getStore(NAMESPACE).remove(TestRun.class, TestRun.class);
        if (run != null) {
            run.end(context);
        }
    }

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        return GIVEN.contains(parameter.getParameter().getType())
                && parameter.getDeclaringExecutable() instanceof Method
                && context.getTestMethod().isPresent();
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        TestRun run = context.getStore(NAMESPACE).get(TestRun.class, TestRun.class);
        if (run == null) {
            throw new ParameterResolutionException("the test has not begun, or is over");
        }
        Class<?> type = parameter.getParameter().getType();
        try {
            if (type == RdmaDevice.class) {
                return run.device();
            } else if (type == DeviceContext.class) {
                return run.context();
            } else if (type == InetSocketAddress.class) {
                return run.address();
            } else if (type == ConnectedIds.class) {
                return run.connectedIds();
            }
            return run.arena();
        } catch (RdmaException e) {
            throw new ParameterResolutionException(String.valueOf(e.getMessage()), e);
        }
    }
}
