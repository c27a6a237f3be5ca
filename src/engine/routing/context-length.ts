// How much an endpoint holds: what is declared of it, or less where it has refused less. Knows no request.
import type { Endpoint } from '../../catalog/index.ts';
import type { EndpointHealth } from './state.ts';
import type { UnixMs } from '../../base/units.ts';

/** Tokens of input and answer together; null when unknown. */
export function contextOf(
  { contextLength }: Pick<Endpoint, 'contextLength'>,
  health: Pick<EndpointHealth, 'learnedContext'>,
  nowMs: UnixMs,
): number | null {
  const learned = health.learnedContext(nowMs);
  if (learned === null) return contextLength;
  return contextLength === null ? learned : Math.min(contextLength, learned);
}

/** An endpoint that was asked for too much, and one that may be asked instead. */
export interface Overflow {
  readonly modelId: string;
  readonly contextLength: number | null;
}

/**
 * Whether another endpoint may hold what this one refused as too long without saying how much it holds.
 * @param needed tokens of the request, by our estimate
 */
export function mayHold(other: Overflow, refused: Overflow, needed: number): boolean {
  if (other.contextLength === null) return false;
  if (refused.contextLength === null)
    return other.modelId !== refused.modelId || other.contextLength > needed;
  // It should have held the request: its declaration is wrong, and says nothing about who holds more.
  if (needed <= refused.contextLength) return other.contextLength > needed;
  return other.contextLength > refused.contextLength;
}

/** Limits as upstreams state them, next to what was asked for. */
const STATED: readonly RegExp[] = [
  /maximum context length (?:is|of) (\d{3,9})/i,
  /context (?:window|length|size)(?: is| of|:)? \(?(\d{3,9})/i,
  /> (\d{3,9}) maximum/i,
  /maximum number of (?:input )?tokens allowed \((\d{3,9})/i,
];

/** Below this, an estimate of ours is too rough to say anything about the endpoint. */
const LEAST_TOKENS = 1_000;

/** The limit that a refusal states, in tokens; null where it states none. @param message of the refusal */
export function statedContext(message: string): number | null {
  for (const pattern of STATED) {
    const stated = pattern.exec(message.slice(0, 2000))?.[1];
    if (stated !== undefined) return Number(stated);
  }
  return null;
}

/**
 * Context length in tokens that a refusal without a limit implies: fewer than the request had. Null: it implies
 * nothing.
 * @param needed tokens of the request, by our estimate
 */
export function shownContext(needed: number): number | null {
  return needed < LEAST_TOKENS ? null : needed;
}
