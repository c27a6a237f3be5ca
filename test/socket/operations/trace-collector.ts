// A collector of traces, as an operator has one: it keeps what it is sent.
import type { Span } from '../../../src/operations/traces/index.ts';

export interface TraceCollector {
  readonly url: string;
  /** Bodies as they came. */
  readonly bodies: string[];
  readonly headers: Headers[];
  /** Spans of all of them. */
  spans(): readonly Span[];
  stop(): Promise<void>;
}

interface Export {
  readonly resourceSpans: readonly { readonly scopeSpans: readonly { readonly spans: readonly Span[] }[] }[];
}

export function collectTraces(): TraceCollector {
  const bodies: string[] = [];
  const headers: Headers[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      if (request.method !== 'POST' || new URL(request.url).pathname !== '/v1/traces')
        return new Response(null, { status: 404 });
      headers.push(request.headers);
      bodies.push(await request.text());
      return Response.json({});
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    bodies,
    headers,
    spans: () =>
      bodies.flatMap((body) =>
        (JSON.parse(body) as Export).resourceSpans.flatMap(({ scopeSpans }) =>
          scopeSpans.flatMap(({ spans }) => spans),
        ),
      ),
    stop: () => server.stop(true),
  };
}

/** The value of an attribute, as JSON has it; undefined where there is none. */
export function attributeOf(span: Span | undefined, key: string): unknown {
  const value = span?.attributes.find((each) => each.key === key)?.value;
  return value && Object.values(value)[0];
}
