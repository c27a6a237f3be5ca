// Spans of a completed request in OTLP's JSON form (opentelemetry-proto 1.9, trace.proto, and "JSON Protobuf Encoding"
// of the OTLP specification, 2026-11). Attributes are named after the conventions for generative AI
// (open-telemetry/semantic-conventions-genai, client-inference.md, 2026-11). Error messages are omitted, because
// upstreams quote prompts in them.
import { cacheWriteTokens, inputTokens, outputTokens, type Usage } from '../../canonical/index.ts';
import type { FinishedRequest, ToolRun } from '../../engine/index.ts';
import type { AttemptRecord } from '../../accounts/ledger/index.ts';
import { operationOf } from '../metrics/index.ts';
import {
  attemptSpanId,
  spanIdOf,
  type TraceContext,
  type TraceLink,
} from '../../base/telemetry/trace-context.ts';
import type { UnixMs } from '../../base/units.ts';

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
  /** Spans of other traces that caused this one. */
  readonly links?: readonly Link[];
  /** `STATUS_CODE_ERROR`; absent: unset. */
  readonly status?: { readonly code: 2 };
}

interface Link {
  readonly traceId: string;
  readonly spanId: string;
  readonly traceState?: string;
  readonly flags: number;
}

const INTERNAL = 1;
const SERVER = 2;
const CLIENT = 3;
/** Flag of sampled spans. */
const SAMPLED = 1;

/** Spans of a request, of each attempt, and of each tool call that the gateway ran. */
export function spansOf(finished: FinishedRequest, trace: TraceContext): readonly Span[] {
  const { generation, attempts, toolRuns } = finished;
  const spans = [requestSpan(finished, trace)];
  for (const attempt of attempts) spans.push(attemptSpan(attempt, finished, trace));
  toolRuns.forEach((run, at) => {
    spans.push(toolSpan(run, child(finished, trace, attemptSpanId(generation.id, attempts.length + at))));
  });
  return spans;
}

function requestSpan({ generation, principal }: FinishedRequest, trace: TraceContext): Span {
  const { api, requestedModel, status, error, createdAt, endedAt, firstContentAt, cost } = generation;
  const operation = operationOf(api);
  const attributes = new AttributeList();
  attributes.text('gen_ai.operation.name', operation);
  attributes.text('gen_ai.provider.name', generation.provider);
  attributes.text('gen_ai.request.model', requestedModel);
  attributes.add('gen_ai.request.stream', { boolValue: generation.streamed });
  attributes.text('gen_ai.response.id', generation.id);
  attributes.text('gen_ai.response.model', generation.model);
  if (generation.finishReason !== null)
    attributes.add('gen_ai.response.finish_reasons', {
      arrayValue: { values: [{ stringValue: generation.finishReason }] },
    });
  if (generation.streamed && firstContentAt !== null)
    attributes.double('gen_ai.response.time_to_first_chunk', Math.max(0, firstContentAt - createdAt) / 1000);
  attributes.usage(generation.usage);
  attributes.integer('http.response.status_code', status);
  attributes.text('error.type', error?.kind);
  attributes.text('enduser.pseudo.id', generation.endUser);
  attributes.text('dragoman.api', api);
  attributes.text('dragoman.project', generation.projectId);
  attributes.text('dragoman.key', principal.name);
  attributes.text('dragoman.lane', generation.lane);
  attributes.double('dragoman.cost_usd', cost?.usd);
  return {
    traceId: trace.traceId,
    spanId: spanIdOf(generation.id, 0),
    ...(trace.parentId !== null && { parentSpanId: trace.parentId }),
    ...(trace.state !== null && { traceState: trace.state }),
    flags: SAMPLED,
    name: `${operation} ${requestedModel}`,
    kind: SERVER,
    ...times(createdAt, endedAt),
    attributes: attributes.list,
    ...(trace.link && { links: [linkTo(trace.link)] }),
    // Client errors are not errors of a server span (conventions for HTTP spans, "Status").
    ...failed(error !== null && (status >= 500 || status < 400)),
  };
}

function linkTo({ traceId, spanId, state }: TraceLink): Link {
  return { traceId, spanId, ...(state !== null && { traceState: state }), flags: SAMPLED };
}

function attemptSpan(attempt: AttemptRecord, finished: FinishedRequest, trace: TraceContext): Span {
  const operation = operationOf(finished.generation.api);
  const attributes = new AttributeList();
  attributes.text('gen_ai.operation.name', operation);
  attributes.text('gen_ai.provider.name', attempt.provider);
  attributes.text('gen_ai.request.model', attempt.model);
  // For a failed attempt it is a request id.
  if (attempt.outcome === 'completed') attributes.text('gen_ai.response.id', attempt.upstreamId);
  attributes.usage(attempt.usage);
  attributes.integer('http.response.status_code', attempt.status);
  attributes.text('error.type', attempt.error?.kind);
  attributes.text('dragoman.endpoint', attempt.endpoint);
  attributes.text('dragoman.protocol', attempt.protocol);
  attributes.text('dragoman.lane', attempt.lane);
  attributes.text('dragoman.outcome', attempt.outcome);
  return {
    ...child(finished, trace, attemptSpanId(attempt.generationId, attempt.ordinal)),
    name: `${operation} ${attempt.model}`,
    kind: CLIENT,
    ...times(attempt.startedAt, attempt.endedAt),
    attributes: attributes.list,
    ...failed(attempt.outcome === 'failed'),
  };
}

function toolSpan({ name, server, startedAt, endedAt, isError }: ToolRun, place: Child): Span {
  const attributes = new AttributeList();
  attributes.text('gen_ai.operation.name', 'execute_tool');
  attributes.text('gen_ai.tool.name', name);
  attributes.text('dragoman.mcp.server', server);
  if (isError) attributes.text('error.type', 'tool_error');
  return {
    ...place,
    name: `execute_tool ${name}`,
    kind: INTERNAL,
    ...times(startedAt, endedAt),
    attributes: attributes.list,
    ...failed(isError),
  };
}

type Child = Pick<Span, 'traceId' | 'spanId' | 'flags'> & { readonly parentSpanId: string };

/** Common members of the spans below that of the request. */
function child({ generation }: FinishedRequest, { traceId }: TraceContext, spanId: string): Child {
  return { traceId, spanId, parentSpanId: spanIdOf(generation.id, 0), flags: SAMPLED };
}

function times(startMs: UnixMs, endMs: UnixMs): Pick<Span, 'startTimeUnixNano' | 'endTimeUnixNano'> {
  // A span must not end before it starts, even if the clock was set back.
  return { startTimeUnixNano: nanos(startMs), endTimeUnixNano: nanos(Math.max(startMs, endMs)) };
}

/** Nanoseconds as text, because they exceed safe integers. */
function nanos(ms: number): string {
  return `${Math.round(ms)}000000`;
}

function failed(isError: boolean): Pick<Span, 'status'> {
  return isError ? { status: { code: 2 } } : {};
}

/** Attributes in order. Missing values are omitted. */
class AttributeList {
  readonly list: Attribute[] = [];

  add(key: string, value: Value): void {
    this.list.push({ key, value });
  }

  text(key: string, value: string | null | undefined): void {
    if (value != null) this.add(key, { stringValue: value });
  }

  integer(key: string, value: number | null): void {
    if (value !== null) this.add(key, { intValue: String(value) });
  }

  double(key: string, value: number | null | undefined): void {
    if (value != null) this.add(key, { doubleValue: value });
  }

  usage(usage: Usage | null): void {
    if (!usage) return;
    this.integer('gen_ai.usage.input_tokens', inputTokens(usage));
    this.integer('gen_ai.usage.output_tokens', outputTokens(usage));
    // Omitted if 0, as for most requests.
    this.tokens('gen_ai.usage.cache_read.input_tokens', usage.input.cacheRead);
    this.tokens('gen_ai.usage.cache_write.input_tokens', cacheWriteTokens(usage));
    this.tokens('gen_ai.usage.reasoning.output_tokens', usage.output.reasoning);
  }

  tokens(key: string, value: number): void {
    if (value > 0) this.integer(key, value);
  }
}
