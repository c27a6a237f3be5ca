// Opaque reasoning state as the simulated models issue and check it: a keyed hash over what was said. The key
// is public on purpose; it proves that bytes came back unchanged, not who sent them.
import { createHash, createHmac } from 'node:crypto';

const KEY = 'dragoman-sim';

/** 40 hex digits that depend on `text` alone. */
export function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 40);
}

function mac(text: string): string {
  return createHmac('sha256', KEY).update(text).digest('base64url');
}

/**
 * The signature of a thinking block.
 * @param model the model that thought
 * @param shown the text that the block shows
 * @param hidden the text that it does not show
 */
export function signThinking(model: string, shown: string, hidden = ''): string {
  const inner = `${model}|${toBase64(hidden)}|${mac(`${model}|${shown}|${hidden}`)}`;
  return toBase64(inner);
}

/** True when `signature` was issued for a block that shows exactly `shown`, by whichever model. */
export function thinkingIsGenuine(shown: string, signature: string): boolean {
  const inner = fromBase64(signature);
  const [model, hidden] = inner?.split('|') ?? [];
  const text = hidden === undefined ? null : fromBase64(hidden);
  return model !== undefined && text !== null && signThinking(model, shown, text) === signature;
}

/** Reasoning text as data that only the simulated models open. */
export function sealText(model: string, text: string): string {
  return toBase64(`${model}|${mac(`sealed|${model}|${text}`)}|${text}`);
}

/** The text that `sealText` made into `data`; null when it did not. */
export function openSeal(data: string): string | null {
  const inner = fromBase64(data);
  if (inner === null) return null;
  const first = inner.indexOf('|');
  const second = inner.indexOf('|', first + 1);
  if (first < 0 || second < 0) return null;
  const text = inner.slice(second + 1);
  return sealText(inner.slice(0, first), text) === data ? text : null;
}

/** True when `data` is what `sealText` made. */
export function sealIsGenuine(data: string): boolean {
  return openSeal(data) !== null;
}

function toBase64(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64');
}

/** Null when `data` is not base64 in its usual form. */
function fromBase64(data: string): string | null {
  const text = Buffer.from(data, 'base64').toString('utf8');
  return toBase64(text) === data ? text : null;
}
