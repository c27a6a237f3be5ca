// Requests that programs really sent to OpenAI, Anthropic and Google, sent again with names of models that no catalog knows: each
// member reaches the upstream as it was said, or the answer's report names it. Nothing else may be said of a model of
// tomorrow.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { startGateway, type TestGateway } from '../support/harness.ts';
import {
  missing,
  readGeminiRecordings,
  readRecordings,
  type Recording,
} from '../support/recordings/corpus.ts';
import { at, list, word } from '../support/recordings/loose.ts';
import type { Loose } from '../support/recordings/loose.ts';
import { RateTable } from '../support/recordings/rate-table.ts';
import { eachRecording } from '../support/recordings/replay-gateway.ts';
import { replayModel, startReplay, type ReplayServer } from '../support/recordings/replay-server.ts';

if (missing) console.log(`unknown-models: ${missing}`);

/** A recorded request. */
interface Sent extends Omit<Recording, 'api'> {
  readonly api: 'chat' | 'responses' | 'messages' | 'generateContent';
  readonly req?: Loose;
}

/** Owner of each protocol, and the path where clients speak it. */
const OWNERS: Readonly<Record<Sent['api'], { providers: readonly string[]; path: string; owner: string }>> = {
  chat: { providers: ['openai'], owner: 'openai', path: '/chat/completions' },
  responses: { providers: ['openai'], owner: 'openai', path: '/responses' },
  messages: { providers: ['anthropic'], owner: 'anthropic', path: '/messages' },
  generateContent: { providers: ['google', 'vertex'], owner: 'google', path: '' },
};

describe.skipIf(missing !== undefined)('recorded requests for an unknown model', () => {
  let recordings: Sent[] = [];
  let upstream: ReplayServer;
  let gateway: TestGateway;
  let refused = 0;

  beforeAll(async () => {
    recordings = [...(readRecordings() as Sent[]), ...(readGeminiRecordings() as unknown as Sent[])].filter(
      ({ api, provider, status, req }) =>
        status === 200 &&
        typeof req === 'object' &&
        !hasMcpTools(req) &&
        OWNERS[api].providers.includes(provider),
    );
    upstream = await startReplay(recordings);
    const { origin } = upstream;
    gateway = await startGateway({
      providers: {
        openai: { api_key: 'sk-test', base_url: `${origin}/v1` },
        anthropic: { api_key: 'sk-test', base_url: origin },
        google: { api_key: 'sk-test', base_url: `${origin}/v1beta` },
      },
      routing: { retries: 0, breaker: { failures: 1_000_000 } },
    });
  });
  afterAll(async () => {
    await gateway.close();
    await upstream.close();
  });

  test('lose nothing without a report', async () => {
    const table = new RateTable('Requests for unknown models');
    await eachRecording(recordings, async (recording) => {
      const row = `${recording.api}${recording.stream ? ' streamed' : ''}`;
      table.add(row, recording.case, await problem(recording));
    });
    table.print();
    expect(table.total).toBeGreaterThan(1000);
    expect(table.failures).toEqual([]);
    // Objects of accounts, addresses that cannot be fetched, and what is documented as not supported.
    expect(refused).toBeLessThan(70);
  });

  async function problem(recording: Sent): Promise<string | undefined> {
    const { api, req = {}, stream } = recording;
    const model = replayModel(recording);
    const { owner, path: ownPath } = OWNERS[api];
    const method = stream ? 'streamGenerateContent?alt=sse' : 'generateContent';
    const isGemini = api === 'generateContent';
    const body: Loose = isGemini ? req : ({ ...req, model: `${owner}/${model}` } as unknown as Loose);
    const response = await gateway.post(isGemini ? `/models/${owner}/${model}:${method}` : ownPath, body);
    const text = await response.text();
    // The upstream's answer is another test's.
    if (response.status < 500 && response.status !== 200) {
      refused += 1;
      return isRefusedByName(response.status, text) ? undefined : `${response.status} ${text.slice(0, 300)}`;
    }
    // An answer in the background is asked for when its job begins, which `test/socket/state/background.test.ts` looks at.
    if ((body as { background?: unknown }).background === true) return undefined;
    const arrived = JSON.parse(upstream.bodies.get(model) ?? 'null') as Loose;
    const reported = (response.headers.get('x-dragoman-report') ?? '')
      .split(', ')
      .map((entry) => entry.slice(0, entry.lastIndexOf(':')));
    const lost = losses(plain(api, body), plain(api, arrived), '').filter(
      (path) => path !== 'model' && !reported.some((named) => named !== '' && path.startsWith(named)),
    );
    return lost.length > 0 ? `${lost.slice(0, 5).join(', ')} (${reported.join(', ')})` : undefined;
  }
});

/** True where the gateway refuses by name a member that it has no place for, or that it may not be asked for. */
function isRefusedByName(status: number, text: string): boolean {
  const { error } = JSON.parse(text) as { error: { param?: string; message: string; details?: unknown[] } };
  const isNamed =
    error.param !== undefined ||
    /^[a-zA-Z_.[\]0-9]+: /.test(error.message) ||
    text.includes('"fieldViolations"');
  return isNamed && (status === 400 || status === 404);
}

/** True for calls of MCP servers, past or present: the gateway itself runs and reports them. */
function hasMcpTools(req: Loose): boolean {
  return [...list(req['tools']), ...list(req['input'])].some(({ type }) => word(type).startsWith('mcp'));
}

/** Paths of what is in `said` and not, or otherwise, in `arrived`. */
function losses(said: unknown, arrived: unknown, path: string): string[] {
  if (Array.isArray(said) && Array.isArray(arrived) && said.length === arrived.length)
    return said.flatMap((element, index) => losses(element, arrived[index], `${path}[${index}]`));
  if (isObject(said) && isObject(arrived))
    return Object.entries(said).flatMap(([name, value]) =>
      losses(value, arrived[name], path === '' ? name : `${path}.${name}`),
    );
  // The report names each member of an object that is gone as a whole.
  if (isObject(said) && arrived === undefined) return losses(said, {}, path);
  return JSON.stringify(said) === JSON.stringify(arrived) ? [] : [path];
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A request in one of the spellings that mean the same. */
function plain(api: Sent['api'], body: unknown): unknown {
  if (api === 'responses') return plainResponses(withoutNothing(body) as Loose);
  if (api === 'messages') return plainMessages(withoutNothing(body));
  if (api === 'generateContent') return plainGemini(withoutNothing(camel(body)) as Loose);
  return withoutNothing(body);
}

/** The value less what says as much as silence: null, an empty object, and the stream that nobody wants. */
function withoutNothing(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNothing);
  if (!isObject(value)) return value;
  const members = Object.entries(value)
    .filter(([name, member]) => member !== null && !(name === 'stream' && member === false))
    .map(([name, member]) => [name, withoutNothing(member)] as const)
    .filter(([, member]) => !isObject(member) || Object.keys(member).length > 0);
  return Object.fromEntries(members);
}

/** Texts are parts, instructions are the first message, and the gateway cuts what is too long itself. */
function plainResponses(body: Loose): unknown {
  const { instructions, input, truncation: _, ...rest } = body;
  const items = typeof input === 'string' ? [{ role: 'user', content: input }] : list(input);
  const first = instructions ? [{ role: 'developer', content: instructions }] : [];
  const { generate_summary: summary, ...reasoning } = (rest['reasoning'] ?? {}) as Loose;
  return {
    ...rest,
    reasoning: summary === undefined ? reasoning : { summary, ...reasoning },
    input: [...first, ...items].map((item) => {
      const { content, ...members } = item as unknown as Record<string, unknown>;
      const type = members['role'] === 'assistant' ? 'output_text' : 'input_text';
      const parts = typeof content === 'string' ? [{ type, text: content }] : content;
      return content === undefined ? members : { type: 'message', ...members, content: parts };
    }),
  };
}

/** One text is a list of one text. */
function plainMessages(value: unknown): unknown {
  if (Array.isArray(value)) {
    const [only, ...others] = value as unknown[];
    const isText =
      isObject(only) && others.length === 0 && Object.keys(only).toSorted().join() === 'text,type';
    return isText ? only['text'] : value.map(plainMessages);
  }
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, plainMessages(member)]));
}

/**
 * Neighbours of one role are one content, instructions have no role, base64 has two alphabets, a schema says that the
 * answer is JSON, and an empty text is nothing.
 */
function plainGemini(body: Loose): unknown {
  const { contents, systemInstruction: instruction, ...rest } = body;
  const merged: { role: string; parts: unknown[] }[] = [];
  for (const content of list(contents)) {
    const role = word(content['role']) || 'user';
    const parts = list(content['parts']).filter((part) => JSON.stringify(part) !== '{"text":""}');
    if (merged.at(-1)?.role === role) merged.at(-1)?.parts.push(...parts);
    else merged.push({ role, parts: [...parts] });
  }
  const { responseMimeType: mimeType, ...config } = (rest['generationConfig'] ?? {}) as Loose;
  const isSaid = config['responseJsonSchema'] === undefined && config['responseSchema'] === undefined;
  return {
    ...rest,
    generationConfig: isSaid ? { responseMimeType: mimeType, ...config } : config,
    contents: merged,
    ...(instruction ? { systemInstruction: list(at(instruction, 'parts')) } : {}),
  };
}

function camel(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(camel);
  if (!isObject(value)) return value;
  const members = Object.entries(value).map(([key, member]) => {
    const name = key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
    const isBase64 = /^(thoughtSignature|data)$/.test(name) && typeof member === 'string';
    return [name, isBase64 ? member.replaceAll('-', '+').replaceAll('_', '/') : camel(member)] as const;
  });
  return Object.fromEntries(members);
}
