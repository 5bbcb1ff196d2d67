// SPDX-License-Identifier: Apache-2.0
package com.ibm.disni.util;

/** Takes the place of DiSNI's class of this name: threads run where the system puts them. */
public class NativeAffinity {
    private static final long ANY = 0;

    /** Does nothing. Every thread that awaits completions calls it first. */
    public static void setAffinity(long processors) {}

    public static long getAffinity() {
        return ANY;
    }
}
