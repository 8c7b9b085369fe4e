package tech.bsdb.tools.serve;

import io.netty.buffer.ByteBuf;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import tech.bsdb.Database;
import tech.bsdb.LookupBatch;
import tech.bsdb.error.MemoryBudgetExceededException;
import tech.bsdb.error.WrongShardException;
import tech.bsdb.tools.serve.batch.AnswerWriter;
import tech.bsdb.tools.serve.batch.BadRequestException;
import tech.bsdb.tools.serve.batch.KeyList;
import tech.bsdb.tools.serve.batch.KeyStream;
import tech.bsdb.tools.serve.client.HeldMemory;
import tech.bsdb.tools.serve.cluster.Cluster.ElsewhereException;
import tech.bsdb.tools.text.NoRoomException;

/** The values of many keys, in request order. */
final class BatchLookup implements Slices {
  private final Lookups lookups;
  private final KeyStream body;
  private final boolean withVersion;
  private final SliceBuffers.WriterFactory<AnswerWriter> form;
  private final MediaType type;
  private @Nullable Database database;
  private @Nullable Identity identity;
  private @Nullable SliceBuffers<AnswerWriter> buffers;
  private int together;
  private int first;
  private int next;
  private int hits;

  /**
   * A batch whose body has not arrived yet.
   *
   * @param body takes the body
   * @param withVersion whether the answer begins with the version
   * @param form creates the writer of the answer, whose type is {@code type}
   */
  BatchLookup(
      Lookups lookups,
      KeyStream body,
      boolean withVersion,
      SliceBuffers.WriterFactory<AnswerWriter> form,
      MediaType type) {
    this.lookups = lookups;
    this.body = body;
    this.withVersion = withVersion;
    this.form = form;
    this.type = type;
  }

  @Override
  public void body(ByteBuf piece) throws BadRequestException {
    body.feed(piece.nioBuffer());
  }

  @Override
  public void bodyEnded() throws BadRequestException {
    body.end();
  }

  @Override
  public MediaType type() {
    return type;
  }

  @Override
  public int weight() {
    return Math.max(1, Math.min(body.keys().size(), KEYS));
  }

  @Override
  public boolean begin(Database from, Identity by, HeldMemory.Share working)
      throws RequestRefusedException {
    buffers = new SliceBuffers<>(from, working, form);
    database = from;
    identity = by;
    together = SliceBuffers.together(lookups.longestValue(from));
    return body.keys().size() <= together && !lookups.async() && lookups.mapped(from);
  }

  @Override
  public void write() throws IOException, ElsewhereException {
    next = first;
    hits = 0;
    int most = Math.min(body.keys().size(), first + KEYS);
    int end = first;
    try {
      AnswerWriter answers = Slices.begun(buffers).writer();
      answers.reset();
      if (first == 0) {
        requireOwnKeys();
      }
      if (withVersion && first == 0) {
        Identity by = Slices.begun(identity);
        answers.writeVersion(by.version(), by.id());
      }
      while (next < most && answers.length() < BYTES) {
        end = Math.min(most, next + together);
        lookUp(end, answers);
        next = end;
      }
    } catch (MemoryBudgetExceededException
        | NoRoomException
        | WrongShardException
        | ElsewhereException e) {
      throw e;
    } catch (IOException | RuntimeException | Error e) {
      lookups.counts().error(end - next);
      throw e;
    }
  }

  @Override
  public void taken() {
    lookups.counts().found(hits, next - first - hits);
    first = next;
    Slices.begun(buffers).countKept(0);
  }

  @Override
  public boolean isLast() {
    return first == body.keys().size();
  }

  @Override
  public byte[] buffer() {
    return Slices.begun(buffers).written();
  }

  @Override
  public int length() {
    return Slices.begun(buffers).length();
  }

  @Override
  public void dropMemory() {
    Slices.begun(buffers).drop();
  }

  /** Refuses the batch before its answer begins, if a key belongs to another node or shard. */
  private void requireOwnKeys() throws WrongShardException, ElsewhereException {
    KeyList keys = body.keys();
    Placement placement = lookups.placement();
    if (placement.cluster() != null) {
      for (int i = 0; i < keys.size(); i++) {
        placement.requireHere(keys.bytes(), keys.offset(i), keys.length(i));
      }
    }
    Database own = Slices.begun(database);
    if (own.isShard()) {
      for (int i = 0; i < keys.size(); i++) {
        own.requireOwn(keys.key(i));
      }
    }
  }

  private void lookUp(int end, AnswerWriter answers) throws IOException {
    KeyList keys = body.keys();
    LookupBatch asked = Slices.begun(buffers).batch();
    asked.clear();
    for (int i = next; i < end; i++) {
      asked.add(keys.key(i));
    }
    asked.get();
    for (int i = next; i < end; i++) {
      int place = i - next;
      if (asked.isPresent(place)) {
        hits++;
        answers.write(
            keys.bytes(),
            keys.offset(i),
            keys.length(i),
            asked.values(),
            asked.offset(place),
            asked.length(place));
      } else {
        answers.writeAbsent(keys.bytes(), keys.offset(i), keys.length(i));
      }
    }
  }
}
