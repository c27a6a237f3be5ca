// Thought signatures of the simulated models. They contain the part they were issued for.
import type { JsonObject } from '../src/base/json/index.ts';
import { asObject, asString } from '../src/base/json/index.ts';
import { camel, standardAlphabet } from './gemini-json.ts';
import { openSeal, sealText } from './seal.ts';

/** Values accepted instead of a signature for calls of other models (documentation "Thought signatures", 2026-11). */
const FOREIGN: readonly (string | undefined)[] = [
  'skip_thought_signature_validator',
  'context_engineering_is_the_way_to_go',
];

/** Signs a part: contains the thought and, for a call, its name. */
export function signPart(model: string, part: JsonObject, thought: string): string {
  return sealText(model, `${nameOf(part)}\n${thought}`);
}

/**
 * True when any simulated model issued the signature: on a call, for a call with the same name. A text may carry any
 * signature, because it can keep that of a call which the client never saw. Values for calls of other models are
 * accepted.
 */
export function partIsGenuine(part: JsonObject, signature: string): boolean {
  if (FOREIGN.includes(signature)) return true;
  const sealed = openSeal(standardAlphabet(signature));
  return sealed !== null && (part['functionCall'] === undefined || sealed.startsWith(`${nameOf(part)}\n`));
}

function nameOf(part: JsonObject): string {
  return asString(camel(asObject(part['functionCall']))['name']) ?? '';
}
