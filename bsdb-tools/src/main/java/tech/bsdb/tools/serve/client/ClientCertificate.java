package tech.bsdb.tools.serve.client;

import java.security.SignatureException;
import java.security.cert.CertPathBuilderException;
import java.security.cert.CertificateExpiredException;
import java.security.cert.CertificateNotYetValidException;
import java.security.cert.CertificateParsingException;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import javax.naming.InvalidNameException;
import javax.naming.ldap.LdapName;
import javax.naming.ldap.Rdn;
import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.SSLSession;

/** What the certificate of a client says about who it is, and why one was refused. */
final class ClientCertificate {
  /** The kinds of alternative names that are texts: mail addresses, host names and URIs. */
  private static final Set<Object> TEXTS = Set.of(1, 2, 6);

  private ClientCertificate() {}

  /** Returns the names of the client of a session, none if it has shown no certificate. */
  static List<String> names(SSLSession session) {
    try {
      return session.getPeerCertificates()[0] instanceof X509Certificate shown
          ? names(shown)
          : List.of();
    } catch (SSLPeerUnverifiedException e) {
      return List.of();
    }
  }

  /** Returns the alternative names of a certificate, then its common names. */
  private static List<String> names(X509Certificate shown) {
    List<String> names = new ArrayList<>();
    try {
      Collection<List<?>> alternatives = shown.getSubjectAlternativeNames();
      for (List<?> each : alternatives == null ? List.<List<?>>of() : alternatives) {
        if (TEXTS.contains(each.get(0))) {
          names.add(each.get(1).toString());
        }
      }
      for (Rdn each : new LdapName(shown.getSubjectX500Principal().getName()).getRdns()) {
        if (each.getType().equalsIgnoreCase("CN")) {
          names.add(each.getValue().toString());
        }
      }
    } catch (CertificateParsingException | InvalidNameException e) {
      return List.of(); // verified, but of nobody that a file could name
    }
    return names;
  }

  /** Says why a handshake failed. */
  static String failure(Throwable thrown) {
    Throwable root = thrown;
    while (root.getCause() != null) {
      root = root.getCause();
    }
    String why = String.valueOf(root.getMessage()).replaceAll("\\p{Cntrl}", " ");
    if (root instanceof CertificateExpiredException) {
      return "the certificate of the client has expired (" + why + ")";
    }
    if (root instanceof CertificateNotYetValidException) {
      return "the certificate of the client is not valid yet (" + why + ")";
    }
    if (root instanceof CertPathBuilderException || root instanceof SignatureException) {
      return "no authority of --tls-client-ca has signed the certificate of the client";
    }
    return why.contains("Empty client certificate chain")
        ? "the client has shown no certificate"
        : why;
  }
}
