package tech.bsdb.spark;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** {@code bsdb build-parquet}, for builds to compare with. */
public final class BuildParquet {
  private static final ClassLoader LOADER = loader();

  private BuildParquet() {}

  /**
   * Where the command comes from: the class path of the tests, unless scripts/test-spark-versions
   * gives another one, because an old Spark has libraries that are too old for the command.
   */
  private static ClassLoader loader() {
    String given = System.getProperty("bsdb.commands.classpath");
    if (given == null) {
      return BuildParquet.class.getClassLoader();
    }
    List<URL> places = new ArrayList<>();
    for (String place : given.split(File.pathSeparator, -1)) {
      try {
        places.add(Path.of(place).toUri().toURL());
      } catch (MalformedURLException e) {
        throw new IllegalArgumentException(place, e);
      }
    }
    return new URLClassLoader(places.toArray(new URL[0]), ClassLoader.getPlatformClassLoader());
  }

  /** Runs the command, which must succeed. */
  public static void run(List<String> line) throws Exception {
    Class<?> command = LOADER.loadClass("tech.bsdb.tools.ParquetBuilder");
    Class<?> console = LOADER.loadClass("tech.bsdb.tools.cli.Console");
    ByteArrayOutputStream said = new ByteArrayOutputStream();
    Object place =
        console
            .getConstructor(
                InputStream.class, OutputStream.class, OutputStream.class, boolean.class)
            .newInstance(InputStream.nullInputStream(), said, said, false);
    Object builder = command.getConstructor().newInstance();
    ClassLoader before = Thread.currentThread().getContextClassLoader();
    Thread.currentThread().setContextClassLoader(LOADER);
    try {
      Object code =
          command
              .getMethod("run", List.class, console)
              .invoke(builder, new ArrayList<>(line), place);
      assertThat(code).as(() -> said.toString(UTF_8)).isEqualTo(0);
    } finally {
      Thread.currentThread().setContextClassLoader(before);
    }
  }
}
