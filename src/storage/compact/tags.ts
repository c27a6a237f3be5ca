// First byte of each value in the compact format: a small value itself, or a tag that describes what follows. Part of the
// storage format: tags may be added, but never change their meaning.

/** Smaller bytes are integers from 0. */
export const FIRST_TAG = 160;

export const Tag = {
  null: 160,
  false: 161,
  true: 162,
  /** Eight bytes, little-endian. */
  double: 163,
  /** Integers and negative integers: seven bits per byte, lowest first, with the high bit set in all but the last. */
  integer: 164,
  negative: 165,
  /** An integer number of millionths, for prices. */
  micro: 166,
  /** An integer number of 10⁻¹², for costs. */
  pico: 167,
  /** Index in the dictionary. */
  name: 168,
  /** Length in bytes, then UTF-8. */
  text: 169,
  /** 16 bytes: a text of 32 lower-case hexadecimal digits. */
  hex: 170,
  /** Length in bytes, then JSON, for values that other forms cannot represent (unpaired surrogates, great depth). */
  json: 171,
  /** Values up to `end`. */
  array: 172,
  /** Pairs of key (text or name) and value, up to `end`. */
  object: 173,
  end: 174,
  /** As `text`: a new name, to which later ones of the same record refer by its index. */
  fresh: 175,
  /** Index of an earlier new name, from 0. */
  again: 176,
  /** Number of members in the table, then one bit per member without its usual value. Their values follow. */
  members: 177,
} as const;

/** Bytes from here on are the first words of the dictionary. */
export const FIRST_NAME = 192;
export const SHORT_NAMES = 256 - FIRST_NAME;

/** Maximum number of remembered names per record. */
export const MOST_FRESH = 48;

export const MICRO = 1e6;
export const PICO = 1e12;

/** Deeper values are stored as JSON. */
export const MAX_DEPTH = 32;
