// SPDX-License-Identifier: Apache-2.0
/**
 * Classes that take the place of DiSNI's classes of the same names. They are found before those if this module's jar comes first on the
 * class path, and with {@code -javaagent} wherever it is.
 */
@NullMarked
package com.ibm.disni.util;

import org.jspecify.annotations.NullMarked;
