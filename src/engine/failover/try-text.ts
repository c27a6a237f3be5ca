// One try of a text request at one candidate: an attempt that answers the client directly, or attempts whose answer is
// checked first and repaired once.
import {
  type FinishReason,
  GatewayError,
  inputTokens,
  outputTokens,
  areTexts,
  type CanonicalRequest,
} from '../../canonical/index.ts';
import { overlong, prepareSchema, schemaToPrepare, truncate, validateAnswer } from '../adapt/index.ts';
import { CheckedOutput, HeldAnswer } from '../answer/index.ts';
import {
  type Attempt,
  type AttemptOutput,
  type Meter,
  prepareAttempt,
  type PreparedText,
  prepareRepair,
  runAttempt,
} from '../attempt/index.ts';
import { EMPTY_ANSWER } from '../failure-table.ts';
import { cacheLifeMs, contextOf, type Plan, sealedData, storeProducer } from '../routing/index.ts';
import type { TextTry } from './text-try.ts';
import type { Endpoint } from '../../catalog/index.ts';
import { findProtocol } from '../../protocols/index.ts';
import { fetchMedia, hasMediaAddresses, needsReading, readDocuments } from '../media/index.ts';

/** @returns undefined when it was answered. Rejects with GatewayError when the endpoint cannot be tried */
export async function tryText(asking: TextTry): Promise<GatewayError | undefined> {
  const { input, candidate, translate } = asking;
  const { admitted, planned, learned } = input;
  const ready = await readyFor(asking);
  if (asking.terms.cancellation.reason) return asking.terms.cancellation.reason;
  const prepared = prepareAttempt({
    request: ready.request,
    clientBytes: planned.arrival.call.body,
    endpoint: candidate.endpoint,
    strict: planned.strict,
    translate: translate || admitted.needsTranslation || ready.isRewritten,
    learned,
  });
  // Truncation was requested, so strict mode does not refuse it.
  if (ready.omitted > 0)
    prepared.report.add(
      'input',
      'clamped',
      `the ${ready.omitted} oldest items do not fit into the context window`,
    );
  if (prepared.checks.length > 0) return checked(asking, prepared);
  const { output, terms } = asking;
  // Translated events are collected at the client's output. Relayed bytes must be read in transit.
  const collects = admitted.needsEvents(prepared.endpoint) || returnsSealed(asking);
  const attempt = await attemptAt(asking, { prepared, output, collects, claim: terms.claim });
  if (attempt.failure) return attempt.failure;
  holdConversation(asking, attempt);
  return undefined;
}

async function checked(asking: TextTry, prepared: PreparedText): Promise<GatewayError | undefined> {
  const held = new CheckedOutput(asking.output, asking.terms.claim, prepared.checks);
  const attempt = await attemptAt(asking, { prepared, output: held, collects: false });
  const failure =
    attempt.failure ?? (held.isHolding ? await deliverChecked(asking, prepared, held, attempt) : undefined);
  if (!failure) holdConversation(asking, attempt);
  return failure;
}

/** Sends the held answer to the client: unchanged, or after one repair. */
async function deliverChecked(
  asking: TextTry,
  prepared: PreparedText,
  held: CheckedOutput,
  first: Attempt,
): Promise<GatewayError | undefined> {
  const { cancellation } = asking.terms;
  if (cancellation.reason) return cancellation.reason;
  const validation = await validateAnswer(prepared.checks, held.collector.result(), cancellation.signal);
  if (cancellation.reason) return cancellation.reason;
  if (validation.type === 'valid') {
    held.release(validation.answer, first);
    return undefined;
  }
  const output = new HeldAnswer();
  const repair = prepareRepair(prepared, validation.repair.request, asking.input.learned);
  const second = await attemptAt(asking, { prepared: repair, output, collects: false });
  if (cancellation.reason) return cancellation.reason;
  const repaired = second.failure ?? output.collector.result();
  const chosen = await validation.repair.choose(repaired, cancellation.signal);
  if (chosen instanceof GatewayError) return chosen;
  held.release(chosen.answer, chosen.isSecond ? second : first);
  return undefined;
}

/** Differences between the attempts of one try. */
interface AttemptVariant {
  readonly prepared: PreparedText;
  readonly output: AttemptOutput;
  readonly collects: boolean;
  readonly claim?: (() => void) | undefined;
}

function attemptAt(
  { input, terms }: TextTry,
  { prepared, output, collects, claim }: AttemptVariant,
): Promise<Attempt> {
  const { others } = terms;
  return runAttempt(
    {
      requester: input.planned,
      prepared,
      output,
      collects,
      claim,
      // After tool results a model may have nothing to add.
      passOn: (meter) =>
        prepared.request.items.at(-1)?.type !== 'tool_result' && others.hasUntried
          ? emptyAnswer(meter, prepared.endpoint.slug)
          : null,
    },
    input.attemptLog,
    terms.cancellation,
    input.deps,
  );
}

/**
 * Stores where the conversation continues: the upstream has read the prompt, so its cache can serve the next turn, and it
 * can read its own reasoning.
 */
function holdConversation({ input, candidate }: TextTry, attempt: Attempt): void {
  const { routing } = input.deps;
  const { plan } = input.planned;
  if (plan.conversation !== null)
    routing.hold(plan.conversation, candidate.endpoint, cacheLifeMs(attempt.charge().usage));
  if (!hasAlternatives(plan)) return;
  const relayed = attempt.tap?.result().items.flatMap((item) => sealedData(item) ?? []);
  storeProducer(relayed ?? attempt.meter.sealed, candidate.endpoint, routing);
}

/** True when the client receives encrypted reasoning that another endpoint of the plan cannot read. */
function returnsSealed({ input, candidate, request }: TextTry): boolean {
  const isIncluded = request.state?.include.has('reasoning.encrypted_content') === true;
  return isIncluded && candidate.endpoint.reasoningFormat !== null && hasAlternatives(input.planned.plan);
}

/** True when the conversation could continue at another endpoint. */
function hasAlternatives({ candidates, excluded }: Plan): boolean {
  return candidates.length + excluded.length > 1;
}

// Empty answers: charged answers without content, treated as failures.

/** Finish reasons that do not explain an empty answer, unlike limits, filters and refusals. */
const SILENT_ENDS: ReadonlySet<FinishReason> = new Set(['stop', 'tool_calls', 'unknown']);

/**
 * The failure of an empty answer with usage reported by the upstream. Null: the emptiness has a reason.
 * @param slug of the endpoint
 */
function emptyAnswer({ finish, usage }: Pick<Meter, 'finish' | 'usage'>, slug: string): GatewayError | null {
  if (!finish || !usage || usage.estimated || !SILENT_ENDS.has(finish.reason)) return null;
  const tokens = inputTokens(usage) + outputTokens(usage);
  if (tokens === 0) return null;
  return new GatewayError(
    'upstream_unavailable',
    `${slug} counted ${tokens} tokens but returned no content`,
    {
      code: EMPTY_ANSWER,
    },
  );
}

// Preparation that takes time, before a request is prepared for one endpoint: adaptation, truncation, fetched media, text of
// documents, compiled schemas. Most requests need none.

export interface Ready {
  readonly request: CanonicalRequest;
  /** True: the request differs from the client's own bytes. */
  readonly isRewritten: boolean;
  /** Number of oldest items that were dropped to fit the context. */
  readonly omitted: number;
}

/** Makes the request of a try ready. Rejects with GatewayError when that is impossible or cancelled. */
export async function readyFor(asking: TextTry): Promise<Ready> {
  const { input, candidate, terms } = asking;
  const { cancellation } = terms;
  const { endpoint } = candidate;
  const fitted = input.fit
    ? await cancellation.orCancelled(input.fit(asking.request, endpoint))
    : asking.request;
  const { request: truncated, omitted } = fitted.state
    ? await cutFor(fitted, asking)
    : { request: fitted, omitted: 0 };
  let request = truncated;
  const { attemptLog, deps } = input;
  const isText = areTexts(request.items);
  if (!isText && hasMediaAddresses(request)) {
    const { account } = input.planned.arrival.call;
    const fetching = fetchMedia(request, endpoint, attemptLog.fetched, deps.media, account);
    request = await cancellation.orCancelled(fetching);
  }
  if (!isText && needsReading(request, endpoint)) {
    const reading = readDocuments(request, endpoint, attemptLog.documents, cancellation.signal);
    request = await cancellation.orCancelled(reading);
  }
  // A schema for checking the answer is compiled first, in a separate process.
  const schema = schemaOf(request, endpoint);
  if (schema) await cancellation.orCancelled(prepareSchema(schema, cancellation.signal));
  return { request, isRewritten: fitted !== asking.request || request !== truncated, omitted };
}

/** The schema for checking the answer here. Undefined or null: the answer is not checked. */
function schemaOf(
  request: CanonicalRequest,
  endpoint: Endpoint,
): ReturnType<typeof schemaToPrepare> | undefined {
  const ported = findProtocol(request.protocol)?.server?.portableFormat?.(request, endpoint);
  const format = ported ?? request.responseFormat;
  const { quirks, faithful } = endpoint;
  return format && schemaToPrepare(format, { structuredOutput: quirks.structuredOutput, faithful });
}

/** Truncates the request to the endpoint's context if the client allows it. Rejects when it does not fit. */
async function cutFor(
  request: CanonicalRequest,
  { input, candidate, terms: { cancellation } }: TextTry,
): Promise<Pick<Ready, 'request' | 'omitted'>> {
  const { routing, clock } = input.deps;
  const { endpoint } = candidate;
  const isOver = (): boolean => cancellation.reason !== undefined;
  const contextLength = contextOf(endpoint, routing.health(endpoint), clock.now());
  if (request.state?.truncation === 'auto') return truncate(request, contextLength, isOver);
  const refusal = await overlong(request, contextLength, isOver);
  if (refusal) throw refusal;
  return { request, omitted: 0 };
}
