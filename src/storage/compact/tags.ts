// The first byte of each value in the compact form of records: either the value itself, when it is small, or what
// follows. Stored forms last: a tag may be added, never given another meaning.

/** Bytes below are whole numbers from 0 on. */
export const FIRST_TAG = 160;

export const Tag = {
  null: 160,
  false: 161,
  true: 162,
  /** Eight bytes, little-endian. */
  double: 163,
  /** Whole numbers and their negatives: seven bits a byte, lowest first, the highest bit set on all but the last. */
  integer: 164,
  negative: 165,
  /** A whole number of millionths, as prices are. */
  micro: 166,
  /** A whole number of millionths of millionths, as costs are. */
  pico: 167,
  /** The number of a word in the dictionary. */
  name: 168,
  /** Length in bytes, then UTF-8. */
  text: 169,
  /** 16 bytes: a text of 32 lower-case hexadecimal digits. */
  hex: 170,
  /** Length in bytes, then JSON: what the other forms cannot hold (half characters, great depth). */
  json: 171,
  /** Values up to `end`. */
  array: 172,
  /** Keys, each a text or a name, and their values, up to `end`. */
  object: 173,
  end: 174,
  /** As `text`: a name, which later ones of the same record refer to by its number. */
  fresh: 175,
  /** The number of a fresh name before: 0 for the first. */
  again: 176,
  /** Number of members that a table had, then a bit for each that is not as usual. Their values follow. */
  members: 177,
} as const;

/** Bytes from here on are the first words of the dictionary. */
export const FIRST_NAME = 192;
export const SHORT_NAMES = 256 - FIRST_NAME;

/** Fresh names of one record that are remembered. */
export const MOST_FRESH = 48;

export const MICRO = 1e6;
export const PICO = 1e12;

/** Deeper values are kept as JSON. */
export const MAX_DEPTH = 32;
