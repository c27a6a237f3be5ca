// State that the decoders of one request share: problems, the report, and losses in translation.
import type { JsonObject } from '../../../base/json/index.ts';
import type { TranslationLoss, Problems, ProtocolName, Report, Source } from '../../../canonical/index.ts';

export interface DecodeScope {
  readonly problems: Problems;
  readonly report: Report;
  /** Losses at every upstream of another protocol. */
  readonly translationLosses: TranslationLoss[];
}

/** Maximum number of losses, which is that of a report. */
const MOST_ENTRIES = 500;

/** Notes what other protocols cannot express exactly. @param alsoKeptBy another protocol that can */
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

/** Wraps the raw form of a node of this protocol. */
export function messagesSource(raw: JsonObject): Source {
  return { protocol: 'anthropic-messages', raw };
}
