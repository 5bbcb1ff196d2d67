// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.lang.classfile.AttributedElement;
import java.lang.classfile.Attributes;
import java.lang.invoke.MethodType;
import java.lang.reflect.AnnotatedArrayType;
import java.lang.reflect.AnnotatedParameterizedType;
import java.lang.reflect.AnnotatedType;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.Field;
import java.lang.reflect.Member;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The interface for programs, with what may be null and what is thrown, is what {@code api.txt} says: a change of the interface
 * shows in the difference of that file. Who means a change copies {@code target/api.txt} over it.
 */
class ApiSnapshotTest {
    private static final Path KEPT = Path.of("api.txt");
    private static final Path FOUND = Path.of("target", "api.txt");

    @Test
    void interfaceForProgramsIsWhatIsWrittenDown() throws IOException {
        List<String> lines = new ArrayList<>();
        for (Class<?> type : ApiTypes.all()) {
            lines.add(head(type));
            members(type).sorted().map(member -> "    " + member).forEach(lines::add);
        }
        Files.write(FOUND, lines);
        assertThat(lines).as("the interface; if the change is meant, copy %s to %s", FOUND, KEPT)
                .containsExactlyElementsOf(Files.readAllLines(KEPT));
    }

    private static String head(Class<?> type) {
        String kind = type.isAnnotation() ? "@interface"
                : type.isInterface() ? "interface"
                        : type.isEnum() ? "enum" : type.isRecord() ? "record" : "class";
        String modifiers = type.isInterface() || type.isEnum() || type.isRecord()
                ? type.isSealed() ? "sealed " : ""
                : modifiers(type.getModifiers() & (Modifier.ABSTRACT | Modifier.FINAL))
                        + (type.isSealed() ? "sealed " : "");
        String above = type.getSuperclass() == null || type.isEnum() || type.isRecord()
                || type.getSuperclass().equals(Object.class) ? ""
                        : " extends " + type.getGenericSuperclass().getTypeName();
        String interfaces = Stream.of(type.getGenericInterfaces()).map(t -> " " + t.getTypeName())
                .collect(Collectors.joining());
        return experimental(type) + modifiers + kind + " " + type.getName() + above
                + (interfaces.isEmpty() ? "" : " :" + interfaces);
    }

    private static Stream<String> members(Class<?> type) {
        Stream<String> fields = Stream.of(type.getDeclaredFields()).filter(ApiSnapshotTest::isOfApi)
                .map(ApiSnapshotTest::text);
        Stream<String> constructors = Stream.of(type.getDeclaredConstructors())
                .filter(ApiSnapshotTest::isOfApi).map(ApiSnapshotTest::text);
        Stream<String> methods = Stream.of(type.getDeclaredMethods())
                .filter(method -> isOfApi(method) && !method.isBridge())
                .map(ApiSnapshotTest::text);
        Stream<String> components = type.isRecord()
                ? Stream.of(Arrays.stream(type.getRecordComponents()).map(RecordComponent::getName)
                        .collect(Collectors.joining(", ", "components ", "")))
                : Stream.empty();
        // Their order is that of compareTo and of values.
        Stream<String> constants = type.isEnum()
                ? Stream.of(Arrays.stream(type.getEnumConstants())
                        .map(constant -> ((Enum<?>) constant).name())
                        .collect(Collectors.joining(", ", "constants ", "")))
                : Stream.empty();
        return Stream.of(fields, constructors, methods, components, constants)
                .flatMap(all -> all);
    }

    private static boolean isOfApi(Member member) {
        return (Modifier.isPublic(member.getModifiers())
                || Modifier.isProtected(member.getModifiers())) && !member.isSynthetic();
    }

    private static String text(Field field) {
        return experimental(field) + "field " + modifiers(field.getModifiers())
                + text(field.getAnnotatedType()) + " " + field.getName();
    }

    private static String text(Executable executable) {
        String parameters = Arrays.stream(executable.getAnnotatedParameterTypes())
                .map(ApiSnapshotTest::text).collect(Collectors.joining(", ", "(", ")"));
        String thrown = Stream.of(executable.getExceptionTypes()).map(Class::getName).sorted()
                .collect(Collectors.joining(", "));
        String head = switch (executable) {
            case Method method -> modifiers(method.getModifiers() & ~Modifier.TRANSIENT
                    & ~Modifier.VOLATILE & ~Modifier.SYNCHRONIZED)
                    + (method.isDefault() ? "default " : "")
                    + text(method.getAnnotatedReturnType()) + " " + method.getName();
            case Constructor<?> constructor ->
                modifiers(constructor.getModifiers() & (Modifier.PUBLIC | Modifier.PROTECTED))
                        + "new";
        };
        return experimental(executable) + head + parameters
                + (executable.isVarArgs() ? " varargs" : "")
                + (thrown.isEmpty() ? "" : " throws " + thrown);
    }

    private static String modifiers(int modifiers) {
        String text = Modifier.toString(modifiers);
        return text.isEmpty() ? "" : text + " ";
    }

    private static String experimental(Class<?> type) {
        return isExperimental(ApiTypes.classFile(type)) ? "@Experimental " : "";
    }

    private static String experimental(Field field) {
        return ApiTypes.classFile(field.getDeclaringClass()).fields().stream()
                .filter(found -> found.fieldName().equalsString(field.getName()))
                .anyMatch(ApiSnapshotTest::isExperimental) ? "@Experimental " : "";
    }

    private static String experimental(Executable executable) {
        String name = executable instanceof Method method ? method.getName() : "<init>";
        Class<?> result = executable instanceof Method method ? method.getReturnType() : void.class;
        String descriptor = MethodType.methodType(result, executable.getParameterTypes())
                .descriptorString();
        return ApiTypes.classFile(executable.getDeclaringClass()).methods().stream()
                .filter(found -> found.methodName().equalsString(name)
                        && found.methodType().equalsString(descriptor))
                .anyMatch(ApiSnapshotTest::isExperimental) ? "@Experimental " : "";
    }

    /** The annotation is in the class file only, so reflection does not see it. */
    private static boolean isExperimental(AttributedElement element) {
        return element.findAttribute(Attributes.runtimeInvisibleAnnotations()).stream()
                .flatMap(found -> found.annotations().stream())
                .anyMatch(found -> found.classSymbol()
                        .equals(Experimental.class.describeConstable().orElseThrow()));
    }

    /** {@return the type with its parameters and with what may be null} */
    private static String text(AnnotatedType type) {
        String nullable = type.isAnnotationPresent(Nullable.class) ? "@Nullable " : "";
        if (type instanceof AnnotatedArrayType array) {
            return nullable + text(array.getAnnotatedGenericComponentType()) + "[]";
        }
        if (type instanceof AnnotatedParameterizedType generic) {
            Class<?> raw = (Class<?>) ((ParameterizedType) generic.getType()).getRawType();
            return nullable + raw.getName()
                    + Arrays.stream(generic.getAnnotatedActualTypeArguments())
                            .map(ApiSnapshotTest::text)
                            .collect(Collectors.joining(", ", "<", ">"));
        }
        return nullable + type.getType().getTypeName();
    }
}
