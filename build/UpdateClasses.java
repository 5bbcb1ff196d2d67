// SPDX-License-Identifier: Apache-2.0
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.lang.classfile.ClassBuilder;
import java.lang.classfile.ClassElement;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassFileVersion;
import java.lang.classfile.ClassHierarchyResolver;
import java.lang.classfile.ClassModel;
import java.lang.classfile.CodeModel;
import java.lang.classfile.MethodModel;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import java.util.zip.ZipOutputStream;

/**
 * Gives the classes of a jar that were compiled for Java 5 the form of Java 8, with stack maps: an ahead-of-time cache
 * takes no others. picocli's are such, and take a third of the start of a short command.
 */
final class UpdateClasses {
    private static final int JAVA_6 = 50;
    private static final int JAVA_8 = 52;

    private UpdateClasses() {}

    public static void main(String[] arguments) throws IOException {
        for (String argument : arguments) {
            Path jar = Path.of(argument);
            Path updated = Path.of(argument + ".new");
            update(jar, updated);
            Files.move(updated, jar, StandardCopyOption.REPLACE_EXISTING);
        }
    }

    private static void update(Path jar, Path updated) throws IOException {
        try (URLClassLoader classes = new URLClassLoader(new URL[] {jar.toUri().toURL()});
                ZipInputStream in = new ZipInputStream(new FileInputStream(jar.toFile()));
                ZipOutputStream out = new ZipOutputStream(new FileOutputStream(updated.toFile()))) {
            ClassFile format = ClassFile.of(ClassFile.StackMapsOption.GENERATE_STACK_MAPS,
                    ClassFile.ClassHierarchyResolverOption.of(ClassHierarchyResolver.ofResourceParsing(classes)));
            for (ZipEntry entry = in.getNextEntry(); entry != null; entry = in.getNextEntry()) {
                byte[] bytes = in.readAllBytes();
                out.putNextEntry(new ZipEntry(entry.getName()));
                out.write(entry.getName().endsWith(".class") ? updated(format, bytes) : bytes);
                out.closeEntry();
            }
        }
    }

    private static byte[] updated(ClassFile format, byte[] bytes) {
        ClassModel model = format.parse(bytes);
        return model.majorVersion() < JAVA_6 ? format.transformClass(model, UpdateClasses::add) : bytes;
    }

    private static void add(ClassBuilder builder, ClassElement element) {
        switch (element) {
            case ClassFileVersion _ -> builder.withVersion(JAVA_8, 0);
            // Code that is handed on as a whole keeps what it has instead of stack maps.
            case MethodModel method -> builder.transformMethod(method, (methodBuilder, part) -> {
                if (part instanceof CodeModel code) {
                    methodBuilder.withCode(codeBuilder -> code.forEach(codeBuilder::with));
                } else {
                    methodBuilder.with(part);
                }
            });
            default -> builder.with(element);
        }
    }
}
