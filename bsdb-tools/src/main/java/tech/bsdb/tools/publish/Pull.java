package tech.bsdb.tools.publish;

import java.io.IOException;
import java.nio.file.Path;
import tech.bsdb.DiffListener;
import tech.bsdb.store.Publication;
import tech.bsdb.store.PublishOptions;
import tech.bsdb.store.SourceReplacedException;
import tech.bsdb.tools.cli.Console;
import tech.bsdb.tools.cli.UsageException;
import tech.bsdb.tools.source.DistantDirectory;
import tech.bsdb.transfer.TransferOptions;

/**
 * Brings the current version of a distant store into a local one, checks it and makes it current.
 *
 * @param source the distant store, database or set
 * @param store the local store, which need not exist
 * @param options how the version is published
 * @param transfer how its files are brought
 * @param checks what it must pass before it goes live
 * @param verify whether every key is looked up first
 */
public record Pull(
    DistantDirectory source,
    Path store,
    PublishOptions options,
    TransferOptions transfer,
    Checks checks,
    boolean verify) {
  /** How often to start again because the source was replaced meanwhile. */
  private static final int MOST_REPLACED = 5;

  /** Receives what happens, on the thread of the pull, and decides where there is a choice. */
  public interface Steps extends DiffListener {
    /** It begins, perhaps again. Any thread may close the publication to cancel it. */
    default void begins(Publication publication) {}

    /** Whether the current version, which is that of the source already, may stay. */
    default boolean isSound(Publication publication) throws IOException {
      return true;
    }

    /** There is nothing to pull. */
    void upToDate(Publication publication) throws IOException;

    /** All files are here; the checks follow. */
    default void arrived() {}

    /** The new version is current. */
    void published(Publication publication, Publishing report) throws IOException;
  }

  /**
   * Pulls once, or again if the source is replaced meanwhile.
   *
   * @param program the prefix of messages
   * @param quiet whether nothing is said but errors
   * @throws UsageException if source and store are nested, or the source lacks wanted shards
   */
  public void run(String program, Console console, boolean quiet, Steps steps)
      throws IOException, UsageException {
    for (int attempt = 1; ; attempt++) {
      try (Publication publication = Publication.pull(source, store, options, transfer)) {
        steps.begins(publication);
        Publishing report =
            new Publishing(program, publication, checks, console, quiet, steps, null);
        publication.begin();
        if (publication.isCurrent() && steps.isSound(publication)) {
          publication.upToDate();
          steps.upToDate(publication);
        } else {
          report.publish(verify, steps::arrived);
          steps.published(publication, report);
        }
        return;
      } catch (SourceReplacedException e) {
        if (attempt == MOST_REPLACED) {
          throw e;
        }
        if (!quiet) {
          console.say(program + ": " + e.getMessage());
        }
      } catch (IllegalArgumentException e) {
        throw new UsageException(String.valueOf(e.getMessage()));
      } catch (IOException e) {
        throw Publishing.withSpace(e, store);
      }
    }
  }
}
