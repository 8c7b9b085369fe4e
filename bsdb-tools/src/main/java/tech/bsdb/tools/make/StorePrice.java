package tech.bsdb.tools.make;

import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.cli.Arguments;
import tech.bsdb.tools.cli.UsageException;

/**
 * What an object store takes for requests.
 *
 * @param name the option's value
 * @param perMillion US dollars for a million GET requests
 */
record StorePrice(String name, double perMillion) {
  /** The stores, whose list prices in the United States were looked up in 2026. */
  private enum Store {
    /** S3 Standard. */
    S3(0.40),
    /** Cloud Storage Standard, operations of class B. */
    GS(0.40),
    /** Blob Storage Hot, reads. */
    AZURE(0.50);

    private final double perMillion;

    Store(double perMillion) {
      this.perMillion = perMillion;
    }
  }

  /** The store that the options name, or null if they name none. */
  static @Nullable StorePrice of(Arguments arguments) throws UsageException {
    if (!arguments.has("--store")) {
      arguments.refuse(
          List.of("--request-price"), "needs --store, which names whose requests they are");
      return null;
    }
    Store store = arguments.choice("--store", Store.class, Store.S3);
    return new StorePrice(
        store.name().toLowerCase(Locale.ROOT),
        arguments.decimal("--request-price", 0, 1_000_000, store.perMillion));
  }
}
