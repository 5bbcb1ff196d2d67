package io.rdma4j.testkit;

/** What the suite is told about whatever it tests. */
public interface UnderTest {
    /** {@return the name the report uses, the same on every machine} */
    String deviceName();

    /** {@return whether a case that the device refuses as not supported has failed} */
    default boolean requires(ConformanceCase conformanceCase) {
        return conformanceCase.kind() != ConformanceCase.Kind.OPTIONAL;
    }
}
