// References of one configuration (`${VAR}`, `file:/…`) and the values that stand for them. Takes values out of sentences
// again, so that no error quotes what a variable or a file holds.

/** Values of fewer characters are words of any sentence, and no secrets. */
const LEAST_CHARS = 3;
/** Values of so many characters are masked within words, too. */
const LONG_CHARS = 8;
/** Words that values often are, and that messages need. */
const PLAIN: ReadonlySet<string> = new Set(['true', 'false', 'none', 'auto', 'all']);

export class References {
  readonly #values = new Map<string, string>();

  /** @param reference as it is written in the file */
  note(value: string, reference: string): void {
    const text = value.trim();
    if (text.length >= LEAST_CHARS && !PLAIN.has(text)) this.#values.set(text, reference);
  }

  /** The sentence with references in the place of their values, and of what is quoted of them. */
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

/** Keeps the references of a configuration for whoever checks it further. */
export function keepReferences(config: object, references: References): void {
  known.set(config, references);
}

/** References that were kept; none of a configuration that no file was read for. */
export function referencesOf(config: object): References {
  return known.get(config) ?? new References();
}
