// Place of a request among traces (W3C Trace Context, Recommendation of 2021-11-23): reading and writing its headers,
// and the ids of spans. An id need not be stored: it follows from that of the generation.

export interface TraceContext {
  /** 32 lower-case hex characters, as all ids here; never only zeros. */
  readonly traceId: string;
  /** The client's span, 16 characters; null where the client has none. */
  readonly parentId: string | null;
  /** Whether spans are kept. */
  readonly isSampled: boolean;
  /** State that other vendors' tools keep in the trace. Null: none. */
  readonly state: string | null;
  /** Span of another trace that led to it. Absent: none did. */
  readonly link?: TraceLink;
}

export interface TraceLink {
  readonly traceId: string;
  readonly spanId: string;
  readonly state: string | null;
}

/** Reads a request header by lower-case name. */
type ReadHeader = (name: string) => string | null;

/** Higher versions may go on behind this; the version 255 is none. */
const TRACEPARENT = /^(?!ff)([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-.*)?$/;
/** The least that everybody must pass on of `tracestate`; longer ones are left out whole. */
const MOST_STATE_CHARS = 512;
const ZEROS = /^0+$/;

/**
 * The trace of a request: the one that its client began, or one of its own.
 * @param generationId 32 lower-case hex characters
 * @param share of the requests without a trace that are kept, 0 to 1: the client decides for its own
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
 * The trace of work that a request left behind: one of its own, because the request is over by then and may have left many.
 * It is linked to the span that its client was in, and kept where that is.
 * @param recordId 32 lower-case hex characters
 */
export function jobTraceOf(header: ReadHeader, recordId: string, share: number): TraceContext {
  const own = traceOf(() => null, recordId, share);
  const origin = begun(header);
  if (!origin || origin.parentId === null) return own;
  const { traceId, parentId: spanId, state, isSampled } = origin;
  return { ...own, isSampled, link: { traceId, spanId, state } };
}

/** A trace that a client began; undefined where its header is absent or malformed. */
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
 * The id of a span.
 * @param place 0 for the request itself, then counting up: fewer than 2^32 of one request
 */
export function spanIdOf(generationId: string, place: number): string {
  const random = Number.parseInt(generationId.slice(-8), 16);
  const own = ((random + place) >>> 0).toString(16).padStart(8, '0');
  const id = generationId.slice(-16, -8) + own;
  return ZEROS.test(id) ? '0000000000000001' : id;
}

/** The id of the span of a try at an upstream. @param ordinal 0 for the first one */
export function attemptSpanId(generationId: string, ordinal: number): string {
  return spanIdOf(generationId, ordinal + 1);
}

/** Header lines, each ended, that tell an upstream which span asks it. */
export function traceLines({ traceId, isSampled, state }: TraceContext, spanId: string): string {
  const line = `traceparent: 00-${traceId}-${spanId}-0${isSampled ? 1 : 0}\r\n`;
  return state === null ? line : `${line}tracestate: ${state}\r\n`;
}
