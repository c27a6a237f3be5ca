// Parses and formats limits and budgets in one line: `60 requests per minute for openai/* each end_user`.
import { MOST_USD } from './money.ts';
import { LIMIT_KINDS, ruleOf, type LimitEntry, type LimitKind } from './rule.ts';

const FORM =
  '`60 requests per minute`, `2000000 tokens per day`, `20 concurrent` or `5 usd per month`, optionally followed by ' +
  '`for openai/*,groq/*`, `each end_user`, `timezone Europe/Berlin`, `when_spent finish`, `unpriced allow`, `too_large allow`';

/** Clauses after amount and kind: keyword and member. */
const CLAUSES = {
  per: 'per',
  for: 'models',
  each: 'each',
  timezone: 'timezone',
  when_spent: 'when_spent',
  unpriced: 'unpriced',
  too_large: 'too_large',
} as const satisfies Readonly<Record<string, keyof LimitEntry>>;

/** Keywords with a fixed set of values. */
const VALUES: ReadonlyMap<string, readonly string[]> = new Map([
  ['each', ['end_user']],
  ['when_spent', ['stop', 'finish']],
  ['unpriced', ['refuse', 'allow']],
  ['too_large', ['refuse', 'allow']],
]);

/**
 * Parses a limit.
 * @throws RangeError with a message for the user
 */
export function parseLimit(text: string): LimitEntry {
  const [amount = '', kind = '', ...rest] = text.trim().split(/\s+/);
  const known = kindOf(kind);
  if (!known || !/^\d+(\.\d+)?$/.test(amount)) throw wrong(text, `must be ${FORM}`);
  const members: Record<string, string | number | readonly string[]> = { [known]: Number(amount) };
  for (let at = 0; at < rest.length; at += 2) {
    const word = rest[at] ?? '';
    const value = rest[at + 1];
    if (!isClause(word)) throw wrong(text, `unknown word "${word}"; must be ${FORM}`);
    if (value === undefined) throw wrong(text, `"${word}" requires a value`);
    const member = CLAUSES[word];
    if (members[member] !== undefined) throw wrong(text, `"${word}" occurs more than once`);
    const values = VALUES.get(word);
    if (values && !values.includes(value))
      throw wrong(text, `"${word}" must be followed by ${values.join(' or ')}`);
    members[member] = member === 'models' ? value.split(',') : value;
  }
  const entry: LimitEntry = members;
  checkAmount(text, known, Number(amount), entry);
  try {
    ruleOf(entry);
  } catch (error) {
    if (error instanceof RangeError) throw wrong(text, error.message);
    throw error;
  }
  return entry;
}

/** Formats a limit so that `parseLimit` reads it back. */
export function limitWords(entry: LimitEntry): string {
  const kind = LIMIT_KINDS.find((one) => entry[one] !== undefined) ?? 'requests';
  const words = [String(entry[kind] ?? 0), kind];
  for (const [word, member] of Object.entries(CLAUSES)) {
    const value = entry[member];
    if (value !== undefined) words.push(word, typeof value === 'string' ? value : value.join(','));
  }
  return words.join(' ');
}

function kindOf(word: string): LimitKind | undefined {
  return LIMIT_KINDS.find((kind) => kind === word || kind === `${word}s`);
}

function isClause(word: string): word is keyof typeof CLAUSES {
  return Object.hasOwn(CLAUSES, word);
}

function checkAmount(text: string, kind: LimitKind, amount: number, entry: LimitEntry): void {
  const isMoney = kind === 'usd';
  if (isMoney ? !(amount > 0 && amount <= MOST_USD) : !(Number.isSafeInteger(amount) && amount >= 1))
    throw wrong(
      text,
      isMoney
        ? `the amount must be more than 0 and at most ${MOST_USD} usd`
        : 'the amount must be an integer of at least 1',
    );
  if (!isMoney && (entry.when_spent ?? entry.unpriced) !== undefined)
    throw wrong(text, '`when_spent` and `unpriced` are allowed only for budgets');
}

function wrong(text: string, reason: string): RangeError {
  return new RangeError(`"${text}" is not a valid limit: ${reason}`);
}
