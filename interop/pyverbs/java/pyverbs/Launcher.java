// SPDX-License-Identifier: Apache-2.0
package pyverbs;

import org.graalvm.polyglot.Context;
import org.graalvm.polyglot.PolyglotException;
import org.graalvm.polyglot.Source;

import java.io.File;
import java.io.IOException;
import java.util.Arrays;

/** Runs a Python script that may use all of Java. Usage: PYTHONPATH CACHE SCRIPT ARGUMENTS...; compiled modules are kept in the folder CACHE. */
public final class Launcher {
    private Launcher() {}

    public static void main(String[] words) throws IOException {
        Context.Builder builder = Context.newBuilder("python").allowAllAccess(true)
                .allowExperimentalOptions(true)
                .option("engine.WarnInterpreterOnly", "false")
                .option("python.PythonPath", words[0])
                .option("python.ForceImportSite", "true")
                .option("python.DontWriteBytecodeFlag", "false")
                .option("python.PyCachePrefix", words[1])
                .arguments("python", Arrays.copyOfRange(words, 2, words.length));
        int status = 0;
        // Threads of a test that hangs would keep the context from closing.
        Context context = builder.build();
        try {
            context.eval(Source.newBuilder("python", new File(words[2])).build());
        } catch (PolyglotException e) {
            status = 1;
            if (e.isExit()) {
                status = e.getExitStatus();
            } else {
                e.printStackTrace();
            }
        }
        System.out.flush();
        System.err.flush();
        Runtime.getRuntime().halt(status);
    }
}
