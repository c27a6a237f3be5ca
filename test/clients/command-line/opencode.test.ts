// opencode, with the settings of its page, over each protocol that it speaks: a task of two commands, and a second turn.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { TestGateway } from '../../support/harness.ts';
import { CONVERSE, startEveryUpstream } from '../../support/upstreams/every-upstream.ts';
import { pageSettings } from './client-page.ts';
import { Desk, installClient, removeClients } from './command-line-clients.ts';

const opencode = installClient('opencode') ?? '';

const TASK = `Please do this.
call bash {"command": "echo hello > greeting.txt", "description": "Writes a file"}
call bash {"command": "cat greeting.txt greeting.txt", "description": "Reads it"}
`;

describe.skipIf(opencode === '')('opencode', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startEveryUpstream();
  });
  afterAll(async () => {
    await gateway.close();
    removeClients();
  });

  test.each([
    ['@ai-sdk/openai-compatible', 'sim/messages'],
    ['@ai-sdk/openai', 'sim/chat'],
    ['@ai-sdk/anthropic', 'sim/responses'],
    ['@ai-sdk/google', 'sim/messages'],
    ['@ai-sdk/openai', 'sim/gemini'],
    ['@ai-sdk/anthropic', CONVERSE],
  ])(
    'does a task, and goes on with it, over %s with %s',
    async (provider, model) => {
      const desk = new Desk({ DRAGOMAN_KEY: gateway.key, OPENCODE_DISABLE_MODELS_FETCH: '1' });
      const settings = pageSettings('opencode', 'json', { gateway, model });
      const base = provider === '@ai-sdk/google' ? '/v1beta' : '/v1';
      desk.write(
        '.config/opencode/opencode.json',
        settings.replace('@ai-sdk/openai-compatible', provider).replace(/\/v1(?=")/, base),
      );
      try {
        expect(await desk.run(opencode, ['run'], TASK)).toContain('bash returned: hello\nhello');
        expect(desk.read('greeting.txt')).toBe('hello\n');
        const again = 'call bash {"command": "wc -c greeting.txt", "description": "Counts"}\n';
        expect(await desk.run(opencode, ['run', '--continue'], again)).toContain(
          'bash returned: 6 greeting.txt',
        );
      } finally {
        desk.remove();
      }
    },
    400_000,
  );
});
