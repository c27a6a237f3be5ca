// One question to an upstream whose answer is short and whole, beside the attempts that make answers: nothing of it is
// recorded, and whoever asks must be able to do without.
import type { Endpoint } from '../../catalog/index.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { UpstreamClient } from '../../upstream/client.ts';
import { collect, receive } from '../../upstream/receive.ts';
import type { ResponseHead } from '../../upstream/response-parser.ts';
import { type Operation, type PassedHeaders, preparedEndpoint } from '../prepared-endpoint.ts';
import { sendUpstream } from './send-upstream.ts';

/** A longer answer is none to a short question, in bytes. */
const MAX_BYTES = 1_048_576;

/** What is asked. */
export interface Question extends Operation {
  /** Byte string. */
  readonly body: string;
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
  readonly timeoutMs: number;
  /** Calls back when nobody waits for the answer any more. */
  readonly onLeave: (left: () => void) => void;
}

/** Asks. @returns null when there was no whole answer in time; never rejects */
export async function askUpstream(
  endpoint: Endpoint,
  { body, passed, tenant, ...operation }: Question,
  { upstream, clock, timeoutMs, onLeave }: Asking,
): Promise<ShortAnswer | null> {
  try {
    const envelope = preparedEndpoint(endpoint).operation(operation, passed);
    const outgoing = { envelope, body, tenant };
    const asked = collect<[reason: unknown]>((taker) =>
      receive(
        (listener) => sendUpstream(endpoint, outgoing, upstream, listener, { refused: taker.failed }),
        taker,
        MAX_BYTES,
      ),
    );
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
