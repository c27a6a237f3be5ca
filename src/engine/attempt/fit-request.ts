// A request in terms that one endpoint's protocol knows, conversation and tools: what it has no words for is rewritten,
// told to the model, or refused by name. Must not know what any protocol lacks: codecs say so.
import type { Endpoint } from '../../catalog/index.ts';
import {
  areTexts,
  asksForNone,
  type CanonicalRequest,
  type Report,
  type Role,
} from '../../canonical/index.ts';
import { findProtocol, type Ported, type Protocol, renderForeign } from '../../protocols/index.ts';
import { attemptSpanId, traceLines } from '../../base/telemetry/trace-context.ts';
import { preparedEndpoint } from '../prepared-endpoint.ts';
import type { AttemptInput, AttemptNumber } from './attempt-input.ts';
import type { Outgoing } from './ask-endpoint.ts';

const NONE: ReadonlySet<Role> = new Set();

/**
 * The request for an endpoint, and how its answer is put back.
 * @param protocol the endpoint's
 * @throws GatewayError `unsupported` naming what would be another request without it
 */
export function fitRequest(
  request: CanonicalRequest,
  endpoint: Endpoint,
  protocol: Protocol,
  report: Report,
): Ported {
  const ported = findProtocol(request.protocol)?.server?.portable?.(request, endpoint, report);
  const fitting = ported?.request ?? request;
  const { faithful, hostedTools } = endpoint;
  // The owner of the client's protocol knows all of it.
  const isOwners = faithful && endpoint.protocol === request.protocol && request.hybrid !== true;
  // Every protocol has words for texts.
  const isText = fitting.tools.length === 0 && areTexts(fitting.items);
  const rendered =
    isOwners || isText
      ? fitting
      : renderForeign(
          fitting,
          {
            protocol: endpoint.protocol,
            faithful,
            hostedTools,
            textOnly: protocol.upstream.textOnly ?? NONE,
          },
          report,
        );
  return { request: rendered, restore: ported?.restore ?? null };
}

// Reasoning of a model that the catalog does not know. A server that speaks the client's protocol gets what the client
// said, as far as it has a member for it: tomorrow's model is always unknown, and whoever serves it judges best. Over
// another protocol a server that no vendor runs is told when not to reason: names of its models are the operator's own.

/** The endpoint as this request takes it to be; the same one where the catalog knows, or nothing was said. */
export function asSaid(endpoint: Endpoint, { protocol, hybrid, reasoning }: CanonicalRequest): Endpoint {
  const { effort, enabled, maxTokens } = reasoning;
  if (endpoint.isReasoningKnown) return endpoint;
  if (endpoint.protocol !== protocol || hybrid)
    return !endpoint.isVendorRun && asksForNone(reasoning)
      ? // Every protocol has a place for a budget of nothing.
        { ...endpoint, reasoningStyle: 'budget', reasoningMandatory: false }
      : endpoint;
  if (effort === undefined && enabled === undefined && maxTokens === undefined) return endpoint;
  return {
    ...endpoint,
    // No tokens are a budget, too.
    reasoningStyle:
      maxTokens !== undefined || (enabled === false && effort === undefined) ? 'budget' : 'effort',
    reasoningMandatory: false,
    reasoningBudget: { min: 0, max: null },
    efforts: null,
    quirks: { ...endpoint.quirks, exclusiveReasoning: false },
  };
}

// The request of one attempt: address, headers, body, and the pool of connections that may carry it.

export function attemptRequest(
  { prepared, requester }: AttemptInput,
  { fresh, ordinal }: AttemptNumber,
): Outgoing {
  const { endpoint, path, type, passedHeaders, request, body } = prepared;
  const { id, call, trace } = requester.arrival;
  const { principal, headers, recorder } = call;
  const known = preparedEndpoint(endpoint);
  const passed = { headers, names: passedHeaders };
  return {
    envelope:
      path === undefined
        ? known.answers(request.stream, passed)
        : known.operation({ url: endpoint.baseUrl + path, type, stream: request.stream }, passed),
    body,
    tenant: principal.keyId,
    staleness: fresh ? 'fresh' : 'tell',
    recorder: recorder?.attempt(ordinal, endpoint),
    lines: trace ? traceLines(trace, attemptSpanId(id, ordinal)) : undefined,
  };
}
