// The spans of a request that is over, as OTLP has them in JSON (opentelemetry-proto 1.9, trace.proto, and "JSON Protobuf
// Encoding" of the OTLP specification, 2026-11). Names of attributes are those of the conventions for generative AI
// (open-telemetry/semantic-conventions-genai, client-inference.md, 2026-11). Texts of errors are left out: upstreams quote
// prompts in them.
import { cacheWriteTokens, inputTokens, outputTokens, type Usage } from '../canonical/index.ts';
import type { Settlement } from '../engine/index.ts';
import type { AttemptRecord } from '../ledger/index.ts';
import { operationOf } from '../metrics/index.ts';
import { attemptSpanId, spanIdOf, type TraceContext } from '../telemetry/trace-context.ts';

type Value =
  | { readonly stringValue: string }
  | { readonly boolValue: boolean }
  | { readonly intValue: string }
  | { readonly doubleValue: number }
  | { readonly arrayValue: { readonly values: readonly Value[] } };

export interface Attribute {
  readonly key: string;
  readonly value: Value;
}

export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly traceState?: string;
  readonly flags: number;
  readonly name: string;
  /** `SPAN_KIND_INTERNAL`, `_SERVER`, `_CLIENT`. */
  readonly kind: 1 | 2 | 3;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly Attribute[];
  /** `STATUS_CODE_ERROR`; absent: nothing is said. */
  readonly status?: { readonly code: 2 };
}

const INTERNAL = 1;
const SERVER = 2;
const CLIENT = 3;
/** Kept by the client that began the trace, or by us. */
const SAMPLED = 1;

/** What a request was, each of its attempts and each call of a tool that the gateway ran. */
export function spansOf(settlement: Settlement, trace: TraceContext): readonly Span[] {
  const { generation, attempts, toolRuns } = settlement;
  const spans = [requestSpan(settlement, trace)];
  for (const attempt of attempts) spans.push(attemptSpan(attempt, settlement, trace));
  toolRuns.forEach(({ name, server, startedAt, endedAt, isError }, at) => {
    spans.push({
      ...child(settlement, trace, attemptSpanId(generation.id, attempts.length + at)),
      ...times(startedAt, endedAt),
      name: `execute_tool ${name}`,
      kind: INTERNAL,
      attributes: present({
        'gen_ai.operation.name': text('execute_tool'),
        'gen_ai.tool.name': text(name),
        'dragoman.mcp.server': text(server),
        'error.type': isError ? text('tool_error') : undefined,
      }),
      ...failed(isError),
    });
  });
  return spans;
}

function requestSpan({ generation, principal }: Settlement, trace: TraceContext): Span {
  const { id, api, model, requestedModel, status, error, createdAt, endedAt, firstContentAt, cost } =
    generation;
  const operation = operationOf(api);
  return {
    traceId: trace.traceId,
    spanId: spanIdOf(id, 0),
    ...(trace.parentId !== null && { parentSpanId: trace.parentId }),
    ...(trace.state !== null && { traceState: trace.state }),
    flags: SAMPLED,
    name: `${operation} ${requestedModel}`,
    kind: SERVER,
    ...times(createdAt, endedAt),
    attributes: present({
      'gen_ai.operation.name': text(operation),
      'gen_ai.provider.name': text(generation.provider),
      'gen_ai.request.model': text(requestedModel),
      'gen_ai.request.stream': { boolValue: generation.streamed },
      'gen_ai.response.id': text(id),
      'gen_ai.response.model': text(model),
      'gen_ai.response.finish_reasons': finishReasons(generation.finishReason),
      'gen_ai.response.time_to_first_chunk':
        generation.streamed && firstContentAt !== null ? seconds(firstContentAt - createdAt) : undefined,
      ...usageAttributes(generation.usage),
      'http.response.status_code': integer(status),
      'error.type': text(error?.kind),
      'enduser.pseudo.id': text(generation.endUser),
      'dragoman.api': text(api),
      'dragoman.project': text(generation.projectId),
      'dragoman.key': text(principal.name),
      'dragoman.lane': text(generation.lane),
      'dragoman.cost_usd': cost?.usd == null ? undefined : { doubleValue: cost.usd },
    }),
    // What the caller got wrong is no error of a server (conventions for HTTP spans, "Status").
    ...failed(error !== null && (status >= 500 || status < 400)),
  };
}

function attemptSpan(attempt: AttemptRecord, settlement: Settlement, trace: TraceContext): Span {
  const operation = operationOf(settlement.generation.api);
  return {
    ...child(settlement, trace, attemptSpanId(attempt.generationId, attempt.ordinal)),
    ...times(attempt.startedAt, attempt.endedAt),
    name: `${operation} ${attempt.model}`,
    kind: CLIENT,
    attributes: present({
      'gen_ai.operation.name': text(operation),
      'gen_ai.provider.name': text(attempt.provider),
      'gen_ai.request.model': text(attempt.model),
      // What a refusal tells is the id of the request.
      'gen_ai.response.id': attempt.outcome === 'completed' ? text(attempt.upstreamId) : undefined,
      ...usageAttributes(attempt.usage),
      'http.response.status_code': attempt.status === null ? undefined : integer(attempt.status),
      'error.type': text(attempt.error?.kind),
      'dragoman.endpoint': text(attempt.endpoint),
      'dragoman.protocol': text(attempt.protocol),
      'dragoman.lane': text(attempt.lane),
      'dragoman.outcome': text(attempt.outcome),
    }),
    ...failed(attempt.outcome === 'failed'),
  };
}

/** What every span below that of the request has. */
function child({ generation }: Settlement, { traceId }: TraceContext, spanId: string) {
  return { traceId, spanId, parentSpanId: spanIdOf(generation.id, 0), flags: SAMPLED };
}

function times(startMs: number, endMs: number): Pick<Span, 'startTimeUnixNano' | 'endTimeUnixNano'> {
  // A clock that was put back makes no span that ends before it begins.
  return { startTimeUnixNano: nanos(startMs), endTimeUnixNano: nanos(Math.max(startMs, endMs)) };
}

/** A number does not hold it. */
function nanos(ms: number): string {
  return `${Math.round(ms)}000000`;
}

function usageAttributes(usage: Usage | null): Readonly<Record<string, Value | undefined>> {
  if (!usage) return {};
  return {
    'gen_ai.usage.input_tokens': integer(inputTokens(usage)),
    'gen_ai.usage.output_tokens': integer(outputTokens(usage)),
    'gen_ai.usage.cache_read.input_tokens': integer(usage.input.cacheRead),
    'gen_ai.usage.cache_write.input_tokens': integer(cacheWriteTokens(usage)),
    'gen_ai.usage.reasoning.output_tokens': integer(usage.output.reasoning),
  };
}

function finishReasons(reason: string | null): Value | undefined {
  return reason === null ? undefined : { arrayValue: { values: [{ stringValue: reason }] } };
}

function failed(isError: boolean): Pick<Span, 'status'> {
  return isError ? { status: { code: 2 } } : {};
}

function text(value: string | null | undefined): Value | undefined {
  return value == null ? undefined : { stringValue: value };
}

function integer(value: number): Value {
  return { intValue: String(value) };
}

function seconds(ms: number): Value {
  return { doubleValue: Math.max(0, ms) / 1000 };
}

function present(values: Readonly<Record<string, Value | undefined>>): readonly Attribute[] {
  const attributes: Attribute[] = [];
  for (const key in values) {
    const value = values[key];
    if (value) attributes.push({ key, value });
  }
  return attributes;
}
