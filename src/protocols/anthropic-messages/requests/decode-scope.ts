// State that the decoders of one request share: problems, the report, and what only an upstream of this protocol will get.
import type { JsonObject } from '../../../base/json/index.ts';
import type { TranslationLoss, Problems, ProtocolName, Report, Source } from '../../../canonical/index.ts';

export interface DecodeScope {
  readonly problems: Problems;
  readonly report: Report;
  /** Losses at every upstream that speaks another protocol. */
  readonly translationLosses: TranslationLoss[];
}

/** Longest list of such losses: a report keeps no more. */
const MOST_ENTRIES = 500;

/** Notes what other protocols cannot say, or can say only nearly. @param alsoKeptBy one that can */
export function addTranslationLoss(
  scope: DecodeScope,
  path: string,
  action: 'dropped' | 'approximated',
  reason: string,
  alsoKeptBy?: ProtocolName,
): void {
  if (scope.translationLosses.length < MOST_ENTRIES)
    scope.translationLosses.push({ path, action, reason, keptBy: 'anthropic-messages', alsoKeptBy });
}

/** The raw form of a node of this protocol. */
export function ours(raw: JsonObject): Source {
  return { protocol: 'anthropic-messages', raw };
}
