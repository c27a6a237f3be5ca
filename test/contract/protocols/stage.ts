// Stage of the matrix: a gateway in front of one upstream that speaks every protocol and does what a row says,
// and a small web that the gateway itself may search and fetch from. Nothing is relayed. Knows no row.
import { UPSTREAM_KEY } from '../../support/upstreams/gateway-with-upstreams.ts';
import { startUpstream, type ScriptedUpstream } from '../../support/upstreams/scripted-upstream.ts';
import { searxngAnswer } from '../../support/upstreams/search-stub.ts';
import { startGateway, type TestGateway } from '../../support/harness.ts';
import { PROTOCOLS, type Protocol, type Servers } from './feature.ts';
import { PAGES, PDF, PNG } from './samples.ts';

export interface Stage extends AsyncDisposable {
  readonly gateway: TestGateway;
  readonly upstream: ScriptedUpstream;
  /** Address of the web. */
  readonly web: string;
}

/** The gateway's name for the model of some servers. */
export const modelOf = (protocol: Protocol, servers: Servers | undefined): string =>
  `${servers ?? 'able'}/${protocol}`;

const FILES: Readonly<Record<string, readonly [type: string, base64: string]>> = {
  '/dot.png': ['image/png', PNG],
  '/report': ['application/pdf', PDF],
};

function startWeb(): Bun.Server<undefined> {
  return Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch(request) {
      const { pathname } = new URL(request.url);
      if (pathname === '/search')
        return Response.json(searxngAnswer(PAGES.map((page) => ({ ...page, text: 'Sunny.', date: null }))));
      const [type, base64] = FILES[pathname] ?? [];
      if (type === undefined || base64 === undefined) return new Response('no such file', { status: 404 });
      return new Response(Buffer.from(base64, 'base64'), { headers: { 'content-type': type } });
    },
  });
}

/** Every protocol as one of the provider's servers speaks it. */
function protocolsAt(origin: string, able: boolean): Readonly<Record<Protocol, object>> {
  const quirks = { searches_web: able, fetches_urls: able, custom_tools: able };
  return {
    'openai-chat': {
      base_url: `${origin}/v1`,
      reasoning_format: 'anthropic-claude-v1',
      quirks: { ...quirks, reasoning_replay: 'reasoning_details', cache_control: true },
    },
    'openai-responses': {
      base_url: `${origin}/v1`,
      reasoning_format: 'openai-responses-v1',
      quirks: { ...quirks, cache_control: true },
    },
    'anthropic-messages': {
      base_url: origin,
      reasoning_format: 'anthropic-claude-v1',
      quirks: { ...quirks, cache_control: true, exclusive_reasoning: true, later_instructions: true },
    },
    gemini: { base_url: `${origin}/v1beta`, reasoning_format: 'google-gemini-v1', quirks },
  };
}

/** Starts everything. */
export async function openStage(): Promise<Stage> {
  const upstream = await startUpstream();
  const web = startWeb();
  const at = `127.0.0.1:${web.port}`;
  const { origin } = upstream;
  const able = protocolsAt(origin, true);
  const provider = (protocols: object): object => ({ api_key: UPSTREAM_KEY, protocols });
  const served = (servers: Servers | undefined, from: string, reasoning: string): object[] =>
    PROTOCOLS.map((protocol) => ({
      id: modelOf(protocol, servers),
      max_output_tokens: 8000,
      endpoints: [{ provider: from, model: 'this-model', protocol, reasoning }],
    }));
  const gateway = await startGateway({
    routing: { retries: 0, breaker: { failures: 1000 } },
    fetch: { allow: [at] },
    tools: { web_search: { backend: 'searxng', url: `http://${at}` } },
    providers: {
      upstream: provider(able),
      bare: provider(protocolsAt(origin, false)),
      // Unsigned calls are no matter of the rows that need these.
      newest: provider({ ...able, gemini: { ...able.gemini, reasoning_format: 'none' } }),
    },
    models: [
      ...served(undefined, 'upstream', 'both'),
      ...served('bare', 'bare', 'both'),
      ...served('newest', 'newest', 'effort'),
    ],
  });
  return {
    gateway,
    upstream,
    web: `http://${at}`,
    async [Symbol.asyncDispose]() {
      await gateway.close();
      await upstream.stop();
      await web.stop(true);
    },
  };
}
