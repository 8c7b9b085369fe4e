package tech.bsdb.tools.parquet;

import java.util.Optional;
import java.util.PrimitiveIterator;
import org.apache.parquet.column.ColumnDescriptor;
import org.apache.parquet.column.page.DataPage;
import org.apache.parquet.column.page.DictionaryPage;
import org.apache.parquet.column.page.PageReadStore;
import org.apache.parquet.column.page.PageReader;
import org.jspecify.annotations.Nullable;

/**
 * The pages of a row group without empty ones, which some writers leave in nested columns (pyarrow,
 * where the last rows begin a page) and column readers treat as damage.
 */
final class FilledPages implements PageReadStore {
  private final PageReadStore pages;

  FilledPages(PageReadStore pages) {
    this.pages = pages;
  }

  @Override
  public PageReader getPageReader(ColumnDescriptor column) {
    return new Filled(pages.getPageReader(column));
  }

  @Override
  public long getRowCount() {
    return pages.getRowCount();
  }

  @Override
  public Optional<Long> getRowIndexOffset() {
    return pages.getRowIndexOffset();
  }

  @Override
  public Optional<PrimitiveIterator.OfLong> getRowIndexes() {
    return pages.getRowIndexes();
  }

  @Override
  public void close() {
    pages.close();
  }

  private record Filled(PageReader pages) implements PageReader {

    @Override
    public @Nullable DictionaryPage readDictionaryPage() {
      return pages.readDictionaryPage();
    }

    @Override
    public long getTotalValueCount() {
      return pages.getTotalValueCount();
    }

    @Override
    public @Nullable DataPage readPage() {
      DataPage page = pages.readPage();
      while (page != null && page.getValueCount() == 0) {
        page = pages.readPage();
      }
      return page;
    }
  }
}
