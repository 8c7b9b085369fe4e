package tech.bsdb.write;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import tech.bsdb.Layout;
import tech.bsdb.data.FileRange;
import tech.bsdb.data.RecordScanner;
import tech.bsdb.format.Page;
import tech.bsdb.write.Assembled.Content;

/**
 * Reads the keys of a packed database whose files are finished, whole or in parts that any number
 * of threads read at once, and samples them. Thread-safe.
 */
final class FinishedKeys {
  /** Bytes of the data files in which a thread reads the keys before it starts elsewhere. */
  private static final long PART = 16L << 20;

  /** Where keys are sampled, and how many from each place. */
  private static final int SAMPLE_PLACES = 1024;

  private static final int SAMPLE_OF_PLACE = 4;
  private static final long SAMPLE_BYTES = 4L << 20;

  /** How many keys are read between two looks at whether the build still runs. */
  private static final int UNCHECKED = 1 << 16;

  private final Layout layout;
  private final Runnable checkRunning;
  private final List<Content> data;

  /**
   * Creates an instance.
   *
   * @param assembled the finished files of the database, which has no dictionary
   * @param checkRunning throws if the build was cancelled
   */
  FinishedKeys(Assembled assembled, Layout layout, Runnable checkRunning) {
    this.layout = layout;
    this.checkRunning = checkRunning;
    this.data = assembled.data();
  }

  /** A range of one of the data files. */
  record Part(Content content, FileRange range) {}

  /** Receives keys in any order. */
  @FunctionalInterface
  interface Receiver {
    /** Receives a key. */
    void add(byte[] key) throws IOException;
  }

  /** Reads the keys of some parts. */
  void scan(List<Part> parts, Receiver keys) throws IOException {
    int left = UNCHECKED;
    try (RecordScanner scanner = scanner(parts)) {
      while (scanner.next()) {
        keys.add(scanner.key());
        if (--left == 0) {
          checkRunning.run();
          left = UNCHECKED;
        }
      }
    }
  }

  private RecordScanner scanner(List<Part> parts) throws IOException {
    return new RecordScanner(
        Content.open(parts.stream().map(Part::content).toList()),
        layout,
        null,
        null,
        false,
        parts.stream().map(Part::range).toList());
  }

  /** All of the data files. */
  List<Part> wholes() {
    FileRange whole = FileRange.whole(1).get(0);
    return data.stream().map(content -> new Part(content, whole)).toList();
  }

  /** Pages of the data files, evenly spaced, in the order of the files. */
  List<Part> places() {
    List<Part> places = new ArrayList<>();
    long pages = 0;
    for (Content content : data) {
      pages += content.entry().pages() - 2;
    }
    for (Content content : data) {
      long own = content.entry().pages() - 2;
      long count = Math.max(1, SAMPLE_PLACES * own / Math.max(1, pages));
      for (long i = 0; i < count; i++) {
        long position = 1 + own * i / count << Page.SHIFT;
        places.add(new Part(content, new FileRange(position, position + Page.SIZE)));
      }
    }
    return places;
  }

  /** Keys from some places, a few of each. */
  List<byte[]> sample(List<Part> places) throws IOException {
    List<byte[]> keys = new ArrayList<>();
    long bytes = 0;
    List<Part> mixed = new ArrayList<>(places);
    Collections.shuffle(mixed, new Random(0)); // so that a limit cuts off some from everywhere
    for (Part place : mixed) {
      try (RecordScanner scanner = scanner(List.of(place))) {
        for (int i = 0; i < SAMPLE_OF_PLACE && scanner.next(); i++) {
          byte[] key = scanner.key();
          keys.add(key);
          bytes += key.length;
        }
      }
      if (bytes > SAMPLE_BYTES) {
        break;
      }
    }
    return keys;
  }

  /** Divides the data files into parts, which start at some of the places. */
  List<Part> parts(List<Part> places) {
    List<Part> parts = new ArrayList<>();
    for (Content content : data) {
      long from = Page.SIZE;
      for (Part place : places) {
        long start = place.range.from();
        if (place.content.equals(content) && start - from >= PART) {
          parts.add(new Part(content, new FileRange(from, start)));
          from = start;
        }
      }
      parts.add(new Part(content, new FileRange(from, Long.MAX_VALUE)));
    }
    return parts;
  }
}
