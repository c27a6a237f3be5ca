// Sends requests to a running gateway, on this machine or elsewhere.
import { GatewayError } from '../../../canonical/index.ts';
import { networkOf } from '../../config/index.ts';
import { systemClock } from '../../../base/runtime/clock.ts';
import { askWhole } from '../../../upstream/ask.ts';
import { UpstreamClient, Destination, type Method } from '../../../upstream/client.ts';
import { slicesOf } from '../../../base/lib/bytes.ts';
import { inThisShell } from '../program-name.ts';
import { readEnvironment } from '../../../base/runtime/environment.ts';
import type { DurationMs } from '../../../base/units.ts';

/** Default timeout of a response in milliseconds. A gateway answers commands in microseconds. */
const PATIENCE_MS = 10_000;
/** Maximum bytes of an answer. */
const MAX_BYTES = 64 * 1_048_576;

export interface Question {
  readonly method: Method;
  readonly path: string;
  /** API key, or a token for this machine. */
  readonly key: string;
  /** JSON; absent: no body. */
  readonly body?: string;
  /** Timeout of the response in milliseconds; absent: ten seconds. */
  readonly patienceMs?: DurationMs;
}

export interface Answer {
  readonly status: number;
  readonly text: string;
}

/**
 * Reduces an address, such as a client's base URL, to `http://host:port`.
 * @throws GatewayError `invalid_request` for an invalid address
 */
export function gatewayAt(given: string): string {
  if (!/^https?:\/\/[^\s/]/.test(given) || !URL.canParse(given))
    throw new GatewayError('invalid_request', `--url: "${given}" is not an http or https address`);
  return given.replace(/\/+$/, '').replace(/(\/api)?\/v1$/, '');
}

/** @throws GatewayError `upstream_unavailable` with advice, when the gateway does not respond */
export async function askGateway(
  origin: string,
  { method, path, key, body, patienceMs = PATIENCE_MS }: Question,
): Promise<Answer> {
  // Connects directly to this machine; other gateways are reached through the proxies of the environment.
  const network = networkOf([], { environment: readEnvironment(), readFile: () => '' });
  const client = new UpstreamClient(systemClock.now, { network: () => network });
  const to = new Destination({
    url: origin + path,
    method,
    headers: {
      authorization: `Bearer ${key}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
  });
  const asked = askWhole({ to, body: slicesOf(body ?? ''), maxBytes: MAX_BYTES }, client);
  const stop = systemClock.after(patienceMs, asked.abort);
  const outcome = await asked.outcome;
  stop();
  client.close();
  if (outcome && !('failure' in outcome))
    return { status: outcome.head.status, text: outcome.bytes.toString() };
  const reason = outcome ? outcome.failure[1] : `no response within ${patienceMs / 1000} s`;
  throw new GatewayError(
    'upstream_unavailable',
    `cannot reach a gateway at ${origin}: ${reason}. Start one with \`${inThisShell('serve')}\`, or give its address with --url.`,
  );
}
