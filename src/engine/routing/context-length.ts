// Effective context length of an endpoint: the declared one, or less if it has refused less.
import type { Endpoint } from '../../catalog/index.ts';
import type { EndpointHealth } from './state.ts';
import type { UnixMs } from '../../base/units.ts';

/** Tokens of input and answer together. Null: unknown. */
export function contextOf(
  { contextLength }: Pick<Endpoint, 'contextLength'>,
  health: Pick<EndpointHealth, 'learnedContext'>,
  nowMs: UnixMs,
): number | null {
  const learned = health.learnedContext(nowMs);
  if (learned === null) return contextLength;
  return contextLength === null ? learned : Math.min(contextLength, learned);
}

/** An endpoint that refused a request as too long, or an alternative. */
export interface Overflow {
  readonly modelId: string;
  readonly contextLength: number | null;
}

/**
 * True when another endpoint may accept a request that this one refused as too long without stating its limit.
 * @param needed estimated tokens of the request
 */
export function mayHold(other: Overflow, refused: Overflow, needed: number): boolean {
  if (other.contextLength === null) return false;
  if (refused.contextLength === null)
    return other.modelId !== refused.modelId || other.contextLength > needed;
  // The declared context should have sufficed, so it is wrong and cannot be compared.
  if (needed <= refused.contextLength) return other.contextLength > needed;
  return other.contextLength > refused.contextLength;
}

/** Patterns for limits as upstreams state them, next to the requested size. */
const STATED: readonly RegExp[] = [
  /maximum context length (?:is|of) (\d{3,9})/i,
  /context (?:window|length|size)(?: is| of|:)? \(?(\d{3,9})/i,
  /> (\d{3,9}) maximum/i,
  /maximum number of (?:input )?tokens allowed \((\d{3,9})/i,
];

/** Below this, our estimate is too rough to draw conclusions. */
const LEAST_TOKENS = 1_000;

/** The limit that a refusal states, in tokens. Null: none. @param message of the refusal */
export function statedContext(message: string): number | null {
  for (const pattern of STATED) {
    const stated = pattern.exec(message.slice(0, 2000))?.[1];
    if (stated !== undefined) return Number(stated);
  }
  return null;
}

/**
 * Context length in tokens implied by a refusal without a stated limit: less than the request had. Null: nothing is
 * implied.
 * @param needed estimated tokens of the request
 */
export function shownContext(needed: number): number | null {
  return needed < LEAST_TOKENS ? null : needed;
}
