// Vendors with batch APIs, and a gateway in front of them: the simulated ones, behind a socket that counts and breaks connections.
import { type OpenAI, toFile } from 'openai';
import type { Batch } from 'openai/resources/batches';
import { createSim } from '../../../sim/index.ts';
import { TASKS } from '../../../src/engine/index.ts';
import { quickClock } from '../../support/quick-clock.ts';
import { startStateful, type StatefulGateway } from '../../support/storage/state-seed.ts';
import { eventuallyFound } from '../../support/program.ts';

type Intercept = (request: Request, forward: () => Promise<Response>) => Promise<Response | undefined>;

interface Vendor {
  readonly origin: string;
  /** `POST /batches` and so on, in their order. */
  readonly asked: string[];
  intercept: Intercept;
  /** Lets time pass at the vendors, in milliseconds. */
  pass(ms: number): void;
  close(): Promise<void>;
}

function startVendor(batchMs = 100): Vendor {
  let passedMs = 0;
  const sim = createSim({
    batchMs,
    now: () => Date.now() + passedMs,
    tasks: TASKS.flatMap(({ simulated }) => simulated ?? []),
  });
  const asked: string[] = [];
  const vendor = { intercept: (async () => undefined) as Intercept };
  const server = Bun.serve({
    port: 0,
    async fetch(request) {
      const { pathname } = new URL(request.url);
      asked.push(`${request.method} ${pathname.replace(/^\/(?:openai\/v1|anthropic|google\/v1beta)/, '')}`);
      const forward = (): Promise<Response> => sim.fetch(request);
      return (await vendor.intercept(request, forward)) ?? forward();
    },
  });
  return Object.assign(vendor, {
    origin: `http://127.0.0.1:${server.port}`,
    asked,
    pass(ms: number) {
      passedMs += ms;
    },
    close: () => server.stop(true),
  });
}

const PRICE = { input: 1, output: 4 };
const ENDS = ['completed', 'failed', 'expired', 'cancelled'];
export interface VendorGateway {
  readonly vendor: Vendor;
  readonly gateway: StatefulGateway;
  readonly client: OpenAI;
  /** Sets the gateway's clock forward, in milliseconds from the machine's. */
  ahead(ms: number): void;
  close(): Promise<void>;
}

/** @param batchMs how long batches take at the vendors @param over further parts of the configuration */
export async function startVendorGateway(
  batches: object = {},
  batchMs = 100,
  over: object = {},
): Promise<VendorGateway> {
  const at = startVendor(batchMs);
  let aheadMs = 0;
  const shared = { api_key: 'sk-test', batch: 'vendor' };
  const modelOf = (provider: string, model: string, prices: object = {}): object => ({
    id: `${provider}/${model}`,
    endpoints: [{ provider, model, price: PRICE, ...prices }],
  });
  const gateway = await startStateful(
    {
      routing: { retries: 0 },
      providers: {
        up: {
          ...shared,
          batch_price_factor: 0.5,
          protocols: { 'openai-chat': `${at.origin}/openai/v1` },
        },
        answers: { ...shared, protocols: { 'openai-responses': `${at.origin}/openai/v1` } },
        google: {
          ...shared,
          batch_price_factor: 0.5,
          protocols: { gemini: `${at.origin}/google/v1beta` },
        },
        claude: { ...shared, protocols: { 'anthropic-messages': `${at.origin}/anthropic` } },
      },
      models: [
        modelOf('up', 'chat'),
        { ...modelOf('up', 'embed'), output_modalities: ['embeddings'] },
        modelOf('answers', 'responses'),
        modelOf('up', 'stall-headers'),
        modelOf('up', 'error-400'),
        modelOf('claude', 'messages', { batch_price: { input: 0.1, output: 0.2 } }),
        modelOf('claude', 'stall-headers'),
        modelOf('google', 'gemini'),
        modelOf('google', 'stall-headers'),
        modelOf('google', 'error-400'),
        { ...modelOf('google', 'embed'), output_modalities: ['embeddings'] },
      ],
      batches: { max_delay_ms: 0, vendor_poll_s: 0.05, ...batches },
      ...over,
    },
    quickClock(() => aheadMs),
  );
  return {
    vendor: at,
    gateway,
    client: gateway.client,
    ahead(ms) {
      aheadMs = ms;
    },
    async close() {
      await gateway.close();
      await at.close();
    },
  };
}

export function line(id: string, model: string, over: object = {}): object {
  const body = { model, messages: [{ role: 'user', content: `This is ${id}.` }], max_tokens: 50, ...over };
  return { custom_id: id, method: 'POST', url: '/v1/chat/completions', body };
}

export async function begin(
  client: OpenAI,
  lines: readonly object[],
  endpoint: Batch['endpoint'] = '/v1/chat/completions',
): Promise<string> {
  const text = lines.map((each) => JSON.stringify(each)).join('\n');
  const file = await toFile(Buffer.from(text), 'in.jsonl');
  const { id: input_file_id } = await client.files.create({ file, purpose: 'batch' });
  const asked = { input_file_id, endpoint, completion_window: '24h' } as const;
  return (await client.batches.create(asked as Parameters<OpenAI['batches']['create']>[0])).id;
}

export const until = (client: OpenAI, id: string, is: (batch: Batch) => boolean): Promise<Batch> =>
  eventuallyFound('the batch comes so far', () => client.batches.retrieve(id), is);

export const ended = (client: OpenAI, id: string): Promise<Batch> =>
  until(client, id, ({ status }) => ENDS.includes(status));

export interface Result {
  readonly custom_id: string;
  readonly response: {
    readonly status_code: number;
    readonly request_id: string;
    readonly body: object;
  } | null;
  readonly error: { readonly code: string } | null;
}

export async function resultsOf(client: OpenAI, file: string | null | undefined): Promise<Result[]> {
  if (!file) return [];
  const text = await (await client.files.content(file)).text();
  return text
    .trimEnd()
    .split('\n')
    .map((each) => JSON.parse(each) as Result);
}

/** Records of the gateway, as its ledger has them. */
export async function recordsOf({ storage }: StatefulGateway) {
  await storage.ledger.confirmed();
  const { generations } = await storage.ledger.list({ filters: {}, order: 'asc', limit: 100 });
  return generations.map(({ generation }) => generation);
}

/** True when a request begins a vendor's batch. @param asking its method and path */
export const isSubmission = (asking: string): boolean =>
  /^POST .*(?:\/batches|:batchGenerateContent)$/.test(asking);

export const submissions = ({ asked }: Vendor): string[] => asked.filter(isSubmission);
