// Azure, Foundry and Vertex behind the gateway, over real sockets: addresses, headers and bodies as their hosts want
// them, tokens of a service account that are fetched once and in time, and what is said when something is missing.
import { afterAll, describe, expect, test } from 'bun:test';
import { createVerify, generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildSnapshot, loadConfig } from '../../../src/app/config/index.ts';
import { presets } from '../../../src/catalog/providers/index.ts';
import { startGateway, type TestGateway } from '../../support/harness.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { at, type Json } from '../../support/upstreams/json-path.ts';
import { startUpstream, type Answer, type Arrived } from '../../support/upstreams/scripted-upstream.ts';

const EMAIL = 'robot@project.iam.gserviceaccount.com';
const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });

const serviceAccount = (tokenUrl: string): string =>
  JSON.stringify({
    type: 'service_account',
    client_email: EMAIL,
    private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
    private_key_id: 'key-1',
    token_uri: tokenUrl,
  });

function answers(status: number, body: unknown): Answer {
  return (exchange) => {
    const text = JSON.stringify(body);
    exchange.head(status, {
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(text)),
    });
    exchange.raw(text);
  };
}

function streams(events: readonly (readonly [string, unknown])[]): Answer {
  return (exchange) => {
    exchange.openStream();
    for (const [name, data] of events)
      exchange.chunk(`${name === '' ? '' : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`);
    exchange.endStream();
  };
}

const CHAT = answers(200, {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'gpt',
  choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Hi' } }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
});
const GEMINI = {
  candidates: [{ content: { role: 'model', parts: [{ text: 'Hi' }] }, finishReason: 'STOP', index: 0 }],
  usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
};
const MESSAGE = {
  id: 'msg_vrtx_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-4-5',
  content: [{ type: 'text', text: 'Hi' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 1, output_tokens: 1 },
};
const CLAUDE = 'vertex/claude-sonnet-4-5@20250929';
const MESSAGES = { max_tokens: 50, messages: [{ role: 'user', content: 'Hello' }] };

const upstream = await startUpstream();
const tokens = await startUpstream();
afterAll(async () => {
  await upstream.stop();
  await tokens.stop();
});

const ask = (gateway: TestGateway, model: string): Promise<Response> =>
  gateway.post('/chat/completions', { model, messages: [{ role: 'user', content: 'Hello' }] });
const contentOf = async (response: Response): Promise<unknown> =>
  at((await response.json()) as Json, 'choices', 0, 'message', 'content');

async function withGateway(
  providers: Readonly<Record<string, unknown>>,
  run: (gateway: TestGateway) => Promise<void>,
  options: Parameters<typeof startGateway>[1] = {},
): Promise<void> {
  await using gateway = await startGateway(
    { providers, routing: { retries: 0, breaker: { failures: 1000 } } },
    options,
  );
  await run(gateway);
}

describe('Azure', () => {
  test('is called over its v1 API, with the key in its own header', () =>
    withGateway({ azure: { resource: upstream.origin, api_key: 'sk-azure-test' } }, async (gateway) => {
      upstream.script(CHAT);
      expect(await contentOf(await ask(gateway, 'azure/my-deployment'))).toBe('Hi');
      const [arrived] = upstream.requests;
      expect(arrived?.path).toBe('/openai/v1/chat/completions');
      expect(arrived?.headers['api-key']).toBe('sk-azure-test');
      expect(arrived?.headers['authorization']).toBeUndefined();
      expect(at(arrived?.json, 'model')).toBe('my-deployment');
    }));

  test('is called over the older API below the path of the deployment', () =>
    withGateway(
      {
        'azure-deployments': {
          resource: `${upstream.origin}/`,
          api_version: '2025-01-01-preview',
          api_key: 'sk-azure-test',
        },
      },
      async (gateway) => {
        upstream.script(CHAT);
        expect(await contentOf(await ask(gateway, 'azure-deployments/my gpt'))).toBe('Hi');
        expect(upstream.requests[0]?.path).toBe(
          '/openai/deployments/my%20gpt/chat/completions?api-version=2025-01-01-preview',
        );
        expect(upstream.requests[0]?.headers['api-key']).toBe('sk-azure-test');
      },
    ));

  test('works with only environment variables, and is not available without a resource', () => {
    const named = catalogOf(
      {},
      { AZURE_OPENAI_API_KEY: 'sk-a', AZURE_OPENAI_ENDPOINT: 'https://mine.openai.azure.com/' },
    );
    expect(named.find('azure/x')?.endpoints[0]?.baseUrl).toBe('https://mine.openai.azure.com/openai/v1');
    expect(named.hasProvider('azure-deployments')).toBe(false);
    expect(catalogOf({}, { AZURE_OPENAI_API_KEY: 'sk-a' }).hasProvider('azure')).toBe(false);
    const byName = catalogOf({ azure: { resource: 'mine', api_key: 'sk-a' } });
    expect(byName.find('azure/x')?.endpoints[0]?.baseUrl).toBe('https://mine.openai.azure.com/openai/v1');
  });

  test('needs no resource if the configuration has the address', () => {
    const protocols = { 'openai-chat': 'https://house.example.com/openai/v1' };
    const catalog = catalogOf({ azure: { api_key: 'sk-a', protocols } });
    expect(catalog.find('azure/x')?.endpoints[0]?.baseUrl).toBe('https://house.example.com/openai/v1');
    const other = (): unknown => catalogOf({ azure: { api_key: 'sk-a', protocols: { 'openai-chat': {} } } });
    expect(other).toThrow('providers.azure.protocols.openai-chat: requires a base URL');
  });

  test("Foundry serves Claude by Anthropic's protocol", () =>
    withGateway({ foundry: { resource: upstream.origin, api_key: 'sk-foundry-test' } }, async (gateway) => {
      upstream.script(answers(200, MESSAGE));
      const response = await gateway.post('/messages', { model: 'foundry/claude-sonnet-4-5', ...MESSAGES });
      expect(response.headers.get('x-dragoman-lane')).toBe('relay');
      expect(at((await response.json()) as Json, 'content', 0, 'text')).toBe('Hi');
      expect(upstream.requests[0]?.path).toBe('/anthropic/v1/messages');
      expect(upstream.requests[0]?.headers['x-api-key']).toBe('sk-foundry-test');
    }));
});

describe('Vertex', () => {
  const vertex = (): Record<string, unknown> => ({
    vertex: {
      base_url: `${upstream.origin}/v1/projects/p/locations/us-east5`,
      credentials: serviceAccount(`${tokens.origin}/token`),
    },
  });
  const token = (text: string, seconds = 3600): Answer =>
    answers(200, { access_token: text, expires_in: seconds, token_type: 'Bearer' });

  /** The claims of the assertion that was sent for a token. Throws when its signature is wrong. */
  function claimsOf({ text }: Arrived): Record<string, unknown> {
    const form = new URLSearchParams(text);
    expect(form.get('grant_type')).toBe('urn:ietf:params:oauth:grant-type:jwt-bearer');
    const [head = '', claims = '', signature = ''] = (form.get('assertion') ?? '').split('.');
    const verify = createVerify('RSA-SHA256').update(`${head}.${claims}`);
    expect(verify.verify(publicKey, Buffer.from(signature, 'base64url'))).toBe(true);
    expect(JSON.parse(Buffer.from(head, 'base64url').toString())).toEqual({
      alg: 'RS256',
      typ: 'JWT',
      kid: 'key-1',
    });
    return JSON.parse(Buffer.from(claims, 'base64url').toString()) as Record<string, unknown>;
  }

  test('gets the token of the service account, which is fetched once for all requests', () =>
    withGateway(vertex(), async (gateway) => {
      tokens.script(token('ya29.first'));
      upstream.always(answers(200, GEMINI));
      const models = ['vertex/gemini-2.5-pro', 'vertex/gemini-2.5-flash', 'vertex/gemini-2.5-pro'];
      const answered = await Promise.all(models.map((model) => ask(gateway, model)));
      for (const response of answered) expect(await contentOf(response)).toBe('Hi');
      expect(tokens.requests).toHaveLength(1);
      const [asked] = tokens.requests;
      if (!asked) throw new Error('no token was asked for');
      const claims = claimsOf(asked);
      expect(claims).toMatchObject({
        iss: EMAIL,
        aud: `${tokens.origin}/token`,
        scope: 'https://www.googleapis.com/auth/cloud-platform',
      });
      expect(Number(claims['exp']) - Number(claims['iat'])).toBe(3600);
      for (const { headers } of upstream.requests) expect(headers['authorization']).toBe('Bearer ya29.first');
      expect(upstream.requests.map(({ path }) => path).toSorted()).toEqual([
        '/v1/projects/p/locations/us-east5/publishers/google/models/gemini-2.5-flash:generateContent',
        '/v1/projects/p/locations/us-east5/publishers/google/models/gemini-2.5-pro:generateContent',
        '/v1/projects/p/locations/us-east5/publishers/google/models/gemini-2.5-pro:generateContent',
      ]);
    }));

  test('serves Claude, relayed, whole and streamed', () =>
    withGateway(vertex(), async (gateway) => {
      tokens.script(token('ya29.claude'));
      upstream.script(
        answers(200, MESSAGE),
        streams([
          [
            'message_start',
            { type: 'message_start', message: { ...MESSAGE, content: [], stop_reason: null } },
          ],
          [
            'content_block_start',
            { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
          ],
          [
            'content_block_delta',
            { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hi' } },
          ],
          ['content_block_stop', { type: 'content_block_stop', index: 0 }],
          [
            'message_delta',
            { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } },
          ],
          ['message_stop', { type: 'message_stop' }],
        ]),
      );
      const beta = { 'anthropic-version': '2023-06-01', 'anthropic-beta': 'context-1m-2025-08-07' };
      const whole = await gateway.post('/messages', { model: CLAUDE, ...MESSAGES }, beta);
      expect(whole.headers.get('x-dragoman-lane')).toBe('relay');
      expect(at((await whole.json()) as Json, 'content', 0, 'text')).toBe('Hi');
      const streamed = await gateway.post('/messages', { model: CLAUDE, ...MESSAGES, stream: true });
      const text = await streamed.text();
      expect(text).toContain('"text":"Hi"');
      expect(text).toContain('event: message_stop');
      const place =
        '/v1/projects/p/locations/us-east5/publishers/anthropic/models/claude-sonnet-4-5@20250929';
      expect(upstream.requests.map(({ path }) => path)).toEqual([
        `${place}:rawPredict`,
        `${place}:streamRawPredict`,
      ]);
      const [first, second] = upstream.requests;
      expect(first?.json).toEqual({ ...MESSAGES, anthropic_version: 'vertex-2023-10-16' });
      expect(first?.headers['anthropic-beta']).toBe('context-1m-2025-08-07');
      expect(second?.json).toEqual({ ...MESSAGES, stream: true, anthropic_version: 'vertex-2023-10-16' });
      expect(second?.headers['authorization']).toBe('Bearer ya29.claude');
    }));

  test('gets its next token before the last one expires, without making anybody wait', async () => {
    const clock = new ManualClock();
    await withGateway(
      vertex(),
      async (gateway) => {
        upstream.always(answers(200, GEMINI));
        const used = async (): Promise<string | undefined> => {
          expect((await ask(gateway, 'vertex/gemini-2.5-pro')).status).toBe(200);
          return upstream.requests.at(-1)?.headers['authorization'];
        };
        tokens.script(token('one'), token('two'), answers(500, {}), token('three'));
        expect(await used()).toBe('Bearer one');
        clock.advance(54 * 60_000);
        expect(await used()).toBe('Bearer one');
        expect(tokens.requests).toHaveLength(1);
        clock.advance(2 * 60_000);
        // The old one serves while the new one is on its way.
        expect(await used()).toBe('Bearer one');
        await tokens.arrived(2);
        while ((await used()) === 'Bearer one');
        expect(tokens.requests).toHaveLength(2);
        // A failure costs nothing while the token lasts.
        clock.advance(57 * 60_000);
        expect(await used()).toBe('Bearer two');
        await tokens.arrived(3);
        clock.advance(3 * 60_000);
        expect(await used()).toBe('Bearer three');
      },
      { clock },
    );
  });

  test('reports why there is no token, and requests one again for the next request', () =>
    withGateway(vertex(), async (gateway) => {
      tokens.script(
        answers(400, { error: 'invalid_grant', error_description: 'Invalid JWT Signature.' }),
        token('good'),
      );
      upstream.always(answers(200, GEMINI));
      const refused = await ask(gateway, 'vertex/gemini-2.5-pro');
      expect(refused.status).toBe(502);
      expect(await refused.text()).toContain(
        'Google returned no token for the service account: Invalid JWT Signature.',
      );
      expect(upstream.requests).toHaveLength(0);
      expect(await contentOf(await ask(gateway, 'vertex/gemini-2.5-pro'))).toBe('Hi');
    }));

  test('takes an access token as the key, and reads the key file that the environment names', async () => {
    await withGateway(
      { vertex: { base_url: `${upstream.origin}/v1/projects/p/locations/l`, api_key: 'ya29.given' } },
      async (gateway) => {
        upstream.script(answers(200, GEMINI));
        await ask(gateway, 'vertex/gemini-2.5-pro');
        expect(upstream.requests[0]?.headers['authorization']).toBe('Bearer ya29.given');
      },
    );
    const folder = mkdtempSync(join(tmpdir(), 'dragoman-test-'));
    try {
      const file = join(folder, 'key.json');
      writeFileSync(file, serviceAccount('https://oauth2.example/token'));
      const environment = { GOOGLE_APPLICATION_CREDENTIALS: file, GOOGLE_CLOUD_PROJECT: 'p' };
      const endpoint = (location: string | undefined) =>
        catalogOf({ vertex: location === undefined ? {} : { location } }, environment).find(
          'vertex/gemini-2.5-pro',
        )?.endpoints[0];
      expect(endpoint(undefined)?.credential).toMatchObject({
        kind: 'token',
        source: { from: 'google-service-account', email: EMAIL },
      });
      expect([undefined, 'us-east5', 'eu'].map((location) => endpoint(location)?.baseUrl)).toEqual([
        'https://aiplatform.googleapis.com/v1/projects/p/locations/global',
        'https://us-east5-aiplatform.googleapis.com/v1/projects/p/locations/us-east5',
        'https://aiplatform.eu.rep.googleapis.com/v1/projects/p/locations/eu',
      ]);
      expect(catalogOf({}, environment).hasProvider('vertex')).toBe(false);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

function catalogOf(
  providers: Readonly<Record<string, unknown>>,
  environment: Readonly<Record<string, string>> = {},
): ReturnType<typeof buildSnapshot>['catalog'] {
  const text = JSON.stringify({ providers });
  const { config } = loadConfig({ environment, flags: { config: 'test.json' }, readFile: () => text });
  return buildSnapshot({ config, presets, sim: null, environment, revision: 1 }).catalog;
}

describe('what is missing', () => {
  const AWS = { AWS_ACCESS_KEY_ID: 'AKIA', AWS_SECRET_ACCESS_KEY: 'secret' };
  test.each([
    [
      'azure',
      { api_key: 'k' },
      {},
      'providers.azure.resource',
      'AZURE_OPENAI_ENDPOINT or AZURE_RESOURCE_NAME',
    ],
    ['azure', { resource: 'r' }, {}, 'providers.azure.api_key', 'AZURE_OPENAI_API_KEY'],
    ['bedrock', {}, AWS, 'providers.bedrock.region', 'AWS_REGION or AWS_DEFAULT_REGION'],
    [
      'bedrock',
      { region: 'r' },
      {},
      'providers.bedrock',
      'AWS_BEARER_TOKEN_BEDROCK, or access_key_id and secret_access_key',
    ],
    [
      'bedrock',
      { region: 'r', access_key_id: 'A' },
      AWS,
      'providers.bedrock',
      'secret_access_key is required',
    ],
    ['vertex', { project: 'p' }, {}, 'providers.vertex.credentials', 'GOOGLE_APPLICATION_CREDENTIALS'],
    [
      'vertex',
      { project: 'p', credentials: '/nowhere/key.json' },
      {},
      'providers.vertex.credentials',
      'cannot read /nowhere/key.json',
    ],
    [
      'vertex',
      { project: 'p', credentials: '{"type":"somebody_else"}' },
      {},
      'providers.vertex.credentials',
      'must be the key file',
    ],
    ['vertex', { api_key: 'ya29' }, {}, 'providers.vertex.project', 'GOOGLE_CLOUD_PROJECT'],
  ] as const)('%s, case %#', (name, provider, environment, path, words) => {
    expect(() => catalogOf({ [name]: provider }, environment)).toThrow(words);
    expect(() => catalogOf({ [name]: provider }, environment)).toThrow(path);
  });

  test('an account whose keys are merely present is not used', () => {
    expect(catalogOf({}, { ...AWS, AWS_REGION: 'us-east-1' }).hasProvider('bedrock')).toBe(false);
    const named = catalogOf({ bedrock: {} }, { ...AWS, AWS_SESSION_TOKEN: 't', AWS_REGION: 'us-east-1' });
    const [endpoint] = named.find('bedrock/amazon.nova-pro-v1:0')?.endpoints ?? [];
    expect(endpoint?.baseUrl).toBe('https://bedrock-runtime.us-east-1.amazonaws.com');
    expect(endpoint?.credential).toMatchObject({
      kind: 'aws-sigv4',
      region: 'us-east-1',
      keys: { from: 'given', accessKeyId: 'AKIA' },
    });
    expect(endpoint?.auth).toBeNull();
  });

  test('a Bedrock API key is enough with a region', () => {
    const catalog = catalogOf({}, { AWS_BEARER_TOKEN_BEDROCK: 'k', AWS_REGION: 'us-east-1' });
    expect(catalog.find('bedrock/us.anthropic.claude-opus-4-8')?.endpoints[0]?.protocol).toBe(
      'anthropic-messages',
    );
    expect(catalog.find('bedrock/openai.gpt-oss-120b-1:0')?.endpoints[0]).toMatchObject({
      protocol: 'bedrock-converse',
      reasoningStyle: 'effort',
    });
    expect(catalog.hasProvider('bedrock-mantle')).toBe(false);
  });
});
