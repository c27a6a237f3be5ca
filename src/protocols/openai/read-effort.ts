// An effort as clients of OpenAI's protocols write it, Groq's word for none in particular included. Knows no model.
import { EFFORTS } from '../../canonical/index.ts';
import type { Problems, ReasoningRequest } from '../../canonical/index.ts';
import { readWord } from '../read-member.ts';
import type { Member } from '../read-member.ts';

/** Reasoning as the model likes (console.groq.com, "Reasoning", 2026-11). */
const DEFAULT = 'default';

/** Effort that a word asks for; nothing for an absent one. A word that nobody knows is a problem. */
export function readEffort(
  value: Member,
  path: string,
  problems: Problems,
): Pick<ReasoningRequest, 'effort' | 'enabled'> {
  return value === DEFAULT ? { enabled: true } : { effort: readWord(value, path, problems, EFFORTS) };
}
