// One question to an upstream whose answer is short and whole, beside the attempts that make answers: nothing of it is
// recorded, and whoever asks must be able to do without.
import type { Slices } from '../../base/lib/slices.ts';
import type { Endpoint } from '../../catalog/index.ts';
import type { Clock } from '../../base/runtime/clock.ts';
import { askWhole } from '../../upstream/ask.ts';
import type { UpstreamClient } from '../../upstream/client.ts';
import type { ResponseHead } from '../../upstream/response-parser.ts';
import { type Operation, type PassedHeaders, preparedEndpoint } from '../prepared-endpoint.ts';
import { questionTo } from './ask-endpoint.ts';
import type { DurationMs } from '../../base/units.ts';

/** A longer answer is none to a short question, in bytes. */
const MAX_BYTES = 1_048_576;

/** A question to an upstream besides answers. */
export interface Question extends Operation {
  readonly body: Slices;
  readonly passed?: PassedHeaders | undefined;
  /** Key of the gateway on whose behalf it is asked. */
  readonly tenant?: string | undefined;
}

export interface ShortAnswer {
  readonly head: ResponseHead;
  readonly text: string;
}

export interface Asking {
  readonly upstream: UpstreamClient;
  readonly clock: Clock;
  /** How long the answer may take. */
  readonly timeoutMs: DurationMs;
  /** Most bytes of the answer. Default: 1 MiB. */
  readonly maxBytes?: number;
  /** Calls back when nobody waits for the answer any more. */
  readonly onLeave: (left: () => void) => void;
}

/** Asks. @returns null when there was no whole answer in time; never rejects */
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
    // No credential, or no address.
    return null;
  }
}
