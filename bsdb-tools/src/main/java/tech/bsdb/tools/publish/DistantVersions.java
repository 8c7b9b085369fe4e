package tech.bsdb.tools.publish;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import tech.bsdb.store.Pointer;
import tech.bsdb.store.StoredVersion;
import tech.bsdb.store.VersionName;
import tech.bsdb.tools.source.DistantDirectory;
import tech.bsdb.tools.source.DistantDirectory.Entry;
import tech.bsdb.transfer.Consignment;
import tech.bsdb.transfer.Shipment;
import tech.bsdb.transfer.TransferOptions;

/** The versions of a store elsewhere: lists them, and makes another one current. */
final class DistantVersions {
  private static final List<Long> PAUSES = List.of(1_000L);
  private static final TransferOptions TRANSFER =
      TransferOptions.defaults().withAttempts(2, Duration.ofSeconds(1));

  private final DistantDirectory directory;
  private final DistantStore store;

  DistantVersions(DistantDirectory directory) {
    this.directory = directory;
    this.store = new DistantStore(directory, new Attempts(directory, PAUSES, why -> {}));
  }

  /** The name of the current version, or null. */
  @Nullable String current() throws IOException {
    Pointer now = store.pointer();
    return now == null ? null : now.current();
  }

  /**
   * The versions that are complete, in natural order of their names.
   *
   * @throws NoSuchFileException if there is no store
   */
  List<StoredVersion> versions() throws IOException {
    String current = current();
    List<StoredVersion> versions = new ArrayList<>();
    complete().forEach((name, files) -> versions.add(version(name, name.equals(current), files)));
    return versions;
  }

  /** The files of the versions that are complete, by their names, in natural order of these. */
  private SortedMap<String, Map<String, Entry>> complete() throws IOException {
    SortedMap<String, Map<String, Entry>> versions = new TreeMap<>(VersionName.NATURAL);
    List<Entry> entries = store.entries();
    String current = current();
    for (Entry entry : entries) {
      if (DistantStore.isVersion(entry)
          && !store.unfinished(List.of(entry)).contains(entry.name())) {
        Map<String, Entry> files = store.files(entry.name());
        if (entry.name().equals(current) || files.containsKey(Consignment.MANIFEST)) {
          versions.put(entry.name(), files);
        }
      }
    }
    if (versions.isEmpty() && current == null) {
      throw new NoSuchFileException(
          directory.location(""),
          null,
          "no store there; create one with: bsdb push DB " + directory.location(""));
    }
    return versions;
  }

  private StoredVersion version(String name, boolean current, Map<String, Entry> files) {
    long records = -1;
    try {
      records = sound(name, files).records();
    } catch (IOException damaged) {
      // it cannot be opened
    }
    long bytes = files.values().stream().mapToLong(Entry::length).sum();
    Instant modified =
        files.values().stream()
            .map(Entry::modified)
            .max(Comparator.naturalOrder())
            .orElse(Instant.EPOCH);
    return new StoredVersion(name, Path.of(name), current, modified, records, bytes);
  }

  /** Fails unless all files of a version are there, with the right lengths. */
  private Shipment sound(String version, Map<String, Entry> files) throws IOException {
    Shipment shipment = Shipment.read(directory, version, TRANSFER, () -> {});
    Map<String, Long> expected = shipment.files(directory, TRANSFER, () -> {});
    for (Map.Entry<String, Long> file : expected.entrySet()) {
      Entry found = files.get(file.getKey());
      if (found == null || found.length() != file.getValue()) {
        throw new FileSystemException(
            directory.location(version + "/" + file.getKey()),
            null,
            (found == null ? "is missing" : "has " + found.length() + " bytes")
                + ", but should have "
                + file.getValue()
                + " bytes; push the database again");
      }
    }
    return shipment;
  }

  /**
   * Makes another version current, unless it lacks files.
   *
   * @param version its name, or null for the previously current one; if that is unknown, the one
   *     whose name precedes the current one's
   * @return its name
   * @throws IllegalArgumentException if no version can have the name
   */
  String rollback(@Nullable String version) throws IOException {
    if (version != null) {
      String unused = VersionName.checked(version);
    }
    List<String> versions = List.copyOf(complete().keySet());
    Pointer now = store.pointer();
    String target = version == null ? previous(now, versions) : version;
    Map<String, Entry> files = store.files(target);
    if (files.isEmpty()) {
      throw new NoSuchFileException(
          directory.location(target),
          null,
          "no such version; to list them: bsdb versions " + directory.location(""));
    }
    Shipment unused = sound(target, files);
    if (now == null || version == null && !now.chain().contains(target)) {
      store.point(Pointer.to(target));
    } else if (!now.current().equals(target)) {
      store.point(now.backTo(target));
    }
    return target;
  }

  private String previous(@Nullable Pointer now, List<String> names) throws NoSuchFileException {
    if (now == null) {
      throw new NoSuchFileException(
          directory.location(Pointer.FILE),
          null,
          "names no version, so there is nothing to roll back to; choose a version: bsdb rollback "
              + directory.location("")
              + " VERSION");
    }
    return now.chain().stream()
        .filter(names::contains)
        .findFirst()
        .or(
            () ->
                names.stream()
                    .filter(name -> VersionName.NATURAL.compare(name, now.current()) < 0)
                    .max(VersionName.NATURAL))
        .orElseThrow(
            () ->
                new NoSuchFileException(
                    directory.location(""), null, "there is no version before " + now.current()));
  }
}
