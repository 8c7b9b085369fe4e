package tech.bsdb.spark.write;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tech.bsdb.store.VersionPointer;
import tech.bsdb.tools.source.DistantDirectory;

/**
 * What a write did.
 *
 * @param store the location of the store
 * @param version the name of the version
 * @param before the pointer of before, or null
 * @param results those of the shards
 * @param bad the rows that were left out
 * @param removed the names of old versions that were removed
 */
record WriteReport(
    String store,
    String version,
    @Nullable VersionPointer before,
    List<ShardResult> results,
    BadRows bad,
    List<String> removed) {
  private static final Logger LOG = LoggerFactory.getLogger(WriteReport.class);

  /** Logs it, and writes it to a file if one is wanted; a failure to do so is logged, too. */
  void tell(WriteSettings settings, Configuration hadoop) {
    LOG.info("{}: version {} is current: {}", store, version, content());
    if (!bad.isEmpty()) {
      LOG.warn(
          "{}: version {} lacks {} rows that were left out: {}",
          store,
          version,
          bad.count(),
          bad.byReason());
    }
    String file = settings.report();
    if (file != null) {
      try {
        write(new Path(file), hadoop);
      } catch (IOException | IllegalArgumentException e) {
        LOG.warn("version {} is current, but its report was not written", version, e);
      }
    }
  }

  private void write(Path file, Configuration hadoop) throws IOException {
    byte[] json = new ObjectMapper().writeValueAsBytes(content());
    Path parent = file.getParent();
    try (DistantDirectory directory =
        DistantDirectory.open(parent == null ? "." : parent.toString(), hadoop)) {
      directory.write(file.getName(), new ByteArrayInputStream(json));
    }
  }

  private Map<String, @Nullable Object> content() {
    Map<String, @Nullable Object> content = new LinkedHashMap<>();
    content.put("store", store);
    content.put("version", version);
    content.put("previous", before == null ? null : before.current());
    content.put("shards", results.size());
    content.put("records", results.stream().mapToLong(ShardResult::records).sum());
    content.put("bytes", results.stream().mapToLong(ShardResult::bytes).sum());
    content.put(
        "duplicatesDropped", results.stream().mapToLong(ShardResult::duplicatesDropped).sum());
    content.put("valuesCut", results.stream().mapToLong(ShardResult::valuesCut).sum());
    content.put("rowsLeftOut", bad.count());
    content.put("leftOutByReason", bad.byReason());
    content.put("removed", removed);
    return content;
  }
}
