// Thought signatures of the simulated models: which part a signature was issued for. Knows no requests.
import type { JsonObject } from '../../canonical/index.ts';
import { asObject, asString } from '../../canonical/index.ts';
import { camel, standardAlphabet } from './gemini-json.ts';
import { signThinking, thinkingIsGenuine } from './seal.ts';

/** Taken in place of a signature where the call was another model's (documentation "Thought signatures", 2026-11). */
const FOREIGN: readonly (string | undefined)[] = [
  'skip_thought_signature_validator',
  'context_engineering_is_the_way_to_go',
];

/** The signature of a part: of a call by its name, of a text whatever it says, as streams sign an empty one. */
export function signPart(model: string, part: JsonObject, thought: string): string {
  return signThinking(model, subject(part), thought);
}

/** True for a signature that some simulated model issued for such a part, or that says that another's made it. */
export function partIsGenuine(part: JsonObject, signature: string): boolean {
  return FOREIGN.includes(signature) || thinkingIsGenuine(subject(part), standardAlphabet(signature));
}

function subject(part: JsonObject): string {
  const call = part['functionCall'];
  return call === undefined ? 'text' : `call ${asString(camel(asObject(call))['name']) ?? ''}`;
}
