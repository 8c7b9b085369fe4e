import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.classfile.ClassBuilder;
import java.lang.classfile.ClassElement;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.CodeModel;
import java.lang.classfile.FieldModel;
import java.lang.classfile.MethodModel;
import java.lang.classfile.MethodTransform;
import java.lang.classfile.attribute.SourceFileAttribute;
import java.lang.module.ModuleDescriptor;
import java.lang.reflect.AccessFlag;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.util.ArrayDeque;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.jar.JarFile;
import java.util.stream.Collectors;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/**
 * Reduces a module's jar to its API: the classes of the exported packages and what they inherit from, without bodies of
 * methods and without members that only the package sees. The same jar gives the same bytes.
 *
 * <p>Run from source with Java 24 or newer: {@code java ApiJar.java bsdb-core.jar api.jar}.
 */
final class ApiJar {
  private static final LocalDateTime TIME = LocalDateTime.of(2025, 1, 1, 0, 0);

  public static void main(String[] args) throws IOException {
    Map<String, ClassModel> classes = new TreeMap<>();
    Set<String> exported;
    try (JarFile jar = new JarFile(args[0])) {
      for (var entries = jar.entries(); entries.hasMoreElements(); ) {
        var entry = entries.nextElement();
        String name = entry.getName();
        if (name.endsWith(".class") && !name.startsWith("META-INF/")) {
          try (InputStream in = jar.getInputStream(entry)) {
            classes.put(name.substring(0, name.length() - ".class".length()), ClassFile.of().parse(in.readAllBytes()));
          }
        }
      }
      try (InputStream in = jar.getInputStream(jar.getJarEntry("META-INF/versions/17/module-info.class"))) {
        exported = ModuleDescriptor.read(new ByteArrayInputStream(in.readAllBytes())).exports().stream()
            .filter(export -> !export.isQualified())
            .map(export -> export.source().replace('.', '/'))
            .collect(Collectors.toSet());
      }
    }
    Set<String> kept = new TreeSet<>();
    Queue<String> next = new ArrayDeque<>();
    for (var each : classes.entrySet()) {
      boolean seen = each.getValue().flags().has(AccessFlag.PUBLIC) || each.getKey().contains("$");
      if (seen && exported.contains(each.getKey().substring(0, each.getKey().lastIndexOf('/'))) && isNamed(each.getKey())) {
        next.add(each.getKey());
      }
    }
    while (!next.isEmpty()) {
      String name = next.remove();
      ClassModel model = classes.get(name);
      if (model != null && kept.add(name)) {
        model.superclass().ifPresent(above -> next.add(above.asInternalName()));
        model.interfaces().forEach(above -> next.add(above.asInternalName()));
      }
    }
    Path target = Path.of(args[1]);
    try (OutputStream out = Files.newOutputStream(target);
        ZipOutputStream zip = new ZipOutputStream(out)) {
      for (String name : kept) {
        ZipEntry entry = new ZipEntry(name + ".class");
        entry.setTimeLocal(TIME);
        zip.putNextEntry(entry);
        zip.write(reduced(classes.get(name)));
      }
    }
    System.out.println(target + ": " + kept.size() + " classes, " + Files.size(target) + " bytes");
  }

  /** Whether no part of the name is a number, which anonymous and local classes have. */
  private static boolean isNamed(String name) {
    return !name.matches(".*\\$[0-9].*");
  }

  private static byte[] reduced(ClassModel model) {
    return ClassFile.of(ClassFile.DebugElementsOption.DROP_DEBUG, ClassFile.ConstantPoolSharingOption.NEW_POOL)
        .transformClass(model, ApiJar::reduce);
  }

  private static void reduce(ClassBuilder builder, ClassElement element) {
    if (element instanceof MethodModel method) {
      if (isSeen(method.flags().flags())) {
        builder.transformMethod(method, MethodTransform.dropping(part -> part instanceof CodeModel));
      }
    } else if (element instanceof FieldModel field) {
      if (isSeen(field.flags().flags()) || field.fieldName().equalsString("serialVersionUID")) {
        builder.with(field);
      }
    } else if (!(element instanceof SourceFileAttribute)) {
      builder.with(element);
    }
  }

  private static boolean isSeen(Set<AccessFlag> flags) {
    return flags.contains(AccessFlag.PUBLIC) || flags.contains(AccessFlag.PROTECTED);
  }
}
