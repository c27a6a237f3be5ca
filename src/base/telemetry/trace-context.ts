// Trace context of a request (W3C Trace Context, Recommendation of 2021-11-23): reads and writes its headers, and derives
// span ids. Span ids are not stored, because they follow from the generation id.

export interface TraceContext {
  /** 32 lower-case hex characters, never all zeros. */
  readonly traceId: string;
  /** Id of the client's span, 16 hex characters; null if there is none. */
  readonly parentId: string | null;
  /** True if spans are recorded. */
  readonly isSampled: boolean;
  /** `tracestate` header: data of other tracing systems. Null: none. */
  readonly state: string | null;
  /** Span of another trace that caused this one. Absent: none. */
  readonly link?: TraceLink;
}

export interface TraceLink {
  readonly traceId: string;
  readonly spanId: string;
  readonly state: string | null;
}

/** Reads a request header by lower-case name. */
type ReadHeader = (name: string) => string | null;

/** Higher versions may have more fields. Version 255 is invalid. */
const TRACEPARENT = /^(?!ff)([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-.*)?$/;
/** Longest `tracestate` that every system must pass on. Longer ones are dropped. */
const MOST_STATE_CHARS = 512;
const ZEROS = /^0+$/;

/**
 * Trace of a request: the client's, or a new one.
 * @param generationId 32 lower-case hex characters
 * @param share share of requests to sample if the client sent no trace, 0 to 1
 */
export function traceOf(header: ReadHeader, generationId: string, share: number): TraceContext {
  return (
    begun(header) ?? {
      traceId: generationId,
      parentId: null,
      isSampled: Number.parseInt(generationId.slice(-8), 16) < share * 2 ** 32,
      state: null,
    }
  );
}

/**
 * Trace of a background job. It is a new trace, because the request has ended and may have created many jobs. It links to
 * the client's span, and is sampled if that is.
 * @param recordId 32 lower-case hex characters
 */
export function jobTraceOf(header: ReadHeader, recordId: string, share: number): TraceContext {
  const own = traceOf(() => null, recordId, share);
  const origin = begun(header);
  if (!origin || origin.parentId === null) return own;
  const { traceId, parentId: spanId, state, isSampled } = origin;
  return { ...own, isSampled, link: { traceId, spanId, state } };
}

/** The client's trace; undefined if the header is absent or malformed. */
function begun(header: ReadHeader): TraceContext | undefined {
  const text = header('traceparent');
  if (text === null) return undefined;
  const [, version, traceId = '', parentId = '', flags = '', more] = TRACEPARENT.exec(text) ?? [];
  if (version === undefined || ZEROS.test(traceId) || ZEROS.test(parentId)) return undefined;
  if (version === '00' && more !== undefined) return undefined;
  const state = header('tracestate');
  return {
    traceId,
    parentId,
    isSampled: (Number.parseInt(flags, 16) & 1) === 1,
    state: state !== null && state !== '' && state.length <= MOST_STATE_CHARS ? state : null,
  };
}

/**
 * Id of a span.
 * @param place 0 for the request itself, then counting up; less than 2^32
 */
export function spanIdOf(generationId: string, place: number): string {
  const random = Number.parseInt(generationId.slice(-8), 16);
  const own = ((random + place) >>> 0).toString(16).padStart(8, '0');
  const id = generationId.slice(-16, -8) + own;
  return ZEROS.test(id) ? '0000000000000001' : id;
}

/** Id of the span of an upstream attempt. @param ordinal 0 for the first attempt */
export function attemptSpanId(generationId: string, ordinal: number): string {
  return spanIdOf(generationId, ordinal + 1);
}

/** Header lines with line ends that pass the trace to an upstream. */
export function traceLines({ traceId, isSampled, state }: TraceContext, spanId: string): string {
  const line = `traceparent: 00-${traceId}-${spanId}-0${isSampled ? 1 : 0}\r\n`;
  return state === null ? line : `${line}tracestate: ${state}\r\n`;
}
