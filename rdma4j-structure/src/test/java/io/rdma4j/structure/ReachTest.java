// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.structure;

import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import org.junit.jupiter.api.Test;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;

/** That what a thread gets to is found, in classes that touch files. */
class ReachTest {
    private final Reach reach = Reach.of(new ClassFileImporter()
            .importPath(Path.of("target", "test-classes")), Set.of("Driver"), Set.of("call"));

    /** What the thread of the driver runs. */
    interface Job {
        void run();
    }

    /** Runs jobs. */
    static final class Driver {
        void drive(Job job) {
            job.run();
        }

        void call(Runnable task) {
            task.run();
        }
    }

    /** The mistake that the rule is for. */
    static final class Careless implements Job {
        @Override
        public void run() {
            step();
        }

        private static void step() {
            touch();
        }

        private static boolean touch() {
            return Files.exists(Path.of("somewhere"));
        }
    }

    /** Has its file touched by a thread of its own. */
    static final class Careful implements Job {
        @Override
        public void run() {
            Thread.ofPlatform().start(() -> Files.exists(Path.of("somewhere")));
        }
    }

    /** Is no job, but gives one away. */
    static final class Giver {
        static void give(Driver driver) {
            driver.call(() -> touch("somewhere"));
        }

        static boolean touch(String name) {
            return Files.exists(Path.of(name));
        }
    }

    /** Nobody runs it. */
    static final class Bystander {
        static boolean touch() {
            return Files.exists(Path.of("somewhere"));
        }
    }

    private static boolean isOfFiles(JavaAccess<?> access) {
        return access.getTargetOwner().isEquivalentTo(Files.class);
    }

    @Test
    void whatIsCalledThroughAnInterfaceIsReached() {
        assertThat(reach.users(ReachTest::isOfFiles)).containsEntry("Careless",
                "Driver.drive > Careless.run > Careless.step > Careless.touch");
    }

    @Test
    void whatOthersGiveToRunIsReached() {
        assertThat(reach.users(ReachTest::isOfFiles)).containsEntry("Giver",
                "Giver.give > Giver.touch");
    }

    @Test
    void whatAnotherThreadDoesIsNotReached() {
        assertThat(reach.users(ReachTest::isOfFiles)).containsOnlyKeys("Careless", "Giver");
    }
}
