// Opaque reasoning state that the simulated models issue and verify: a keyed hash over the text. The key is
// deliberately public, because the hash only shows that bytes are unchanged, not who sent them.
import { createHash, createHmac } from 'node:crypto';

const KEY = 'dragoman-sim';

/** 40 hex digits derived from `text`. */
export function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 40);
}

function mac(text: string): string {
  return createHmac('sha256', KEY).update(text).digest('base64url');
}

/**
 * Signature of a thinking block.
 * @param model the model that thought
 * @param shown visible text of the block
 * @param hidden text that the block does not show
 */
export function signThinking(model: string, shown: string, hidden = ''): string {
  const inner = `${model}|${toBase64(hidden)}|${mac(`${model}|${shown}|${hidden}`)}`;
  return toBase64(inner);
}

/** True if any model issued `signature` for a block with exactly the text `shown`. */
export function thinkingIsGenuine(shown: string, signature: string): boolean {
  const inner = fromBase64(signature);
  const [model, hidden] = inner?.split('|') ?? [];
  const text = hidden === undefined ? null : fromBase64(hidden);
  return model !== undefined && text !== null && signThinking(model, shown, text) === signature;
}

/** Encodes reasoning text as data that only the simulated models can read. */
export function sealText(model: string, text: string): string {
  return toBase64(`${model}|${mac(`sealed|${model}|${text}`)}|${text}`);
}

/** Text in data from `sealText`; null for other data. */
export function openSeal(data: string): string | null {
  const inner = fromBase64(data);
  if (inner === null) return null;
  const first = inner.indexOf('|');
  const second = inner.indexOf('|', first + 1);
  if (first < 0 || second < 0) return null;
  const text = inner.slice(second + 1);
  return sealText(inner.slice(0, first), text) === data ? text : null;
}

/** True if `data` comes from `sealText`. */
export function sealIsGenuine(data: string): boolean {
  return openSeal(data) !== null;
}

function toBase64(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64');
}

/** Null if `data` is not canonical base64. */
function fromBase64(data: string): string | null {
  const text = Buffer.from(data, 'base64').toString('utf8');
  return toBase64(text) === data ? text : null;
}
