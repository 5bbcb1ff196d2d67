// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;

import java.util.Set;

/**
 * Each class of a package, with the classes in it, as a slice.
 *
 * @param packageName the package
 * @param without simple names of classes that belong to no slice
 */
record ClassesOfAPackage(String packageName, Set<String> without) implements SliceAssignment {
    @Override
    public SliceIdentifier getIdentifierOf(JavaClass each) {
        if (!each.getPackageName().equals(packageName)) {
            return SliceIdentifier.ignore();
        }
        String name = each.getName().substring(packageName.length() + 1).replaceAll("\\$.*", "");
        return without.contains(name) ? SliceIdentifier.ignore() : SliceIdentifier.of(name);
    }

    @Override
    public String getDescription() {
        return "classes of " + packageName;
    }
}
