// Tool-call ids for upstreams that only accept nine letters or digits.
import type { Item, Quirks } from '../../../canonical/index.ts';

/** Prefix of ids that the gateway assigns to calls of a history without one. */
export const MADE_ID = 'dragoman_call_';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const NINE = /^[A-Za-z0-9]{9}$/;

/**
 * Maps the ids of calls and results. The mapping is injective and depends only on the ids, so every turn of a
 * conversation is rewritten alike.
 * @returns the id to send for an id of the conversation
 */
export function mapCallIds(items: readonly Item[], form: Quirks['toolCallId']): (id: string) => string {
  if (form === 'any') return (id) => id;
  const ids = new Set<string>();
  for (const item of items)
    if (item.type === 'tool_call' || item.type === 'tool_result') ids.add(item.callId);
  const mapped = new Map<string, string>();
  const taken = new Set<string>();
  for (const id of ids) {
    if (!NINE.test(id)) continue;
    mapped.set(id, id);
    taken.add(id);
  }
  for (const id of ids) {
    if (mapped.has(id)) continue;
    let short = shorten(id, 0);
    for (let salt = 1; taken.has(short); salt++) short = shorten(id, salt);
    mapped.set(id, short);
    taken.add(short);
  }
  return (id) => mapped.get(id) ?? shorten(id, 0);
}

/** Nine characters, each from a 32-bit FNV-1a hash (Fowler, Noll, Vo) of its position, the salt and the id. */
function shorten(id: string, salt: number): string {
  let text = '';
  for (let place = 0; place < 9; place++) {
    let sum = 0x811c9dc5;
    for (const character of `${place}.${salt}.${id}`) {
      sum = Math.imul(sum ^ (character.codePointAt(0) ?? 0), 0x01000193) >>> 0;
    }
    text += ALPHABET.charAt(sum % ALPHABET.length);
  }
  return text;
}
