// Text of the simulated model: short, recognizable and deterministic.
import { clip } from './tokens.ts';

/** True when the user asks for a refusal. */
export function asksToRefuse(text: string): boolean {
  return /\brefuse\b/i.test(text);
}

export const REFUSAL = "I'm sorry, but I can't help with that.";

/**
 * Characters that are searched for a sum or a request. A long row of digits would keep the patterns busy for minutes.
 */
const LOOKED_AT = 2_000;

/**
 * Answer to a prompt: a sum, a count, a long text if requested, or else an echo.
 * @param turn number of messages from the user
 */
export function replyText(prompt: string, turn: number, images: number, files: number): string {
  const start = clip(prompt, LOOKED_AT);
  const direct = arithmetic(start) ?? letters(start) ?? counting(start) ?? manyWords(start);
  if (direct !== null) return direct;
  const words = prompt.split(/\s+/).filter((word) => word !== '').length;
  const shown = prompt.length > 400 ? `${clip(prompt, 400)}…` : prompt;
  let text =
    prompt === ''
      ? 'You said nothing.'
      : `You said: "${shown}". That is ${plural(words, 'word')} and ${plural(prompt.length, 'character')}.`;
  if (images > 0) text += ` You sent ${plural(images, 'image')}.`;
  if (files > 0) text += ` You sent ${plural(files, 'file')}.`;
  if (turn > 1) text += ` This is message ${turn} of our conversation.`;
  return text;
}

/** Tool results as text of an answer. */
export function toolReport(results: readonly { readonly name: string; readonly text: string }[]): string {
  return results
    .map(({ name, text }) => `${name || 'The tool'} returned: ${text.trim() || '(nothing)'}`)
    .join('\n');
}

/** Reasoning about `prompt` with about `tokens` tokens of four characters. */
export function reasoningText(prompt: string, tokens: number): string {
  const length = tokens * 4;
  let text = `The user says: "${clip(prompt, 80)}". Let me think about it.`;
  for (let step = 1; text.length < length; step++) {
    text += ` Step ${step}: ${THOUGHTS[(step - 1) % THOUGHTS.length] ?? ''}`;
  }
  // Trimmed, because some clients trim it and the signature covers every character.
  return clip(text, length).trimEnd();
}

const THOUGHTS = [
  'what is asked is clear, so I note the facts.',
  'I look for a simple way to answer.',
  'I check it against the instructions.',
  'nothing speaks against it.',
  'I decide on the wording.',
];

function arithmetic(prompt: string): string | null {
  const match = /(-?\d+(?:\.\d+)?)\s*([-+*/x×÷^]|plus|minus|times|divided by)\s*(-?\d+(?:\.\d+)?)/i.exec(
    prompt,
  );
  if (!match) return null;
  const [, left = '', sign = '', right = ''] = match;
  const value = compute(Number(left), sign.toLowerCase(), Number(right));
  return Number.isFinite(value)
    ? `${left} ${sign} ${right} = ${Number(value.toPrecision(12))}.`
    : 'Nothing can be divided by zero.';
}

function compute(a: number, sign: string, b: number): number {
  switch (sign) {
    case '+':
    case 'plus':
      return a + b;
    case '-':
    case 'minus':
      return a - b;
    case '/':
    case '÷':
    case 'divided by':
      return b === 0 ? NaN : a / b;
    case '^':
      return a ** b;
    default:
      return a * b;
  }
}

/** "How many r's are in strawberry?" */
function letters(prompt: string): string | null {
  const match =
    /how many (?:letters? )?["']?(\p{L})["']?(?:['’]?s)? (?:are |is )?(?:there )?in (?:the word )?["“]?(\p{L}+)/iu.exec(
      prompt,
    );
  const [, letter, word] = match ?? [];
  if (letter === undefined || word === undefined) return null;
  const count = [...word.toLowerCase()].filter((c) => c === letter.toLowerCase()).length;
  return `There ${count === 1 ? 'is' : 'are'} ${plural(count, `"${letter}"`)} in "${word}".`;
}

function counting(prompt: string): string | null {
  const limit = Number(/\bcount (?:from 1 )?(?:up )?to (\d{1,4})\b/i.exec(prompt)?.[1]);
  return limit > 0 ? `${Array.from({ length: limit }, (_, i) => i + 1).join(', ')}.` : null;
}

/** "Write 500 words about ships." */
function manyWords(prompt: string): string | null {
  const count = Math.min(Number(/\b(\d{1,6}) words\b/i.exec(prompt)?.[1]), 50_000);
  if (!(count > 0)) return null;
  return `${Array.from({ length: count }, (_, i) => (i % 10 === 9 ? `word${i + 1}.` : `word${i + 1}`)).join(' ')}`;
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
