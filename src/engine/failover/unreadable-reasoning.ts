// Reasoning that an endpoint cannot read, because another account encrypted or signed it. The request is sent again
// without it.
import type { CanonicalRequest, GatewayError, Item, OpaqueReasoning } from '../../canonical/index.ts';
import type { Endpoint } from '../../catalog/index.ts';
import { producerOf, type RoutingState } from '../routing/index.ts';

/** OpenAI's code for encrypted content of another organisation (2026-11). */
const CODE = 'invalid_encrypted_content';
/** Messages of OpenAI, Anthropic and Google, also where a proxy loses the code. */
const WORDS =
  /encrypted content .*could not be (?:verified|decrypted)|invalid `?signature`? in `?thinking|thought.?signature is not valid|corrupted thought.?signature/i;

/** True when the endpoint refused reasoning that it cannot read. */
export function refusesReasoning({ fault, code, message }: GatewayError): boolean {
  return fault === 'client' && (code === CODE || WORDS.test(message));
}

/** True when the request contains reasoning that only some endpoints can read. */
export function hasOpaqueReasoning({ items }: CanonicalRequest, endpoint: Endpoint): boolean {
  return items.some((item) => opaqueOf(item, endpoint) !== undefined);
}

/**
 * The request without reasoning of other endpoints, and with a report of each item. If the endpoint's own is refused, it
 * is omitted as well.
 */
export function withoutUnreadable(
  request: CanonicalRequest,
  endpoint: Endpoint,
  state: Pick<RoutingState, 'holder'>,
): CanonicalRequest {
  const opaque = request.items.filter((item) => opaqueOf(item, endpoint) !== undefined);
  const foreign = opaque.filter((item) => {
    const producer = producerOf(opaqueOf(item, endpoint)?.data ?? '', state);
    return producer?.slug !== endpoint.slug || producer.modelId !== endpoint.modelId;
  });
  const omitted = new Set(foreign.length > 0 ? foreign : opaque);
  const report = request.report.fork();
  for (const { path } of omitted)
    report.add(path ?? 'reasoning', 'dropped', `${endpoint.slug} cannot read reasoning of another account`);
  return { ...request, items: request.items.filter((item) => !omitted.has(item)), report };
}

function opaqueOf(item: Item, { reasoningFormat }: Endpoint): OpaqueReasoning | undefined {
  return item.type === 'reasoning' && item.opaque?.format === reasoningFormat ? item.opaque : undefined;
}
