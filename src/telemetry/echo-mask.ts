// Takes the gateway's own credentials out of what an upstream answers: some servers, and more so the proxies in front of
// them, repeat the headers that they got. Exact values only: answers are full of texts that merely look like keys.
import { MASK } from './redact.ts';

/** Shorter values are looked for only where they look made: placeholders ("not-needed") are words that an answer may hold. */
const SHORTEST_VALUE = 16;
const SHORTEST_MADE = 8;
const MADE = /\d|^(?:sk|pk|rk|key)-/;
/** Names of headers whose values prove who sends a request. */
const PROVING = /authorization|cookie|token|key|secret|password|credential/i;
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
function isTelling(secret: string): boolean {
  return secret.length >= SHORTEST_VALUE || (secret.length >= SHORTEST_MADE && MADE.test(secret));
}

/** What has to be found in the answers to one kind of request. */
export class EchoMask {
  /** The longest first: one may contain another. */
  readonly #needles: readonly string[];

  private constructor(needles: readonly string[]) {
    this.#needles = needles;
  }

  /** @param secrets as they were sent; @returns null when none of them is long enough to be told from other text */
  static of(secrets: readonly string[]): EchoMask | null {
    const needles = new Set<string>();
    for (const secret of secrets) {
      if (!isTelling(secret)) continue;
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

  /** Where a secret may begin that the text does not hold all of; its length when there is none. */
  openEnd(text: string): number {
    let open = text.length;
    const last = text[text.length - 1] ?? '';
    for (const needle of this.#needles) {
      // Events end with a line, which no credential holds: the usual read is done here.
      if (!needle.includes(last)) continue;
      const first = needle[0] ?? '';
      let at = text.indexOf(first, Math.max(0, text.length - needle.length + 1));
      while (at >= 0 && at < open) {
        if (needle.startsWith(text.slice(at))) open = at;
        at = text.indexOf(first, at + 1);
      }
    }
    return open;
  }
}

/** Masks one answer as it is read, also where two reads share a secret. */
export class EchoFilter {
  readonly #mask: EchoMask;
  /** What may be the beginning of a secret; shorter than one. */
  #open = '';

  constructor(mask: EchoMask) {
    this.#mask = mask;
  }

  /** @returns what can be passed on of this read and what was kept of the one before */
  push(bytes: string): string {
    const text = this.#mask.apply(this.#open === '' ? bytes : this.#open + bytes);
    const end = this.#mask.openEnd(text);
    this.#open = end === text.length ? '' : text.slice(end);
    return end === text.length ? text : text.slice(0, end);
  }

  /** What was kept: the answer is over, and it was no secret. */
  end(): string {
    const open = this.#open;
    this.#open = '';
    return open;
  }
}
