// One auxiliary request to an upstream with a short, whole answer. It is not recorded, and callers must be able to do
// without the answer.
import type { Slices } from '../../base/lib/bytes.ts';
import type { Endpoint } from '../../catalog/index.ts';
import type { Clock } from '../../base/runtime/clock.ts';
import { askWhole } from '../../upstream/ask.ts';
import type { UpstreamClient } from '../../upstream/client.ts';
import type { ResponseHead } from '../../upstream/response-parser.ts';
import { type Operation, type PassedHeaders, preparedEndpoint } from '../prepared-endpoint.ts';
import { questionTo } from './ask-endpoint.ts';
import type { DurationMs } from '../../base/units.ts';

/** Default maximum bytes of the answer. */
const MAX_BYTES = 1_048_576;

/** An auxiliary request to an upstream. */
export interface Question extends Operation {
  readonly body: Slices;
  readonly passed?: PassedHeaders | undefined;
  /** Gateway key that the request is sent for. */
  readonly tenant?: string | undefined;
}

export interface ShortAnswer {
  readonly head: ResponseHead;
  readonly text: string;
}

export interface Asking {
  readonly upstream: UpstreamClient;
  readonly clock: Clock;
  /** Timeout for the answer. */
  readonly timeoutMs: DurationMs;
  /** Maximum bytes of the answer. Default: 1 MiB. */
  readonly maxBytes?: number;
  /** Registers a callback for when the client no longer waits. */
  readonly onLeave: (left: () => void) => void;
}

/**
 * Sends the request.
 * @returns null when there was no complete answer in time; never rejects
 */
export async function askUpstream(
  endpoint: Endpoint,
  { body, passed, tenant, ...operation }: Question,
  { upstream, clock, timeoutMs, maxBytes = MAX_BYTES, onLeave }: Asking,
): Promise<ShortAnswer | null> {
  try {
    const envelope = preparedEndpoint(endpoint).operation(operation, passed);
    const outgoing = { envelope, body, tenant };
    const asked = askWhole(questionTo(endpoint, outgoing, upstream, maxBytes), upstream);
    const cancelTimer = clock.after(timeoutMs, asked.abort);
    onLeave(asked.abort);
    const outcome = await asked.outcome;
    cancelTimer();
    if (outcome === null || 'failure' in outcome) return null;
    return { head: outcome.head, text: outcome.bytes.toString() };
  } catch {
    // The credential or the address is missing.
    return null;
  }
}
