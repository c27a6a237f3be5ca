// Requests as real programs wrote them: decoded, and written again for an upstream of the same protocol, they are what
// they were; for upstreams of other protocols they can be written, or the refusal names the place.
import { describe, expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '../../../src/base/json/index.ts';
import type { CanonicalRequest, Target } from '../../../src/canonical/index.ts';
import { GatewayError, Report } from '../../../src/canonical/index.ts';
import { anthropicMessages } from '../../../src/protocols/anthropic-messages/index.ts';
import { messagesCount } from '../../../src/protocols/anthropic-messages/tasks/count/index.ts';
import { findProtocol } from '../../../src/protocols/index.ts';
import { fillTarget } from '../../support/golden-operations.ts';
import { missing, readRecordings } from '../../support/recordings/corpus.ts';

const { upstream: counting, client: asked } = messagesCount;
if (!asked) throw new Error('the Messages API counts no tokens');

type Body = Record<string, unknown>;
type Block = Record<string, unknown>;

const clients = join(import.meta.dir, '../../../../shared/recordings/client-requests');

if (missing) console.log(`messages-requests: ${missing}`);

describe.skipIf(missing !== undefined)('recorded requests', () => {
  const bodies = missing ? [] : [...ofCorpus(), ...ofClients()];

  test('survive the way to an upstream of their own protocol', () => {
    const failures: string[] = [];
    for (const [name, body] of bodies) {
      const request = decode(body);
      const sent = anthropicMessages.upstream.encodeRequest(request, targetFor(request), request.report);
      const want = normal(body);
      const got = normal(JSON.parse(JSON.stringify(sent)) as Body);
      if (want !== got) failures.push(`${name}\n${want.slice(0, 3000)}\n${got.slice(0, 3000)}`);
    }
    expect(failures).toEqual([]);
    expect(bodies.length).toBeGreaterThan(200);
  });

  test.each(['openai-chat', 'openai-responses'] as const)('can be written for %s', (name) => {
    const upstream = findProtocol(name)?.upstream;
    let written = 0;
    for (const [, body] of bodies) {
      const request = decode(body);
      try {
        upstream?.encodeRequest(request, fillTarget({}), new Report());
        written++;
      } catch (error) {
        if (!GatewayError.is(error)) throw error;
        expect(error.kind).toBe('unsupported');
        expect(error.param).toMatch(/messages\[/);
      }
    }
    expect(written / bodies.length).toBeGreaterThan(0.9);
  });

  test('survive a count of their tokens', () => {
    for (const [, body] of bodies) {
      const { max_tokens: _, stream: __, ...counted } = body;
      const request = asked.decodeRequest(counted);
      const sent = counting.encodeRequest(request, targetFor(request), request.report);
      expect(sent['messages']).toBeDefined();
      for (const member of ['max_tokens', 'stream', 'temperature', 'metadata', 'stop_sequences'])
        expect(sent).not.toHaveProperty(member);
      expect(JSON.stringify(sent['thinking'])).toBe(JSON.stringify(body['thinking'] ?? undefined));
    }
  });
});

test('a count is a number of input tokens, both ways', () => {
  expect(counting.pathFor?.('m')).toBe('/v1/messages/count_tokens');
  expect(counting.decodeCount(asked.encodeCount(14))).toBe(14);
  expect(counting.decodeCount({ type: 'error' })).toBeUndefined();
  expect(() => asked.decodeRequest({ model: 'm' })).toThrow('messages: is required');
});

function decode(body: Body): CanonicalRequest {
  const server = anthropicMessages.server;
  if (!server) throw new Error('no server side');
  return server.decodeRequest(body);
}

/** An endpoint that takes what the client asks for, as the service did that it was recorded with. */
function targetFor({ raw, reasoning }: CanonicalRequest): Target {
  const thinking = raw['thinking'] as Block | undefined;
  const isAdaptive = thinking?.['type'] === 'adaptive' || reasoning.effort !== undefined;
  return fillTarget({
    reasoningFormat: 'anthropic-claude-v1',
    reasoningStyle: isAdaptive ? 'effort' : 'budget',
    reasoning:
      reasoning.enabled === false
        ? { mode: 'off' }
        : {
            mode: 'on',
            effort: reasoning.effort ?? 'medium',
            budgetTokens: isAdaptive ? undefined : (reasoning.maxTokens ?? 1024),
            summary: undefined,
          },
    quirks: { prefill: 'plain', structuredOutput: 'json_schema' },
  });
}

/** The same request in one of the forms that mean the same. */
function normal(body: Body): string {
  const { model: _, ...out } = structuredClone(body);
  if (out['stream'] === false) delete out['stream'];
  // 1 is the default, and the only value beside thinking.
  if (out['temperature'] === 1 && out['thinking']) delete out['temperature'];
  if (Array.isArray(out['tools']) && out['tools'].length === 0) delete out['tools'];
  const system = out['system'];
  if (Array.isArray(system) && system.every((block: Block) => !block['cache_control']))
    out['system'] = system.map((block: Block) => block['text']).join('\n\n');
  const messages: { role: unknown; content: Block[] }[] = [];
  for (const { role, content } of out['messages'] as Block[]) {
    const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : (content as Block[]);
    const last = messages.at(-1);
    if (last && last.role === role) last.content.push(...blocks.map(normalBlock));
    else messages.push({ role, content: blocks.map(normalBlock) });
  }
  return JSON.stringify({ ...out, messages }, sorted);
}

function normalBlock(block: Block): Block {
  const out = { ...block };
  if (out['type'] === 'text' && Array.isArray(out['citations']) && out['citations'].length === 0)
    delete out['citations'];
  if (out['type'] !== 'tool_result') return out;
  if (out['is_error'] === false) delete out['is_error'];
  const content = out['content'] as Block[] | string | undefined;
  const [only] = Array.isArray(content) ? content : [];
  if (Array.isArray(content) && content.length === 1 && only?.['type'] === 'text' && !only['cache_control'])
    out['content'] = only['text'];
  out['content'] ??= '';
  return out;
}

function sorted(_: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, member]) => member !== null)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}

function ofCorpus(): [string, Body][] {
  return readRecordings().flatMap((recording): [string, Body][] => {
    const { req } = recording as unknown as { req?: { json?: Body } & Body };
    const body = req?.json ?? req;
    return recording.api === 'messages' && recording.status === 200 && body?.['messages']
      ? [[recording.case, body]]
      : [];
  });
}

/** Requests of today's command lines and SDKs. */
function ofClients(): [string, Body][] {
  const found: [string, Body][] = [];
  for (const folder of ['cli', 'sdk']) {
    for (const file of readdirSync(join(clients, folder))) {
      if (!/messages|ai-sdk-anthropic/.test(file)) continue;
      const { requests } = JSON.parse(readFileSync(join(clients, folder, file), 'utf8')) as {
        requests: { path: string; body: JsonObject }[];
      };
      for (const { path, body } of requests) if (path.endsWith('/messages')) found.push([file, body as Body]);
    }
  }
  return found;
}
