// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;

/** The classes of all modules, without tests, read once for all rules. */
final class MainClasses {
    static final JavaClasses ALL = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests()).importPackages("io.rdma4j");

    private MainClasses() {}
}
