// What the decoders of one request share: problems, the report, and what only an upstream of this protocol will get.
import type { JsonObject, LossElsewhere, Problems, Report, Source } from '../../canonical/index.ts';

export interface DecodeScope {
  readonly problems: Problems;
  readonly report: Report;
  /** Losses at every upstream that speaks another protocol. */
  readonly elsewhere: LossElsewhere[];
}

/** Longest list of such losses: a report keeps no more. */
const MOST_ENTRIES = 500;

/** Notes what other protocols cannot say, or can say only nearly. */
export function addElsewhere(
  scope: DecodeScope,
  path: string,
  action: 'dropped' | 'approximated',
  reason: string,
): void {
  if (scope.elsewhere.length < MOST_ENTRIES)
    scope.elsewhere.push({ path, action, reason, keptBy: 'anthropic-messages' });
}

/**
 * Notes the members of a node that its canonical form does not hold; an Anthropic upstream gets them in the raw form.
 * @param held members that the canonical form holds, or that mean nothing elsewhere
 */
export function noteMembers(
  raw: JsonObject,
  held: ReadonlySet<string>,
  path: string,
  scope: DecodeScope,
): void {
  for (const name in raw) {
    if (held.has(name) || raw[name] === null) continue;
    addElsewhere(scope, `${path}.${name}`, 'dropped', 'only the Messages API has it');
  }
}

/** The raw form of a node of this protocol. */
export function ours(raw: JsonObject): Source {
  return { protocol: 'anthropic-messages', raw };
}
