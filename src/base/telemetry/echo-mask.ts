// Takes the gateway's own credentials out of what an upstream answers: some servers, and more so the proxies in front of
// them, repeat the headers that they got. Exact values only: answers are full of texts that merely look like keys.
import { MASK } from './redact.ts';

/** Shorter values are looked for only where they look made: placeholders ("not-needed") are words that an answer may hold. */
const SHORTEST_VALUE = 16;
const SHORTEST_MADE = 8;
const MADE = /\d|^(?:sk|pk|rk|key)-/;
/** Names of headers whose values prove who sends a request. */
const PROVING = /authorization|cookie|token|key|secret|password|credential/i;
const NOTHING: Buffer = Buffer.alloc(0);
/** How JSON writers write what need not be escaped: PHP the slash; .NET the plus; Gson the equals sign. */
const ESCAPES: readonly (readonly [character: string, escaped: string])[] = [
  ['/', '\\/'],
  ['+', '\\u002B'],
  ['=', '\\u003d'],
];

/** True for the name of a header, or of a parameter in an address, whose value proves who asks. */
export function isProving(name: string): boolean {
  return PROVING.test(name);
}

/** The secrets in the headers of a request. A scheme before one ("Bearer") is none. */
export function secretsOfHeaders(headers: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(headers).flatMap(([name, value]) =>
    isProving(name) ? [value.slice(value.lastIndexOf(' ') + 1)] : [],
  );
}

/** The same, and those in the address that it was sent to: its user, and the values of its query. */
export function secretsOfAsking(url: string, headers: Readonly<Record<string, string>>): readonly string[] {
  const { username, password, searchParams } = new URL(url);
  return [...secretsOfHeaders(headers), username, password, ...searchParams.values()];
}

/** True for a value that can be told from other text. */
function isRevealing(secret: string): boolean {
  return secret.length >= SHORTEST_VALUE || (secret.length >= SHORTEST_MADE && MADE.test(secret));
}

/** Mask of the secrets that answers to one kind of request could repeat. */
export class EchoMask {
  /** The longest first: one may contain another. */
  readonly #needles: readonly string[];
  /** How each begins: the search for a few bytes is four times as fast as for a whole one (Bun 1.4.5). */
  readonly #beginnings: readonly Buffer[];
  /** 1 for each byte that one of them holds. */
  readonly #letters = new Uint8Array(256);

  private constructor(needles: readonly string[]) {
    this.#needles = needles;
    this.#beginnings = needles.map((needle) => Buffer.from(needle.slice(0, SHORTEST_MADE), 'latin1'));
    for (const needle of needles) for (const byte of Buffer.from(needle, 'latin1')) this.#letters[byte] = 1;
  }

  /** @param secrets as they were sent; @returns null when none of them is long enough to be told from other text */
  static of(secrets: readonly string[]): EchoMask | null {
    const needles = new Set<string>();
    for (const secret of secrets) {
      if (!isRevealing(secret)) continue;
      needles.add(secret);
      for (const [character, escaped] of ESCAPES) needles.add(secret.replaceAll(character, escaped));
    }
    return needles.size === 0 ? null : new EchoMask([...needles].sort((a, b) => b.length - a.length));
  }

  /** The text with each secret masked. */
  apply(text: string): string {
    let safe = text;
    for (const needle of this.#needles) if (safe.includes(needle)) safe = safe.replaceAll(needle, MASK);
    return safe;
  }

  /** The same for bytes; the same ones where they hold no secret. */
  applyTo(bytes: Buffer): Buffer {
    if (!this.#beginnings.some((beginning) => bytes.includes(beginning))) return bytes;
    const text = bytes.toString('latin1');
    const safe = this.apply(text);
    return safe === text ? bytes : Buffer.from(safe, 'latin1');
  }

  /** Offset at which a secret may begin that the bytes do not hold all of; their length when there is none. */
  openEnd(bytes: Buffer): number {
    const { length } = bytes;
    // Events end with a line, which no credential holds: the usual read is done here.
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

/** Masks one answer as it is read, also where two reads share a secret. */
export class EchoFilter {
  readonly #mask: EchoMask;
  /** Possible beginning of a secret; shorter than one. */
  #open = NOTHING;

  constructor(mask: EchoMask) {
    this.#mask = mask;
  }

  /** @returns what can be passed on of this read and what was kept of the one before */
  push(bytes: Buffer): Buffer {
    const safe = this.#mask.applyTo(this.#open.length === 0 ? bytes : Buffer.concat([this.#open, bytes]));
    const end = this.#mask.openEnd(safe);
    this.#open = end === safe.length ? NOTHING : safe.subarray(end);
    return end === safe.length ? safe : safe.subarray(0, end);
  }

  /** Bytes that were kept back: the answer is over, and they were no secret. */
  end(): Buffer {
    const open = this.#open;
    this.#open = NOTHING;
    return open;
  }
}
