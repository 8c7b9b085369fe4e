package tech.bsdb.tools.input;

import org.jspecify.annotations.Nullable;
import tech.bsdb.RecordBatch;

/** The reasons why a line is not a record, in the order of reports. */
enum Defect {
  EMPTY_LINE("empty line"),
  NO_SEPARATOR("no separator"),
  INVALID_ENCODING("invalid bytes for the encoding"),
  TOO_FEW_COLUMNS("fewer columns than the header"),
  TOO_MANY_COLUMNS("more columns than the header"),
  UNCLOSED_QUOTE("a quote is never closed"),
  TEXT_AFTER_QUOTE("text between a closing quote and the next delimiter"),
  LONE_CARRIAGE_RETURN("a carriage return outside quotes that ends no line"),
  NOT_JSON("not a JSON object"),
  NO_KEY_FIELD("no key field"),
  KEY_FIELD_TWICE("the key field comes twice"),
  DELETE_FIELD_TWICE("the field of --delete-field comes twice"),
  KEY_FIELD_NOT_TEXT("the key field is null, an object or an array"),
  NOT_OF_SCHEMA("a field that is not as the schema says"),
  UNKNOWN_FIELD("a field that the schema does not have"),
  ROW_TOO_LONG("row longer than what is kept of it"),
  KEY_NOT_IN_ENCODING("key not in its encoding"),
  VALUE_NOT_IN_ENCODING("value not in its encoding"),
  EMPTY_KEY("empty key"),
  KEY_TOO_LONG("key longer than " + RecordBatch.MAX_KEY_LENGTH + " bytes"),
  VALUE_TOO_LONG("value longer than " + RecordBatch.MAX_VALUE_LENGTH + " bytes"),
  LINE_TOO_LONG("line longer than " + ChunkReader.LONGEST_RECORD + " bytes"),

  /** Not the line's fault, so it stops the reading whatever the options. */
  TOO_LONG_FOR_HEAP("line too long for the heap; give Java more memory, as with -Xmx");

  private final String label;

  Defect(String label) {
    this.label = label;
  }

  /** The reason under which such lines are counted. */
  String label() {
    return label;
  }

  /**
   * The reason as it is reported.
   *
   * @param detail a more specific error message than {@link #describe}, or null
   */
  Parsed.Reason reason(@Nullable String detail, InputOptions options) {
    boolean stops = this == TOO_LONG_FOR_HEAP || options.onBadLine() == InputOptions.OnBadLine.FAIL;
    String message = detail == null ? describe(options) : detail;
    return new Parsed.Reason(label, message, tip(options), stops);
  }

  /** The reason as an error message. */
  String describe(InputOptions options) {
    return switch (this) {
      case NO_SEPARATOR ->
          options.format() instanceof Format.Text text
              ? "no separator \"" + text.separator().replace("\t", "\\t") + "\" in the line"
              : label;
      case INVALID_ENCODING -> "bytes that are not valid " + options.encoding().name();
      case NO_KEY_FIELD ->
          options.format() instanceof Format.JsonLines json
              ? "no field \"" + json.keyField() + "\" in the JSON object"
              : label;
      case ROW_TOO_LONG -> {
        Format.Rows rows = options.format().rows();
        yield rows == null
            ? label
            : "the row is longer than the " + rows.longest() + " bytes of --approximate-width";
      }
      case KEY_NOT_IN_ENCODING -> "the key is not " + options.keyEncoding().label();
      case VALUE_NOT_IN_ENCODING -> "the value is not " + options.valueEncoding().label();
      default -> label;
    };
  }

  /** The options that would let such a line pass. */
  private String tip(InputOptions options) {
    if (options.format() instanceof Format.Keys) { // whoever skips a deletion keeps its record
      return this == EMPTY_LINE ? "--allow-empty-key takes it as the empty key" : "";
    }
    return switch (this) {
      case EMPTY_KEY -> "--allow-empty-key allows it, --on-bad-line skip leaves such lines out";
      case UNKNOWN_FIELD ->
          "--ignore-extra-fields leaves it out, --on-bad-line skip leaves such lines out";
      case TOO_LONG_FOR_HEAP -> "";
      default -> "--on-bad-line skip leaves such lines out";
    };
  }
}
