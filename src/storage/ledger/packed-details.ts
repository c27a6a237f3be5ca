// Counts by name or bucket, packed into one text column. Concatenated texts are the sum of both, so that databases add
// them up by concatenation. Example: `d31,2` means two requests in bucket 31 of `durations`.
import {
  addBucket,
  addNamed,
  eachDetail,
  noUsageDetails,
  type UsageDetails,
  type UsageFacts,
} from '../../accounts/usage/index.ts';
import { storable } from './usage-groups.ts';

/** Letters of the details. They are stored, so their meaning must not change. */
const LETTERS = { durations: 'd', firstContents: 'f', errorKinds: 'e', tools: 't' } as const satisfies Record<
  keyof UsageDetails,
  string
>;
const [DURATION, FIRST_CONTENT, ERROR_KIND] = ['d', 'f', 'e'].map((letter) => letter.charCodeAt(0));
const [ZERO, NINE] = ['0', '9'].map((digit) => digit.charCodeAt(0)) as [number, number];

/** Details of one record. */
export function packedFacts(facts: UsageFacts): string {
  let text = '';
  eachDetail(facts, (of, name, count) => {
    text += pair(LETTERS[of], name, count);
  });
  return text;
}

export function packed(details: UsageDetails): string {
  let text = '';
  for (const of of ['durations', 'firstContents'] as const)
    details[of].forEach((count, bucket) => {
      if (count > 0) text += pair(LETTERS[of], bucket, count);
    });
  for (const of of ['errorKinds', 'tools'] as const)
    for (const [name, count] of details[of]) text += pair(LETTERS[of], name, count);
  return text;
}

/** Packs a text again, with one entry per name or bucket. */
export function shortest(text: string): string {
  const details = noUsageDetails();
  addPacked(details, text);
  return packed(details);
}

/** Adds the counts of a text. Reports read megabytes of it, so substrings are created for names only. */
export function addPacked(to: UsageDetails, text: string): void {
  for (let at = 0; at < text.length;) {
    const letter = text.charCodeAt(at);
    const comma = text.indexOf(',', at);
    if (comma < 0) return;
    let count = 0;
    let end = comma + 1;
    for (; end < text.length && isDigit(text.charCodeAt(end)); end += 1)
      count = count * 10 + text.charCodeAt(end) - ZERO;
    if (letter === DURATION || letter === FIRST_CONTENT) {
      let bucket = 0;
      for (let digit = at + 1; digit < comma; digit += 1)
        bucket = bucket * 10 + text.charCodeAt(digit) - ZERO;
      addBucket(letter === DURATION ? to.durations : to.firstContents, bucket, count);
    } else {
      const escaped = text.slice(at + 1, comma);
      const name = escaped.includes('%') ? decodeURIComponent(escaped) : escaped;
      addNamed(letter === ERROR_KIND ? to.errorKinds : to.tools, name, count);
    }
    at = end;
  }
}

/** Names are escaped, so that they contain no comma. */
function pair(letter: string, name: string | number, count: number): string {
  const escaped = typeof name === 'number' ? name : encodeURIComponent(storable(name));
  return `${letter}${escaped},${count}`;
}

function isDigit(code: number): boolean {
  return code >= ZERO && code <= NINE;
}
