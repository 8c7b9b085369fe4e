package tech.bsdb.tools.serve;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import tech.bsdb.LookupBatch;
import tech.bsdb.error.WrongShardException;
import tech.bsdb.tools.serve.batch.AnswerFrames;
import tech.bsdb.tools.serve.batch.AnswerWriter;
import tech.bsdb.tools.serve.batch.BatchKeys;
import tech.bsdb.tools.serve.batch.Projection;
import tech.bsdb.tools.serve.batch.RequestRefusedException;
import tech.bsdb.tools.serve.cluster.Cluster.ElsewhereException;

/** The values of many keys, in request order. */
final class BatchLookup extends SlicedAnswer<AnswerWriter> {
  private final BatchKeys keys;
  private final Form form;
  private int together;
  private int first;
  private int next;
  private int end;
  private int hits;

  /**
   * The form of an answer.
   *
   * @param withVersion whether it begins with the version
   * @param frames whether it has frames rather than lines
   * @param fields the fields to keep of values in lines; null for all
   */
  record Form(boolean withVersion, boolean frames, @Nullable Projection fields) {}

  /**
   * A batch whose body has not arrived yet.
   *
   * @param keys takes the body
   */
  BatchLookup(
      Lookups lookups, Exchange exchange, Conditions conditions, BatchKeys keys, Form form) {
    super(lookups, exchange, conditions, form.frames ? MediaType.FRAMES : MediaType.JSON_LINES);
    this.keys = keys;
    this.form = form;
  }

  @Override
  public void body(ByteBuf piece) throws RequestRefusedException {
    keys.take(ByteBufUtil.getBytes(piece));
  }

  @Override
  public void bodyEnded() throws RequestRefusedException {
    keys.end();
  }

  @Override
  int weight() {
    return Math.max(1, Math.min(keys.size(), KEYS));
  }

  @Override
  AnswerWriter begin() throws RequestRefusedException {
    together = together();
    return form.frames ? new AnswerFrames() : served().lines(form.fields);
  }

  @Override
  boolean isQuick() {
    return keys.size() <= together && !lookups().async() && served().mapped();
  }

  @Override
  void write(AnswerWriter answers) throws IOException, ElsewhereException {
    next = first;
    end = first;
    hits = 0;
    int most = Math.min(keys.size(), first + KEYS);
    if (first == 0) {
      requireOwnKeys();
      if (form.withVersion) {
        answers.writeVersion(served().version(), served().id());
      }
    }
    while (next < most && answers.out().length() < BYTES) {
      end = Math.min(most, next + together);
      lookUp(answers);
      next = end;
    }
  }

  @Override
  int asked() {
    return end - next;
  }

  @Override
  void taken() {
    lookups().counts().found(hits, next - first - hits);
    first = next;
  }

  @Override
  boolean isLast() {
    return first == keys.size();
  }

  /** Refuses the batch before its answer begins, if a key belongs to another node or shard. */
  private void requireOwnKeys() throws WrongShardException, ElsewhereException {
    Placement placement = lookups().placement();
    if (placement.cluster() != null) {
      for (int i = 0; i < keys.size(); i++) {
        placement.requireHere(keys.bytes(), keys.offset(i), keys.length(i));
      }
    }
    if (database().isShard()) {
      for (int i = 0; i < keys.size(); i++) {
        database().requireOwn(keys.key(i));
      }
    }
  }

  private void lookUp(AnswerWriter answers) throws IOException {
    LookupBatch asked = batch();
    for (int i = next; i < end; i++) {
      asked.add(keys.key(i));
    }
    asked.get();
    for (int i = next; i < end; i++) {
      int place = i - next;
      if (asked.isPresent(place)) {
        hits++;
      }
      answers.write(
          keys.bytes(),
          keys.offset(i),
          keys.length(i),
          asked.values(),
          asked.offset(place),
          asked.length(place));
    }
  }
}
