// Turns a request into what is sent to one endpoint: lane, body, and the sinks that its answer needs.
import type { Endpoint } from '../../catalog/index.ts';
import {
  areTexts,
  asksForNone,
  type CanonicalRequest,
  GatewayError,
  Report,
  type ResolvedReasoning,
  type Role,
  type Target,
  TEXTS,
} from '../../canonical/index.ts';
import type { JsonBytes } from '../../base/json/index.ts';
import { type Slices, slicesOf } from '../../base/lib/bytes.ts';
import { findProtocol, type Ported, type Protocol, renderForeign } from '../../protocols/index.ts';
import {
  adaptRequest,
  type AnswerCheck,
  checkFormat,
  checkGrammars,
  reasoningPath,
  resolveReasoning,
  type WatchedLimit,
} from '../adapt/index.ts';
import type { LearnedRefusals } from './learned-refusals.ts';
import { PreparedText } from './prepared.ts';

export interface PrepareInput {
  readonly request: CanonicalRequest;
  /** The client's own body, for the relay lane. */
  readonly clientBytes: JsonBytes;
  readonly endpoint: Endpoint;
  readonly strict: boolean;
  /** True: do not use the relay lane, even if it is possible. */
  readonly translate: boolean;
  readonly learned: LearnedRefusals;
}

/**
 * Prepares a request for an endpoint. Throws GatewayError `unsupported` when the endpoint cannot serve it, or `strict`
 * forbids a loss.
 */
export function prepareAttempt(input: PrepareInput): PreparedText {
  const { request, clientBytes, endpoint, strict, translate, learned } = input;
  const protocol = findProtocol(endpoint.protocol);
  if (!protocol) throw new GatewayError('unsupported', TEXTS.notImplemented(endpoint.protocol));
  if (endpoint.faithful && endpoint.protocol === request.protocol) protocol.relay?.requireLegal?.(request);
  const report = request.report.fork();
  for (const { path, action, reason, keptBy, alsoKeptBy } of request.translationLosses ?? [])
    if (endpoint.protocol !== keptBy && endpoint.protocol !== alsoKeptBy) report.add(path, action, reason);
  const adapted = adaptRequest(request, learned.taking(endpoint), protocol, report);
  const client = findProtocol(request.protocol)?.server;
  const { request: fitting, restore } = fitRequest(adapted.request, endpoint, protocol, report);
  const format =
    fitting.responseFormat &&
    checkFormat(
      fitting,
      {
        structuredOutput: endpoint.quirks.structuredOutput,
        schemasOnly: protocol.upstream.schemasOnly === true,
        faithful: endpoint.faithful,
      },
      report,
    );
  const asked = format?.request ?? fitting;
  const knowsGrammars = endpoint.quirks.customTools && protocol.upstream.functionsOnly !== true;
  const grammars = knowsGrammars || asked.tools.length === 0 ? null : checkGrammars(asked, report);
  const checks: AnswerCheck[] = [];
  if (format) checks.push(format.check);
  if (grammars) checks.push(grammars);
  const taken = learned.limited(endpoint, withRequestedReasoning(endpoint, request));
  const reasoning = learned.apply(endpoint, resolveReasoning(fitting, taken, report), report);
  const relay = protocol.relay;
  const relayed =
    !translate &&
    relay !== undefined &&
    endpoint.faithful &&
    endpoint.protocol === request.protocol &&
    !adapted.changed &&
    checks.length === 0 &&
    (endpoint.quirks.customTools || !usesCustomTools(fitting)) &&
    (relay.saysReasoning?.(request, { reasoning, reasoningStyle: taken.reasoningStyle }) ??
      statesReasoning(request, reasoning)) &&
    !needsState(request, endpoint) &&
    relay.accepts(request);
  if (!relayed) client?.requireCalls?.(request.items);
  for (const { path, action, reason, keptBy, keptIn } of request.translationLosses ?? [])
    if (keptIn === 'relay' && !relayed && endpoint.protocol === keptBy) report.add(path, action, reason);
  const body = relayed
    ? relay.editRequest(clientBytes, request, endpoint.model)
    : encodeBody(protocol, asked, targetOf(taken, reasoning), report);
  if (strict) refuseLosses(report);
  return new PreparedText(
    {
      endpoint,
      protocol,
      lane: relayed ? 'relay' : 'translate',
      report,
      checks,
      // A protocol's headers are passed only to the same protocol.
      passedHeaders: protocol.name === request.protocol ? client?.passedHeaders : undefined,
      meant: request,
      fitting,
      cutAt: adapted.cutAt,
      restore,
      watched: endpoint.isVendorRun ? null : watchedLimit(endpoint, asked, learned, report),
      reasoned: unwantedReasoning(endpoint, fitting, reasoning, report),
    },
    asked,
    body,
  );
}

/** The limit of an answer, and what to do when a server ignores it. */
function watchedLimit(
  endpoint: Endpoint,
  { maxOutputTokens: limit }: CanonicalRequest,
  learned: LearnedRefusals,
  report: Report,
): WatchedLimit | null {
  if (limit === undefined) return null;
  const { namesCutAnswers } = endpoint.quirks;
  const exceeded = (tokens: number): void => {
    learned.learnIgnoredLimit(endpoint);
    report.add(
      'max_tokens',
      'dropped',
      `${endpoint.slug} ignored the limit: the response has ${tokens} tokens`,
    );
  };
  return { limit, namesCutAnswers, exceeded };
}

/** Reports an answer with reasoning although the endpoint was told not to reason. Null: the client did not ask for that. */
function unwantedReasoning(
  { slug }: Endpoint,
  { reasoning: asked }: CanonicalRequest,
  { mode }: ResolvedReasoning,
  report: Report,
): (() => void) | null {
  if (mode !== 'off' || !asksForNone(asked)) return null;
  return () =>
    report.add(reasoningPath(asked), 'dropped', `${slug} reasoned although reasoning was switched off`);
}

/** The same attempt with another request of the same form, used to repair an answer. */
export function prepareRepair(
  prepared: PreparedText,
  request: CanonicalRequest,
  learned: LearnedRefusals,
): PreparedText {
  const { endpoint, protocol } = prepared;
  const taken = learned.limited(endpoint, withRequestedReasoning(endpoint, request));
  const reasoning = learned.apply(endpoint, resolveReasoning(request, taken, new Report()), new Report());
  return prepared.asking(request, encodeBody(protocol, request, targetOf(taken, reasoning), new Report()));
}

/**
 * True when the answer must include reasoning that the client did not request and must not see, because the gateway
 * stores it for the next turn.
 */
function needsState({ state }: CanonicalRequest, { reasoningStyle }: Endpoint): boolean {
  if (state === undefined || reasoningStyle === 'none') return false;
  const isKept = state.store || state.conversationId !== undefined;
  return isKept && !state.include.has('reasoning.encrypted_content');
}

/** True when the client's own bytes contain custom tools, which not every model understands. */
function usesCustomTools({ tools, items }: CanonicalRequest): boolean {
  return (
    tools.some(({ type }) => type === 'custom') ||
    items.some((item) => item.type === 'tool_call' && item.kind === 'custom')
  );
}

/** True when the client's own bytes already express the policy's decision. */
function statesReasoning(request: CanonicalRequest, resolved: ResolvedReasoning): boolean {
  switch (resolved.mode) {
    case 'unset':
      // Nothing must be sent. An effort in the client's bytes would be, and the upstream would refuse it.
      return request.reasoning.effort === undefined;
    case 'off':
      return request.reasoning.effort === 'none';
    case 'on':
      return request.reasoning.effort === resolved.effort && resolved.budgetTokens === undefined;
  }
}

/** Properties of an endpoint for an encoder. @param reasoning resolved for this request and endpoint */
export function targetOf(endpoint: Endpoint, reasoning: ResolvedReasoning): Target {
  const { model, quirks, members, reasoningStyle, reasoningFormat, unsupported } = endpoint;
  const { maxOutputTokens, contextLength } = endpoint;
  return {
    model,
    quirks,
    members,
    isPrivate: !endpoint.isVendorRun,
    reasoningStyle,
    isFaithful: endpoint.faithful,
    isPrefillKnown: endpoint.isPrefillKnown,
    isReasoningKnown: endpoint.isReasoningKnown || !endpoint.faithful,
    reasoning,
    reasoningFormat,
    unsupported,
    maxOutputTokens,
    contextLength,
  };
}

/** Encodes the body of a request for a target. Throws GatewayError `unsupported`. */
export function encodeBody(
  protocol: Protocol,
  request: CanonicalRequest,
  target: Target,
  report: Report,
): Slices {
  return slicesOf(JSON.stringify(protocol.upstream.encodeRequest(request, target, report)));
}

/** Throws GatewayError `unsupported` naming every loss, if there are any. */
export function refuseLosses(report: Report): void {
  const [first] = report.losses;
  if (!first) return;
  const all = report.losses
    .map((entry) => `${entry.path} would be ${entry.action}: ${entry.reason}`)
    .join('; ');
  throw new GatewayError('unsupported', `strict mode: ${all}`, { param: first.path, code: 'strict_mode' });
}

// Portability: rewrites conversation and tools for one endpoint's protocol. Parts that it cannot express are rewritten,
// rendered as text, or refused by name. The codecs say what a protocol lacks.

const NONE: ReadonlySet<Role> = new Set();

/**
 * The request for an endpoint, and how its answer is mapped back.
 * @param protocol of the endpoint
 * @throws GatewayError `unsupported` naming a part that cannot be left out
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
  // The vendor of the client's protocol supports all of it.
  const isOwnFormat = faithful && endpoint.protocol === request.protocol && request.hybrid !== true;
  // Every protocol can express text.
  const isText = fitting.tools.length === 0 && areTexts(fitting.items);
  const rendered =
    isOwnFormat || isText
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

// Reasoning of models that are not in the catalog. A server with the client's protocol gets the client's own settings,
// because new models are always unknown and the server knows them best. Through another protocol, a self-hosted server
// is only told when not to reason, because the operator chooses its model names.

/**
 * The endpoint with the reasoning support that the request assumes. Unchanged when the catalog knows it, or the request
 * does not mention reasoning.
 */
function withRequestedReasoning(
  endpoint: Endpoint,
  { protocol, hybrid, reasoning }: CanonicalRequest,
): Endpoint {
  const { effort, enabled, maxTokens } = reasoning;
  if (endpoint.isReasoningKnown) return endpoint;
  if (endpoint.protocol !== protocol || hybrid)
    return !endpoint.isVendorRun && asksForNone(reasoning)
      ? // Every protocol can express a budget of zero.
        { ...endpoint, reasoningStyle: 'budget', reasoningMandatory: false }
      : endpoint;
  if (effort === undefined && enabled === undefined && maxTokens === undefined) return endpoint;
  return {
    ...endpoint,
    // A budget of zero tokens is a budget too.
    reasoningStyle:
      maxTokens !== undefined || (enabled === false && effort === undefined) ? 'budget' : 'effort',
    reasoningMandatory: false,
    reasoningBudget: { min: 0, max: null },
    efforts: null,
    quirks: { ...endpoint.quirks, exclusiveReasoning: false },
  };
}
