// Credentials that have to be fetched, over real sockets: stubs of the clouds' metadata and token services say who the
// gateway is; each is asked once for everybody, before the last answer expires, and again when an upstream refuses it.
import { slicesOf } from '../../../src/base/lib/bytes.ts';
import { afterAll, beforeEach, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildSnapshot, loadConfig } from '../../../src/app/config/index.ts';
import { presets } from '../../../src/catalog/providers/index.ts';
import { Secret } from '../../../src/base/telemetry/secret.ts';
import { AwsSigner } from '../../../src/upstream/sign-aws.ts';
import { startGateway, type TestGateway } from '../../support/harness.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { runProgram } from '../../support/program.ts';
import { chatBody, whole } from '../../support/upstreams/answers.ts';
import { at } from '../../support/upstreams/json-path.ts';
import { startUpstream, type Answer } from '../../support/upstreams/scripted-upstream.ts';

const NOVA = 'bedrock/us.amazon.nova-lite-v1:0';
const CONVERSED = whole({
  output: { message: { role: 'assistant', content: [{ text: 'Hi' }] } },
  stopReason: 'end_turn',
  usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
});
const GEMINI = whole({
  candidates: [{ content: { role: 'model', parts: [{ text: 'Hi' }] }, finishReason: 'STOP', index: 0 }],
  usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
});
const MINUTE = 60_000;

let clock: ManualClock;
const upstream = await startUpstream();
const issuer = await startUpstream();
const folder = mkdtempSync(join(tmpdir(), 'dragoman-test-'));
beforeEach(() => (clock = new ManualClock()));
afterAll(async () => {
  await Promise.all([upstream.stop(), issuer.stop()]);
  rmSync(folder, { recursive: true, force: true });
});

type Variables = Record<string, string>;

async function withGateway(
  providers: Readonly<Record<string, unknown>>,
  environment: Variables,
  run: (gateway: TestGateway) => Promise<void>,
): Promise<void> {
  const config = { providers, routing: { retries: 0, breaker: { failures: 1000 } } };
  await using gateway = await startGateway(config, { environment, clock });
  await run(gateway);
}

const ask = (gateway: TestGateway, model: string): Promise<Response> =>
  gateway.post('/chat/completions', { model, messages: [{ role: 'user', content: 'Hello' }] });

/** Asks, and gives back what the upstream was sent in `authorization`. */
async function usedBy(gateway: TestGateway, model: string): Promise<string> {
  const response = await ask(gateway, model);
  expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('Hi')]);
  return upstream.requests.at(-1)?.headers['authorization'] ?? '';
}

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

/** The key by which a request was signed. */
const keyOf = (authorization: string): string => /Credential=([^/]+)/.exec(authorization)?.[1] ?? '';
const until = (minutes: number): string => new Date(clock.now() + minutes * MINUTE).toISOString();
const form = (place: number): Record<string, string> =>
  Object.fromEntries(new URLSearchParams(issuer.requests[place]?.text));

function originOf(name: string, provider: object, environment: Variables): string | undefined {
  const text = JSON.stringify({ providers: { [name]: provider } });
  const { config } = loadConfig({ environment, flags: { config: 'test.json' }, readFile: () => text });
  const { catalog } = buildSnapshot({ config, presets, sim: null, environment, revision: 1 });
  return catalog.credentialOrigins().get(name);
}

describe('AWS', () => {
  const bedrock = (more: object = {}): Record<string, unknown> => ({
    bedrock: { region: 'eu-west-1', base_url: upstream.origin, ...more },
  });
  const keys = (id: string, minutes = 60): object => ({
    Code: 'Success',
    AccessKeyId: id,
    SecretAccessKey: `secret-of-${id}`,
    Token: `token-of-${id}`,
    Expiration: until(minutes),
  });
  const sts = (action: string, id: string): Answer =>
    whole(
      `<${action}Response xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><${action}Result><Credentials>` +
        `<AccessKeyId>${id}</AccessKeyId><SecretAccessKey>secret-of-${id}</SecretAccessKey>` +
        `<SessionToken>token-of-${id}</SessionToken><Expiration>${until(60)}</Expiration>` +
        `</Credentials></${action}Result></${action}Response>`,
    );

  test('reads the role of an instance by session, name and keys, once for all requests', () =>
    withGateway(
      bedrock({ credentials: 'instance' }),
      { AWS_EC2_METADATA_SERVICE_ENDPOINT: `${issuer.origin}/` },
      async (gateway) => {
        issuer.script(whole('session-1'), whole('my role\n'), whole(keys('ASIA1')));
        upstream.always(CONVERSED);
        const answered = await Promise.all([1, 2, 3].map(() => ask(gateway, NOVA)));
        expect(answered.map(({ status }) => status)).toEqual([200, 200, 200]);
        const roles = '/latest/meta-data/iam/security-credentials/';
        expect(issuer.requests.map(({ method, path }) => [method, path])).toEqual([
          ['PUT', '/latest/api/token'],
          ['GET', roles],
          ['GET', `${roles}my%20role`],
        ]);
        const [first, second, third] = issuer.requests;
        expect(Number(first?.headers['x-aws-ec2-metadata-token-ttl-seconds'])).toBeGreaterThan(0);
        for (const request of [second, third])
          expect(request?.headers['x-aws-ec2-metadata-token']).toBe('session-1');
        for (const { headers } of upstream.requests) {
          expect(keyOf(headers['authorization'] ?? '')).toBe('ASIA1');
          expect(headers['x-amz-security-token']).toBe('token-of-ASIA1');
        }
      },
    ));

  test('an instance without a role is reported, and queried again by the next request', () =>
    withGateway(
      bedrock({ credentials: 'instance' }),
      { AWS_EC2_METADATA_SERVICE_ENDPOINT: issuer.origin },
      async (gateway) => {
        issuer.script(
          whole('session'),
          whole('', 404),
          whole('session'),
          whole('role'),
          whole(keys('ASIA2')),
        );
        upstream.always(CONVERSED);
        const refused = await ask(gateway, NOVA);
        expect(refused.status).toBe(502);
        expect(await refused.text()).toContain('the instance has no role');
        expect(upstream.requests).toHaveLength(0);
        expect(keyOf(await usedBy(gateway, NOVA))).toBe('ASIA2');
      },
    ));

  test('the agent of a container: its token is read each time; new keys come before the old ones expire', () => {
    const token = file('agent-token', 'first\n');
    return withGateway(
      bedrock(),
      {
        AWS_CONTAINER_CREDENTIALS_FULL_URI: `${issuer.origin}/v1/credentials`,
        AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: token,
      },
      async (gateway) => {
        issuer.script(whole(keys('ASIA1')), whole(keys('ASIA2', 115)), whole({ message: 'busy' }, 500));
        upstream.always(CONVERSED);
        expect(keyOf(await usedBy(gateway, NOVA))).toBe('ASIA1');
        file('agent-token', 'second');
        clock.advance(54 * MINUTE);
        await usedBy(gateway, NOVA);
        expect(issuer.requests).toHaveLength(1);
        clock.advance(2 * MINUTE);
        // The old ones serve while the new ones are on their way.
        expect(keyOf(await usedBy(gateway, NOVA))).toBe('ASIA1');
        await issuer.arrived(2);
        while (keyOf(await usedBy(gateway, NOVA)) === 'ASIA1');
        expect(issuer.requests.map(({ headers }) => headers['authorization'])).toEqual(['first', 'second']);
        // A failure costs nothing while they last.
        clock.advance(56 * MINUTE);
        expect(keyOf(await usedBy(gateway, NOVA))).toBe('ASIA2');
        await issuer.arrived(3);
        expect(keyOf(await usedBy(gateway, NOVA))).toBe('ASIA2');
      },
    );
  });

  test('a container token with line breaks is not sent', () =>
    withGateway(
      bedrock(),
      {
        AWS_CONTAINER_CREDENTIALS_FULL_URI: issuer.origin,
        AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: file('split', 'a\r\nx-more: b'),
      },
      async (gateway) => {
        issuer.script();
        const refused = await ask(gateway, NOVA);
        expect(await refused.text()).toContain('not allowed in an HTTP header');
        expect(issuer.requests).toHaveLength(0);
      },
    ));

  test('keys are requested without TLS only from the documented hosts', () => {
    const at = (uri: string): string | undefined =>
      originOf('bedrock', { region: 'r' }, { AWS_CONTAINER_CREDENTIALS_FULL_URI: uri });
    for (const uri of [
      'http://example.com/',
      'http://10.0.0.1/',
      'http://127.0.0.1.example.com/',
      'file:///x',
    ])
      expect(() => at(uri)).toThrow('AWS_CONTAINER_CREDENTIALS_FULL_URI must be');
    for (const uri of [
      'https://example.com/',
      'http://169.254.170.23/v1',
      'http://[fd00:ec2::23]/v1',
      'http://localhost:1/',
    ])
      expect(at(uri)).toBe('the container credential agent');
    const relative = { AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: '/v2/keys' };
    expect(originOf('bedrock', { region: 'r' }, relative)).toBe('the container credential agent');
  });

  test('exchanges the token of an identity provider for a role', () => {
    const environment = {
      AWS_WEB_IDENTITY_TOKEN_FILE: file('web-token', 'eyJ.web.token'),
      AWS_ROLE_ARN: 'arn:aws:iam::1:role/gateway',
      AWS_ENDPOINT_URL_STS: `${issuer.origin}/`,
    };
    return withGateway(bedrock(), environment, async (gateway) => {
      issuer.script(
        whole(
          '<ErrorResponse><Error><Code>AccessDenied</Code><Message>Not for you</Message></Error></ErrorResponse>',
          403,
        ),
        sts('AssumeRoleWithWebIdentity', 'ASIAWEB'),
      );
      upstream.always(CONVERSED);
      const refused = await ask(gateway, NOVA);
      expect([refused.status, await refused.text()]).toEqual([
        502,
        expect.stringContaining('STS returned no keys: Not for you'),
      ]);
      expect(keyOf(await usedBy(gateway, NOVA))).toBe('ASIAWEB');
      expect(form(1)).toEqual({
        Action: 'AssumeRoleWithWebIdentity',
        Version: '2011-06-15',
        RoleArn: 'arn:aws:iam::1:role/gateway',
        RoleSessionName: 'dragoman',
        WebIdentityToken: 'eyJ.web.token',
      });
      expect(issuer.requests[1]?.headers['authorization']).toBeUndefined();
    });
  });

  const FILES = {
    credentials: '# keys\n[default]\naws_access_key_id = AKIADEFAULT\naws_secret_access_key=secret-default\n',
    config: [
      '[default]',
      'region = us-west-2',
      's3 =',
      '  max_concurrent_requests = 20',
      '[profile work]',
      'role_arn = arn:aws:iam::1:role/work',
      'source_profile = default',
      'external_id = ours',
      '[profile machine]',
      'role_arn = arn:aws:iam::1:role/machine',
      'credential_source = Environment',
      '[profile login]',
      'sso_session = company',
      '[profile one]',
      'role_arn = r',
      'source_profile = two',
      '[profile two]',
      'role_arn = r',
      'source_profile = one',
      '[sso-session company]',
      'sso_start_url = https://example.com',
    ].join('\n'),
  };
  const shared = (): Variables => ({
    AWS_SHARED_CREDENTIALS_FILE: file('credentials', FILES.credentials),
    AWS_CONFIG_FILE: file('config', FILES.config),
    AWS_ENDPOINT_URL_STS: issuer.origin,
  });

  test('a profile of the shared files is used, by default the one named default', () =>
    withGateway(bedrock(), shared(), async (gateway) => {
      upstream.always(CONVERSED);
      expect(keyOf(await usedBy(gateway, NOVA))).toBe('AKIADEFAULT');
      expect(upstream.requests[0]?.headers['x-amz-security-token']).toBeUndefined();
    }));

  test('a profile with a role is exchanged at STS, by a question signed with the keys of its source', () =>
    withGateway(bedrock({ profile: 'work' }), shared(), async (gateway) => {
      issuer.script(sts('AssumeRole', 'ASIAWORK'));
      upstream.always(CONVERSED);
      expect(keyOf(await usedBy(gateway, NOVA))).toBe('ASIAWORK');
      expect(form(0)).toMatchObject({
        Action: 'AssumeRole',
        RoleArn: 'arn:aws:iam::1:role/work',
        ExternalId: 'ours',
      });
      const signed = issuer.requests[0]?.headers['authorization'] ?? '';
      expect(signed).toContain('Credential=AKIADEFAULT/');
      expect(signed).toContain('/eu-west-1/sts/aws4_request');
      // The signed request is the one that was sent.
      const { text = '', headers = {} } = issuer.requests[0] ?? {};
      const source = { accessKeyId: 'AKIADEFAULT', secretAccessKey: new Secret('secret-default') };
      const signer = new AwsSigner(
        { ...source, sessionToken: null, region: 'eu-west-1', service: 'sts' },
        clock.now,
      );
      const sent = { 'content-type': headers['content-type'] ?? '' };
      expect(
        signer.headers({ method: 'POST', url: `${issuer.origin}/`, headers: sent, body: slicesOf(text) }),
      ).toMatchObject({
        authorization: signed,
      });
    }));

  test.each([
    ['nobody', 'there is no profile "nobody"'],
    ['login', 'uses sso_session, which is not supported'],
    ['one', 'refers to itself'],
    ['machine', 'no usable source_profile or credential_source'],
  ])('the profile %s is refused', (profile, words) => {
    const refused = (): unknown => originOf('bedrock', { region: 'r', profile }, shared());
    expect(refused).toThrow(words);
    expect(refused).toThrow('providers.bedrock.profile');
  });

  test('keys that an upstream reports as expired are fetched again, and the request is repeated', () =>
    withGateway(
      bedrock(),
      { AWS_CONTAINER_CREDENTIALS_FULL_URI: `${issuer.origin}/keys` },
      async (gateway) => {
        const expired = whole({ message: 'The security token included in the request is expired' }, 403, {
          'x-amzn-errortype': 'ExpiredTokenException:http://internal.amazon.com/coral/',
        });
        issuer.script(whole(keys('ASIA1')), whole(keys('ASIA2')));
        upstream.script(CONVERSED, expired, CONVERSED, expired);
        await usedBy(gateway, NOVA);
        expect(keyOf(await usedBy(gateway, NOVA))).toBe('ASIA2');
        expect(upstream.requests.map(({ headers }) => keyOf(headers['authorization'] ?? ''))).toEqual([
          'ASIA1',
          'ASIA1',
          'ASIA2',
        ]);
        expect(upstream.requests[2]?.text).toBe(upstream.requests[1]?.text ?? '');
        // Keys that were just fetched because others were refused are not fetched again.
        expect((await ask(gateway, NOVA)).status).toBe(502);
        expect(issuer.requests).toHaveLength(2);
      },
    ));

  test('configured credentials precede those of the environment, and are shown without secrets', () => {
    const around = { AWS_ACCESS_KEY_ID: 'AKIAENV', AWS_SECRET_ACCESS_KEY: 'env-secret', ...shared() };
    const origins = [
      [{ access_key_id: 'AKIA', secret_access_key: 'mine' }, 'keys in the configuration'],
      [{ profile: 'work' }, 'profile work of the shared files'],
      [{ credentials: 'instance' }, 'the role of the EC2 instance'],
      [{}, 'AWS_ACCESS_KEY_ID'],
    ] as const;
    for (const [given, origin] of origins)
      expect(
        originOf('bedrock', { region: 'r', ...given }, { ...around, AWS_BEARER_TOKEN_BEDROCK: '' }),
      ).toBe(origin);
    const withKey = { ...around, AWS_BEARER_TOKEN_BEDROCK: 'sk-bedrock' };
    expect(originOf('bedrock', { region: 'r' }, withKey)).toBeUndefined();
    expect(originOf('bedrock', { region: 'r', profile: 'work' }, withKey)).toBe(
      'profile work of the shared files',
    );
  });
});

describe('Azure', () => {
  const azure = (more: object = {}): Record<string, unknown> => ({
    azure: { resource: upstream.origin, ...more },
  });
  const token = (text: string, expiry: object = { expires_in: 3599 }): Answer =>
    whole({ token_type: 'Bearer', access_token: text, ...expiry });
  const HI = whole(chatBody('Hi'));
  const SCOPE = 'https://cognitiveservices.azure.com/.default';

  test('an application with a secret; a refused token is fetched again once', () =>
    withGateway(
      azure({ tenant_id: 'my-tenant', client_id: 'app-1', client_secret: 'sk-azure-secret' }),
      { AZURE_AUTHORITY_HOST: `${issuer.origin}/`, AZURE_OPENAI_API_KEY: 'sk-lies-around' },
      async (gateway) => {
        const refusal = whole({ error: { code: '401', message: 'Access token is expired.' } }, 401);
        issuer.script(token('one'), token('two'), token('three'));
        upstream.script(HI, refusal, HI, refusal, refusal, refusal);
        expect(await usedBy(gateway, 'azure/gpt')).toBe('Bearer one');
        expect(upstream.requests[0]?.headers['api-key']).toBeUndefined();
        expect(issuer.requests[0]?.path).toBe('/my-tenant/oauth2/v2.0/token');
        expect(form(0)).toEqual({
          grant_type: 'client_credentials',
          client_id: 'app-1',
          client_secret: 'sk-azure-secret',
          scope: SCOPE,
        });
        // However young it is: it may have been revoked.
        expect(await usedBy(gateway, 'azure/gpt')).toBe('Bearer two');
        expect(upstream.requests).toHaveLength(3);
        // A new one that is refused, too, ends it; the next request does not fetch what was just fetched.
        clock.advance(2 * MINUTE);
        expect((await ask(gateway, 'azure/gpt')).status).toBe(502);
        expect(upstream.requests.map(({ headers }) => headers['authorization'])).toEqual(
          ['one', 'one', 'two', 'two', 'three'].map((text) => `Bearer ${text}`),
        );
        expect((await ask(gateway, 'azure/gpt')).status).toBe(502);
        expect([upstream.requests.length, issuer.requests.length]).toEqual([6, 3]);
      },
    ));

  test('a credential that arrives while another request waits for a new token is kept', () =>
    withGateway(
      azure({ credentials: 'instance' }),
      { AZURE_POD_IDENTITY_AUTHORITY_HOST: issuer.origin },
      async (gateway) => {
        issuer.script(token('one'), () => {});
        upstream.script(HI, whole({ error: { message: 'expired' } }, 401), () => {});
        await usedBy(gateway, 'azure/gpt');
        clock.advance(2 * MINUTE);
        const [refused, answered] = [ask(gateway, 'azure/gpt'), ask(gateway, 'azure/gpt')];
        const [waiting, slow] = [await issuer.arrived(2), await upstream.arrived(3)];
        HI(slow);
        // Whichever of the two was refused, the other one has its answer.
        const first = await Promise.race([refused, answered]);
        expect([first.status, await first.text()]).toEqual([200, expect.stringContaining('Hi')]);
        expect(upstream.requests).toHaveLength(3);
        upstream.always(HI);
        token('two')(waiting);
        for (const response of await Promise.all([refused, answered])) expect(response.status).toBe(200);
        expect(upstream.requests.map(({ headers }) => headers['authorization'])).toEqual(['Bearer two']);
      },
    ));

  test('a request that waits for a credential that another request cancels gets the next one', () =>
    withGateway(
      azure({ credentials: 'instance' }),
      { AZURE_POD_IDENTITY_AUTHORITY_HOST: issuer.origin },
      async (gateway) => {
        issuer.script(() => {}, token('two'));
        upstream.always(HI);
        const first = ask(gateway, 'azure/gpt');
        const forgotten = await issuer.arrived(1);
        clock.advance(9_000);
        expect((await first).status).toBe(504);
        const second = ask(gateway, 'azure/gpt');
        // The second waits for the same answer as the first did; the third does not.
        await gateway.get('/files');
        clock.advance(2_000);
        const third = ask(gateway, 'azure/gpt');
        await forgotten.closed;
        for (const response of [await second, await third])
          expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('Hi')]);
        expect(issuer.requests).toHaveLength(2);
        expect(upstream.requests.map(({ headers }) => headers['authorization'])).toEqual([
          'Bearer two',
          'Bearer two',
        ]);
      },
    ));

  test('an application with a federated token, which is read each time', () =>
    withGateway(
      azure(),
      {
        AZURE_AUTHORITY_HOST: issuer.origin,
        AZURE_TENANT_ID: 't',
        AZURE_CLIENT_ID: 'app-2',
        AZURE_FEDERATED_TOKEN_FILE: file('federated', 'eyJ.first\n'),
      },
      async (gateway) => {
        issuer.script(token('one'), token('two'));
        upstream.always(HI);
        expect(await usedBy(gateway, 'azure/gpt')).toBe('Bearer one');
        expect(form(0)).toEqual({
          grant_type: 'client_credentials',
          client_id: 'app-2',
          scope: SCOPE,
          client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
          client_assertion: 'eyJ.first',
        });
        file('federated', 'eyJ.second');
        clock.advance(60 * MINUTE);
        expect(await usedBy(gateway, 'azure/gpt')).toBe('Bearer two');
        expect(form(1)['client_assertion']).toBe('eyJ.second');
        rmSync(join(folder, 'federated'));
        clock.advance(60 * MINUTE);
        const refused = await (await ask(gateway, 'azure/gpt')).text();
        expect(refused).toContain("the application's federated token cannot be read");
        expect(refused).not.toContain(folder);
      },
    ));

  test('the identity of a machine; Foundry gets it, too', () =>
    withGateway(
      { foundry: { resource: upstream.origin, credentials: 'instance', client_id: 'assigned' } },
      { AZURE_POD_IDENTITY_AUTHORITY_HOST: issuer.origin },
      async (gateway) => {
        const seconds = Math.floor(clock.now() / 1000) + 3600;
        issuer.script(token('machine', { expires_in: '3600', expires_on: `${seconds}` }));
        upstream.always(HI);
        expect(await usedBy(gateway, 'foundry/gpt')).toBe('Bearer machine');
        const [asked] = issuer.requests;
        expect(asked?.headers['metadata']).toBe('true');
        expect(asked?.path).toBe(
          '/metadata/identity/oauth2/token?api-version=2018-02-01&' +
            'resource=https%3A%2F%2Fcognitiveservices.azure.com&client_id=assigned',
        );
      },
    ));

  test('uses the identity of an app, whose endpoint returns only the time when the token expires', () =>
    withGateway(
      azure(),
      { IDENTITY_ENDPOINT: `${issuer.origin}/msi/token`, IDENTITY_HEADER: 'app-header' },
      async (gateway) => {
        const seconds = Math.floor(clock.now() / 1000) + 7200;
        issuer.script(
          token('app', { expires_on: `${seconds}` }),
          token('next', { expires_on: seconds + 7200 }),
        );
        upstream.always(HI);
        expect(await usedBy(gateway, 'azure/gpt')).toBe('Bearer app');
        expect(issuer.requests[0]?.headers['x-identity-header']).toBe('app-header');
        expect(issuer.requests[0]?.path).toStartWith('/msi/token?api-version=2019-08-01&resource=');
        clock.advance(110 * MINUTE);
        expect(await usedBy(gateway, 'azure/gpt')).toBe('Bearer app');
        clock.advance(10 * MINUTE);
        expect(await usedBy(gateway, 'azure/gpt')).toBe('Bearer next');
      },
    ));

  test('the error names the missing setting', () => {
    const secret = { resource: 'r', client_secret: 's' };
    expect(() => originOf('azure', secret, {})).toThrow('providers.azure.tenant_id');
    expect(() => originOf('azure', { ...secret, tenant_id: 't' }, {})).toThrow(
      'providers.azure.client_id: missing: set it here or in the environment variable AZURE_CLIENT_ID',
    );
    expect(() => originOf('azure', { resource: 'r' }, {})).toThrow('providers.azure.api_key');
    expect(() => originOf('azure', { resource: 'r', credentials: 'other' }, {})).toThrow(
      'providers.azure.credentials: must be `instance` here',
    );
    expect(originOf('azure', { ...secret, tenant_id: 't', client_id: 'c' }, {})).toBe(
      'a client secret in the configuration, as application c',
    );
    expect(originOf('azure', { resource: 'r', credentials: 'instance' }, {})).toBe(
      'the managed identity of the machine',
    );
  });
});

describe('Google', () => {
  const MODEL = 'vertex/gemini-2.5-pro';
  const vertex = (credentials: unknown): Record<string, unknown> => ({
    vertex: {
      base_url: `${upstream.origin}/v1/projects/p/locations/l`,
      credentials: typeof credentials === 'string' ? credentials : JSON.stringify(credentials),
    },
  });
  const token = (text: string): Answer =>
    whole({ access_token: text, expires_in: 3599, token_type: 'Bearer' });

  test('uses the login of a person with gcloud', () =>
    withGateway(
      vertex({
        type: 'authorized_user',
        client_id: 'gcloud',
        client_secret: 'd-test',
        refresh_token: '1//test',
        quota_project_id: 'pays',
        token_uri: `${issuer.origin}/token`,
      }),
      {},
      async (gateway) => {
        issuer.script(token('ya29.person'));
        upstream.always(GEMINI);
        expect(await usedBy(gateway, MODEL)).toBe('Bearer ya29.person');
        expect(upstream.requests[0]?.headers['x-goog-user-project']).toBe('pays');
        expect(form(0)).toEqual({
          grant_type: 'refresh_token',
          client_id: 'gcloud',
          client_secret: 'd-test',
          refresh_token: '1//test',
        });
      },
    ));

  test('uses the service account of a machine', () =>
    withGateway(
      vertex('instance'),
      { GCE_METADATA_HOST: issuer.origin.slice('http://'.length) },
      async (gateway) => {
        issuer.script(token('ya29.machine'));
        upstream.always(GEMINI);
        expect(await usedBy(gateway, MODEL)).toBe('Bearer ya29.machine');
        expect(issuer.requests[0]?.path).toBe('/computeMetadata/v1/instance/service-accounts/default/token');
        expect(issuer.requests[0]?.headers['metadata-flavor']).toBe('Google');
      },
    ));

  const federated = (source: object, more: object = {}): object => ({
    type: 'external_account',
    audience: '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/x',
    subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
    token_url: `${issuer.origin}/v1/token`,
    credential_source: source,
    ...more,
  });

  test('exchanges a federated identity from a file for that of a service account', () =>
    withGateway(
      vertex(
        federated(
          { file: file('subject', 'eyJ.subject\n') },
          { service_account_impersonation_url: `${issuer.origin}/robot:generateAccessToken` },
        ),
      ),
      {},
      async (gateway) => {
        issuer.script(
          token('federated'),
          whole({ error: { code: 403, message: 'Permission denied on the robot' } }, 403),
          token('federated'),
          whole({ accessToken: 'ya29.robot', expireTime: until(60) }),
        );
        upstream.always(GEMINI);
        expect(await (await ask(gateway, MODEL)).text()).toContain('Permission denied on the robot');
        expect(await usedBy(gateway, MODEL)).toBe('Bearer ya29.robot');
        expect(form(0)).toEqual({
          grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
          audience: '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/x',
          scope: 'https://www.googleapis.com/auth/cloud-platform',
          requested_token_type: 'urn:ietf:params:oauth:token-type:access_token',
          subject_token: 'eyJ.subject',
          subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
        });
        expect(issuer.requests[1]?.path).toBe('/robot:generateAccessToken');
        expect(issuer.requests[1]?.headers['authorization']).toBe('Bearer federated');
        expect(at(issuer.requests[1]?.json, 'scope', 0)).toBe(
          'https://www.googleapis.com/auth/cloud-platform',
        );
      },
    ));

  test('reads a federated identity from a member of a JSON response', () =>
    withGateway(
      vertex(
        federated({
          url: `${issuer.origin}/subject`,
          headers: { Metadata: 'True' },
          format: { type: 'json', subject_token_field_name: 'access_token' },
        }),
      ),
      {},
      async (gateway) => {
        issuer.script(whole({ access_token: 'eyJ.azure' }), token('federated'));
        upstream.always(GEMINI);
        expect(await usedBy(gateway, MODEL)).toBe('Bearer federated');
        expect([issuer.requests[0]?.method, issuer.requests[0]?.headers['metadata']]).toEqual([
          'GET',
          'True',
        ]);
        expect(form(1)['subject_token']).toBe('eyJ.azure');
      },
    ));

  test('unsupported kinds of files are refused; the login of gcloud is found', () => {
    const aws = federated({ environment_id: 'aws1', url: 'http://169.254.169.254/x' });
    const given = { project: 'p', credentials: JSON.stringify(aws) };
    expect(() => originOf('vertex', given, {})).toThrow('or another credential file of a supported type');
    file(
      'application_default_credentials.json',
      JSON.stringify({ type: 'authorized_user', client_id: 'c', client_secret: 's', refresh_token: 'r' }),
    );
    expect(originOf('vertex', { project: 'p' }, { CLOUDSDK_CONFIG: folder })).toBe(
      'a person, from the gcloud login',
    );
    expect(originOf('vertex', { project: 'p', credentials: 'instance' }, {})).toBe(
      'the service account of the machine',
    );
  });
});

test('a fetched token that an upstream repeats reaches no client, and no log', () =>
  withGateway(
    { azure: { resource: upstream.origin, credentials: 'instance' } },
    { AZURE_POD_IDENTITY_AUTHORITY_HOST: issuer.origin },
    async (gateway) => {
      const token = 'eyJ0eXAiOiJKV1QiLCJhbGciOiJub25lIn0.eyJhdWQiOiJ4In0.c2lnbmF0dXJl';
      issuer.script(whole({ access_token: token, expires_in: 3600 }));
      upstream.script(whole({ error: { message: `no access with ${token}`, code: 'x' } }, 403));
      const refused = await (await ask(gateway, 'azure/gpt')).text();
      expect(refused).toContain('no access with [secret]');
      for (const text of [refused, ...gateway.logLines]) expect(text).not.toContain('c2lnbmF0dXJl');
    },
  ));

test('check shows the identity, and no secret', async () => {
  const config = file(
    'dragoman.yaml',
    'providers:\n  bedrock: { region: r, access_key_id: AKIA, secret_access_key: sk-test-aws }\n' +
      '  azure: { resource: r, credentials: instance }\n',
  );
  const { code, out } = await runProgram(['check', '--config', config], { folder });
  expect(code).toBe(0);
  expect(out).toContain('bedrock: credentials from keys in the configuration\n');
  expect(out).toContain('azure: credentials from the managed identity of the machine\n');
  const json = await runProgram(['check', '--json', '--config', config], { folder });
  expect(at(JSON.parse(json.out), 'credentials', 'bedrock')).toBe('keys in the configuration');
  expect(out + json.out).not.toContain('sk-test-aws');
});

test('a silent issuer is abandoned by the next request, which does not wait again', () =>
  withGateway(
    { azure: { resource: upstream.origin, credentials: 'instance' } },
    { AZURE_POD_IDENTITY_AUTHORITY_HOST: issuer.origin },
    async (gateway) => {
      issuer.script(() => {}, whole({ access_token: 'late', expires_in: 3600 }));
      upstream.always(whole(chatBody('Hi')));
      const first = ask(gateway, 'azure/gpt');
      const { closed } = await issuer.arrived(1);
      clock.advance(11_000);
      expect(await usedBy(gateway, 'azure/gpt')).toBe('Bearer late');
      await closed;
      expect((await first).status).toBe(504);
    },
  ));
