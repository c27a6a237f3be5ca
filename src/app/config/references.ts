// References in a configuration (`${VAR}`, `file:/…`) and their values. Masks the values in error messages.

/** Minimum length of a masked value; shorter ones occur in any sentence and are not secret. */
const LEAST_CHARS = 3;
/** Minimum length of values that are also masked within words. */
const LONG_CHARS = 8;
/** Frequent values that messages need. */
const PLAIN: ReadonlySet<string> = new Set(['true', 'false', 'none', 'auto', 'all']);

export class References {
  readonly #values = new Map<string, string>();

  /** @param reference as written in the file */
  note(value: string, reference: string): void {
    const text = value.trim();
    if (text.length >= LEAST_CHARS && !PLAIN.has(text)) this.#values.set(text, reference);
  }

  /** The sentence with values, and quoted parts of them, replaced by their references. */
  masked(sentence: string): string {
    if (this.#values.size === 0) return sentence;
    const longestFirst = [...this.#values].toSorted(([one], [other]) => other.length - one.length);
    let text = sentence;
    for (const [value, reference] of longestFirst) text = withoutValue(text, value, reference);
    return text.replaceAll(/"([^"\n]{3,})"/g, (whole: string, quoted: string) => {
      const found = longestFirst.find(([value]) => value.includes(quoted) && !PLAIN.has(quoted));
      return found ? `"${found[1]}"` : whole;
    });
  }
}

function withoutValue(text: string, value: string, reference: string): string {
  if (!text.includes(value)) return text;
  if (value.length >= LONG_CHARS) return text.replaceAll(value, () => reference);
  const literal = value.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  return text.replaceAll(new RegExp(String.raw`(?<!\w)${literal}(?!\w)`, 'g'), () => reference);
}

const known = new WeakMap<object, References>();

/** Attaches references to a configuration for later checks. */
export function keepReferences(config: object, references: References): void {
  known.set(config, references);
}

/** References of a configuration. Empty if no file was read. */
export function referencesOf(config: object): References {
  return known.get(config) ?? new References();
}
