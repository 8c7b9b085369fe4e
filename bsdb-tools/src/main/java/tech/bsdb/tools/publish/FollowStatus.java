package tech.bsdb.tools.publish;

import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** How far a store is that follows a source, and why it is not further. Thread-safe. */
public final class FollowStatus {
  /** What is being done. */
  private enum State {
    /** Until the next look at the source; the last one succeeded. */
    WAITING,
    /** Reading what the source offers. */
    CHECKING,
    /** Bringing files. */
    PULLING,
    /** Checking the data that arrived, and comparing it with the current version. */
    COMPARING,
    /** Until the next attempt; the last one failed. */
    FAILED
  }

  private final String source;
  private State state = State.WAITING;
  private boolean behind;
  private @Nullable String offeredVersion;
  private @Nullable String offeredId;
  private long doneBytes;
  private long allBytes;
  private long fetchedBytes;
  private @Nullable Instant checkedAt;
  private @Nullable Instant pulledAt;
  private @Nullable String pulledVersion;
  private int failures;
  private long allFailures;
  private @Nullable String retry;
  private @Nullable String error;
  private @Nullable Instant failedAt;
  private @Nullable Instant nextAt;

  FollowStatus(String source) {
    this.source = source;
  }

  synchronized void checking() {
    state = State.CHECKING;
    retry = null;
    nextAt = null;
  }

  synchronized void offered(@Nullable String version, String id, boolean isNew, Instant now) {
    offeredVersion = version;
    offeredId = id;
    behind = isNew;
    checkedAt = now;
  }

  synchronized void pulling() {
    state = State.PULLING;
  }

  synchronized void arrived(long done, long all) {
    doneBytes = done;
    allBytes = all;
  }

  synchronized void retrying(String why) {
    retry = why;
  }

  synchronized void received(long bytes) {
    fetchedBytes += bytes;
  }

  synchronized void comparing() {
    state = State.COMPARING;
  }

  synchronized void pulled(String version, Instant now) {
    pulledVersion = version;
    pulledAt = now;
  }

  synchronized void succeeded(Instant next) {
    end(State.WAITING, next);
    behind = false;
    failures = 0;
    error = null;
    failedAt = null;
  }

  synchronized void failed(String why, Instant now, Instant next) {
    end(State.FAILED, next);
    failures++;
    allFailures++;
    error = why;
    failedAt = now;
  }

  private void end(State ended, Instant next) {
    state = ended;
    doneBytes = 0;
    allBytes = 0;
    retry = null;
    nextAt = next;
  }

  /** How many attempts failed in a row. */
  synchronized int failures() {
    return failures;
  }

  /** Returns all figures by their names for programs; moments are {@link Instant}s. */
  public synchronized Map<String, @Nullable Object> figures() {
    Map<String, @Nullable Object> map = new LinkedHashMap<>();
    map.put("source", source);
    map.put("state", state.name().toLowerCase(Locale.ROOT));
    map.put("behind", behind);
    map.put("offeredVersion", offeredVersion);
    map.put("offeredId", offeredId);
    map.put("doneBytes", doneBytes);
    map.put("pullBytes", allBytes);
    map.put("remainingBytes", allBytes - doneBytes);
    map.put("fetchedBytes", fetchedBytes);
    map.put("checkedAt", checkedAt);
    map.put("pulledAt", pulledAt);
    map.put("pulledVersion", pulledVersion);
    map.put("failures", failures);
    map.put("allFailures", allFailures);
    map.put("retry", retry);
    map.put("error", error);
    map.put("failedAt", failedAt);
    map.put("nextAt", nextAt);
    return map;
  }
}
