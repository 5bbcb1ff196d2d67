// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.disni;

import java.io.File;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.Arrays;

/** Runs a program whose classes, and DiSNI's, a class loader of its own has. */
public final class LoaderProgram {
    /** Whom a loader asks for a class before, or instead of, itself. */
    enum Kind {
        PARENT_FIRST, CHILD_FIRST, ISOLATED
    }

    private LoaderProgram() {}

    /** @param arguments the kind of the loader, its class path, the name of a class, and its arguments */
    public static void main(String[] arguments) throws Exception {
        String[] path = arguments[1].split(File.pathSeparator, -1);
        URL[] urls = new URL[path.length];
        for (int i = 0; i < path.length; i++) {
            urls[i] = new File(path[i]).toURI().toURL();
        }
        ClassLoader parent = LoaderProgram.class.getClassLoader();
        ClassLoader loader = switch (Kind.valueOf(arguments[0])) {
            case PARENT_FIRST -> new URLClassLoader(urls, parent);
            case CHILD_FIRST -> new ChildFirst(urls, parent);
            case ISOLATED -> new URLClassLoader(urls, ClassLoader.getPlatformClassLoader());
        };
        loader.loadClass(arguments[2]).getMethod("main", String[].class).invoke(null,
                (Object) Arrays.copyOfRange(arguments, 3, arguments.length));
    }

    private static final class ChildFirst extends URLClassLoader {
        ChildFirst(URL[] urls, ClassLoader parent) {
            super(urls, parent);
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            synchronized (getClassLoadingLock(name)) {
                Class<?> known = findLoadedClass(name);
                if (known != null) {
                    return known;
                }
                try {
                    return findClass(name);
                } catch (ClassNotFoundException e) {
                    return super.loadClass(name, resolve);
                }
            }
        }
    }
}
