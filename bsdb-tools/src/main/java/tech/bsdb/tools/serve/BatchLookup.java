package tech.bsdb.tools.serve;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import tech.bsdb.error.WrongShardException;
import tech.bsdb.tools.serve.batch.AnswerFrames;
import tech.bsdb.tools.serve.batch.AnswerWriter;
import tech.bsdb.tools.serve.batch.BatchKeys;
import tech.bsdb.tools.serve.batch.Projection;
import tech.bsdb.tools.serve.batch.RequestRefusedException;
import tech.bsdb.tools.serve.cluster.Cluster.ElsewhereException;

/** The values of many keys, in request order. */
final class BatchLookup extends SlicedAnswer<AnswerWriter> {
  private final BatchKeys body;
  private final Form form;
  private int together;
  private int first;
  private int next;

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
   * @param body takes the body
   */
  BatchLookup(
      Lookups lookups, Exchange exchange, Conditions conditions, BatchKeys body, Form form) {
    super(lookups, exchange, conditions, form.frames ? MediaType.FRAMES : MediaType.JSON_LINES);
    this.body = body;
    this.form = form;
  }

  @Override
  public void body(ByteBuf piece) throws RequestRefusedException {
    body.take(ByteBufUtil.getBytes(piece));
  }

  @Override
  public long keptBesidesBody() {
    return body.kept();
  }

  @Override
  public void bodyEnded() throws RequestRefusedException {
    body.end();
  }

  @Override
  int weight() {
    return Math.max(1, Math.min(body.size(), KEYS));
  }

  @Override
  AnswerWriter begin() throws RequestRefusedException {
    together = together();
    return form.frames ? new AnswerFrames() : served().lines(form.fields);
  }

  @Override
  boolean isQuick() {
    return body.size() <= together && !lookups.async && served().version().statistics.readsMemory();
  }

  @Override
  void write(AnswerWriter answers) throws IOException, ElsewhereException {
    next = first;
    if (first == 0) {
      requireOwnKeys();
      if (form.withVersion) {
        answers.writeVersion(served().version().name, served().version().id());
      }
    }
    int most = Math.min(body.size(), first + KEYS);
    while (next < most && answers.out().length() < BYTES) {
      keys.clear();
      for (int end = Math.min(most, next + together); next < end; next++) {
        keys.add(body.key(next));
      }
      lookUp(answers);
    }
  }

  @Override
  void taken() {
    first = next;
  }

  @Override
  boolean isLast() {
    return first == body.size();
  }

  /** Refuses the batch before its answer begins, if a key belongs to another node or shard. */
  private void requireOwnKeys() throws WrongShardException, ElsewhereException {
    boolean ofShard = database().isShard();
    if (ofShard || lookups.cluster != null) {
      for (int i = 0; i < body.size(); i++) {
        byte[] key = body.key(i);
        lookups.requireHere(key);
        if (ofShard) {
          database().requireOwn(key);
        }
      }
    }
  }
}
