// Removes the gateway's own credentials from upstream answers. Some servers, and proxies in front of them, repeat request
// headers in error pages. Only exact values are masked, because answers contain many texts that look like keys.
import { MASK } from './redact.ts';

/** Shorter values are masked only if they look random. Placeholders such as "not-needed" may occur in an answer. */
const SHORTEST_VALUE = 16;
const SHORTEST_MADE = 8;
const MADE = /\d|^(?:sk|pk|rk|key)-/;
/** Names of headers that carry credentials. */
const CREDENTIAL_HEADERS = /authorization|cookie|token|key|secret|password|credential/i;
const NO_BYTES: Buffer = Buffer.alloc(0);
/** Characters that some JSON encoders escape without need: the slash (PHP), plus (.NET) and the equals sign (Gson). */
const ESCAPES: readonly (readonly [character: string, escaped: string])[] = [
  ['/', '\\/'],
  ['+', '\\u002B'],
  ['=', '\\u003d'],
];

/** True for the name of a header or query parameter that carries a credential. */
export function isCredentialHeader(name: string): boolean {
  return CREDENTIAL_HEADERS.test(name);
}

/** The secrets in the headers of a request, without their scheme ("Bearer"). */
export function secretsOfHeaders(headers: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(headers).flatMap(([name, value]) =>
    isCredentialHeader(name) ? [value.slice(value.lastIndexOf(' ') + 1)] : [],
  );
}

/** The same, plus those in its URL: user info and query values. */
export function secretsOfAsking(url: string, headers: Readonly<Record<string, string>>): readonly string[] {
  const { username, password, searchParams } = new URL(url);
  return [...secretsOfHeaders(headers), username, password, ...searchParams.values()];
}

/** True for a value that can be distinguished from other text. */
function isDistinctive(secret: string): boolean {
  return secret.length >= SHORTEST_VALUE || (secret.length >= SHORTEST_MADE && MADE.test(secret));
}

/** Masks the secrets that answers to one kind of request could repeat. */
export class EchoMask {
  /** Secrets, longest first, because one may contain another. */
  readonly #needles: readonly string[];
  /** First bytes of each secret. Searching for a few bytes is four times as fast as for a whole one (Bun 1.4.5). */
  readonly #beginnings: readonly Buffer[];
  /** 1 for each byte that occurs in a secret. */
  readonly #letters = new Uint8Array(256);

  private constructor(needles: readonly string[]) {
    this.#needles = needles;
    this.#beginnings = needles.map((needle) => Buffer.from(needle.slice(0, SHORTEST_MADE), 'latin1'));
    for (const needle of needles) for (const byte of Buffer.from(needle, 'latin1')) this.#letters[byte] = 1;
  }

  /** @param secrets as they are sent; @returns null if all are too short to be distinguished from other text */
  static of(secrets: readonly string[]): EchoMask | null {
    const needles = new Set<string>();
    for (const secret of secrets) {
      if (!isDistinctive(secret)) continue;
      needles.add(secret);
      for (const [character, escaped] of ESCAPES) needles.add(secret.replaceAll(character, escaped));
    }
    return needles.size === 0 ? null : new EchoMask([...needles].sort((a, b) => b.length - a.length));
  }

  /** Masks each secret in a text. */
  apply(text: string): string {
    let safe = text;
    for (const needle of this.#needles) if (safe.includes(needle)) safe = safe.replaceAll(needle, MASK);
    return safe;
  }

  /** Masks each secret in bytes. Returns the same bytes if they contain none. */
  applyTo(bytes: Buffer): Buffer {
    if (!this.#beginnings.some((beginning) => bytes.includes(beginning))) return bytes;
    const text = bytes.toString('latin1');
    const safe = this.apply(text);
    return safe === text ? bytes : Buffer.from(safe, 'latin1');
  }

  /** Offset of a possible secret that continues after these bytes; their length if there is none. */
  openEnd(bytes: Buffer): number {
    const { length } = bytes;
    // Events end with a line feed, which no credential contains. Most reads return here.
    if (this.#letters[bytes[length - 1] ?? 0] !== 1) return length;
    let open = length;
    for (const needle of this.#needles) {
      const from = Math.max(0, length - needle.length + 1);
      const end = bytes.toString('latin1', from);
      const first = needle[0] ?? '';
      for (let at = end.indexOf(first); at >= 0 && from + at < open; at = end.indexOf(first, at + 1))
        if (needle.startsWith(end.slice(at))) open = from + at;
    }
    return open;
  }
}

/** Masks one answer while it is read, also if a secret is split between reads. */
export class EchoFilter {
  readonly #mask: EchoMask;
  /** Possible start of a secret at the end of the last read. */
  #open = NO_BYTES;

  constructor(mask: EchoMask) {
    this.#mask = mask;
  }

  /** @returns the masked bytes that can be passed on; a possible start of a secret is held back */
  push(bytes: Buffer): Buffer {
    const safe = this.#mask.applyTo(this.#open.length === 0 ? bytes : Buffer.concat([this.#open, bytes]));
    const end = this.#mask.openEnd(safe);
    this.#open = end === safe.length ? NO_BYTES : safe.subarray(end);
    return end === safe.length ? safe : safe.subarray(0, end);
  }

  /** Returns the held back bytes at the end of the answer. */
  end(): Buffer {
    const open = this.#open;
    this.#open = NO_BYTES;
    return open;
  }
}
