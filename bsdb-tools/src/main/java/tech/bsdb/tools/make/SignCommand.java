package tech.bsdb.tools.make;

import java.nio.file.Path;
import java.security.PrivateKey;
import tech.bsdb.Database;
import tech.bsdb.tools.cli.Arguments;
import tech.bsdb.tools.cli.Command;
import tech.bsdb.tools.cli.Console;
import tech.bsdb.tools.cli.UsageException;
import tech.bsdb.tools.inspect.DatabaseOption;
import tech.bsdb.tools.inspect.KeyOptions;

/** {@code bsdb sign}: signs the manifest of a database. */
public final class SignCommand extends Command {
  /** For the service loader. */
  public SignCommand() {
    super("sign", "sign a database, for readers that trust a key");
  }

  @Override
  protected int run(Arguments arguments, Console console) throws Exception {
    PrivateKey key = KeyOptions.signing(arguments);
    if (key == null) {
      throw new UsageException(
          "no private key given (--sign-key); make one with: openssl genpkey -algorithm ed25519 -out"
              + " key.pem");
    }
    Path database = DatabaseOption.current(arguments);
    try {
      Database.sign(database, key);
    } catch (IllegalArgumentException e) {
      throw new UsageException(String.valueOf(e.getMessage()));
    }
    if (!arguments.has("-q")) {
      console.say("signed " + database);
    }
    return OK;
  }
}
