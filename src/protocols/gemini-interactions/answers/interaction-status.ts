// The words with which an interaction says how far it is, in both directions (API reference, `Interaction.status`,
// 2026-11). The only place that knows them.
import type { FinishReason } from '../../../canonical/index.ts';

/** `failure`: it is no answer. `pending`: it goes on without a listener. */
const STATUSES: ReadonlyMap<string, FinishReason | 'failure' | 'pending'> = new Map<
  string,
  FinishReason | 'failure' | 'pending'
>([
  ['completed', 'stop'],
  ['requires_action', 'tool_calls'],
  ['incomplete', 'length'],
  ['budget_exceeded', 'length'],
  ['requires_continuation', 'pause'],
  ['cancelled', 'unknown'],
  ['failed', 'failure'],
  ['in_progress', 'pending'],
  ['queued', 'pending'],
]);

/** Meaning of a status; `unknown` for a new one. */
export function decodeStatus(word: string): FinishReason | 'failure' | 'pending' {
  return STATUSES.get(word) ?? 'unknown';
}

/** The status of an answer that ended so. @param raw the upstream's own word */
export function encodeStatus(reason: FinishReason, raw: string | undefined): string {
  if (raw !== undefined && STATUSES.has(raw)) return raw;
  if (reason === 'tool_calls') return 'requires_action';
  return reason === 'length' ? 'incomplete' : 'completed';
}
