// Thought signatures of the simulated models: which part a signature was issued for. Knows no requests.
import type { JsonObject } from '../src/base/json/index.ts';
import { asObject, asString } from '../src/base/json/index.ts';
import { camel, standardAlphabet } from './gemini-json.ts';
import { openSeal, sealText } from './seal.ts';

/** Taken in place of a signature where the call was another model's (documentation "Thought signatures", 2026-11). */
const FOREIGN: readonly (string | undefined)[] = [
  'skip_thought_signature_validator',
  'context_engineering_is_the_way_to_go',
];

/** The signature of a part: the thought that led to it, and the call's name where it is one. */
export function signPart(model: string, part: JsonObject, thought: string): string {
  return sealText(model, `${nameOf(part)}\n${thought}`);
}

/**
 * True for a signature that some simulated model issued, on a call for one of this name, or that says that another's
 * made it. A text may carry any: that of a call which the client never saw is kept there.
 */
export function partIsGenuine(part: JsonObject, signature: string): boolean {
  if (FOREIGN.includes(signature)) return true;
  const sealed = openSeal(standardAlphabet(signature));
  return sealed !== null && (part['functionCall'] === undefined || sealed.startsWith(`${nameOf(part)}\n`));
}

function nameOf(part: JsonObject): string {
  return asString(camel(asObject(part['functionCall']))['name']) ?? '';
}
