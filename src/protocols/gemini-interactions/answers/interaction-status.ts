// Converts the status of an interaction, in both directions (API reference, `Interaction.status`, 2026-11).
import type { FinishReason } from '../../../canonical/index.ts';

/** `failure`: not an answer. `pending`: it continues without a connection. */
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

/** Returns the meaning of a status; `unknown` for a new one. */
export function decodeStatus(word: string): FinishReason | 'failure' | 'pending' {
  return STATUSES.get(word) ?? 'unknown';
}

/** Returns the status for a finish reason. @param raw the upstream's own status */
export function encodeStatus(reason: FinishReason, raw: string | undefined): string {
  if (raw !== undefined && STATUSES.has(raw)) return raw;
  if (reason === 'tool_calls') return 'requires_action';
  return reason === 'length' || reason === 'incomplete' ? 'incomplete' : 'completed';
}
