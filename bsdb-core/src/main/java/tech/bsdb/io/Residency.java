package tech.bsdb.io;

import java.io.IOException;
import java.nio.file.Path;

/** Estimates how much of a file is in memory, from a fixed number of its pages. */
public final class Residency {
  private static final int SAMPLES = 64;

  private Residency() {}

  /** The share of sampled pages, 0 to 1, that the page cache holds. */
  public static double of(Path file, long length) throws IOException {
    long pages = length / PageSource.PAGE;
    int samples = (int) Math.min(SAMPLES, pages);
    int resident = 0;
    try (Mapping mapping = Mapping.open(file, length)) {
      for (int i = 0; i < samples; i++) {
        long page = pages / samples * i + pages % samples * i / samples;
        if (mapping.isResident(page * PageSource.PAGE)) {
          resident++;
        }
      }
    }
    return (double) resident / samples;
  }
}
