// A gateway with a provider that answers, one that is down, one that rejects its key and one that cuts its streams; seven requests
// that ended in six ways.
import { type ManagedGateway, startManaged } from './scene.ts';

const MESSAGES = [{ role: 'user', content: 'What is 6 x 7?' }];

export interface Outage {
  readonly gateway: ManagedGateway;
  /** Ids of the requests: `recovered`, `unpriced`, `locked`, `cut`, `bad`, `first` and `limited`. */
  readonly ids: Readonly<Record<string, string>>;
  /** Asks once more. */
  ask(model: string, key: string, more?: object): Promise<string>;
  /** Lets a provider answer from now on. */
  mend(provider: string): void;
  /** Ends the gateway and starts another over its data. */
  restart(): Promise<ManagedGateway>;
  close(): Promise<void>;
}

/** Lets the millisecond end: requests that begin in the same one have no order in a list. */
function passMillisecond(): void {
  const now = Date.now();
  while (Date.now() === now);
}

export async function startOutage(config: object = {}): Promise<Outage> {
  const mended = new Set<string>();
  const ids: Record<string, string> = {};

  const upstream = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch(request) {
      const pathname = new URL(request.url).pathname.replace(/^\/(\w+)/, (path, name: string) =>
        mended.has(name) ? '/good' : path,
      );
      if (pathname.startsWith('/locked'))
        return Response.json({ error: { message: 'Incorrect API key provided.' } }, { status: 401 });
      if (pathname.startsWith('/down'))
        return Response.json({ error: { message: 'The model is overloaded.' } }, { status: 503 });
      if (pathname.startsWith('/cut')) {
        const chunk = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' };
        const choice = { index: 0, delta: { role: 'assistant', content: 'Forty' }, finish_reason: null };
        const line = `data: ${JSON.stringify({ ...chunk, choices: [choice] })}\n\n`;
        return new Response(line, { headers: { 'content-type': 'text/event-stream' } });
      }
      return Response.json({
        id: 'c1',
        object: 'chat.completion',
        created: 1,
        model: 'm',
        choices: [{ index: 0, message: { role: 'assistant', content: '42' }, finish_reason: 'stop' }],
        usage: { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 },
      });
    },
  });
  const at = (name: string) => ({
    protocols: { 'openai-chat': `http://127.0.0.1:${upstream.port}/${name}` },
    api_key: 'sk-test-upstream',
  });
  const price = { input: 1, output: 2 };
  const written = {
    ...config,
    providers: { good: at('good'), down: at('down'), locked: at('locked'), cut: at('cut') },
    models: [
      {
        id: 'acme/small',
        endpoints: [
          { provider: 'down', model: 'm', price },
          { provider: 'good', model: 'm', price },
        ],
      },
      { id: 'acme/free', endpoints: [{ provider: 'good', model: 'unknown-price-model' }] },
      { id: 'acme/locked', endpoints: [{ provider: 'locked', model: 'm', price }] },
      { id: 'acme/cut', endpoints: [{ provider: 'cut', model: 'm', price }] },
    ],
    keys: [
      { name: 'papers', key: 'sk-test-papers' },
      { name: 'narrow', key: 'sk-test-narrow', limits: [{ requests: 1, per: 'day' }] },
    ],
  };
  let gateway = await startManaged(written);
  const ask = async (model: string, key: string, more: object = {}): Promise<string> => {
    passMillisecond();
    const response = await fetch(`${gateway.origin}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, messages: MESSAGES, ...more }),
    });
    await response.text().catch(() => '');
    return (response.headers.get('x-request-id') ?? '').split('_').at(-1) ?? '';
  };
  ids['recovered'] = await ask('acme/small', 'sk-test-papers');
  ids['unpriced'] = await ask('acme/free', 'sk-test-papers');
  ids['locked'] = await ask('acme/locked', 'sk-test-papers');
  ids['cut'] = await ask('acme/cut', 'sk-test-papers', { stream: true });
  ids['bad'] = await ask('acme/free', 'sk-test-papers', { temperature: 'hot' });
  ids['first'] = await ask('acme/free', 'sk-test-narrow');
  ids['limited'] = await ask('acme/free', 'sk-test-narrow');
  return {
    get gateway() {
      return gateway;
    },
    ids,
    ask,
    mend: (provider) => void mended.add(provider),
    restart: async () => {
      const { dataDir } = gateway;
      await gateway.stop();
      gateway = await startManaged(written, { dataDir });
      return gateway;
    },
    close: async () => {
      await gateway.close();
      await upstream.stop(true);
    },
  };
}
