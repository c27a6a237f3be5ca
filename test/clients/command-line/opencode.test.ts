// opencode, with the settings of its page, over each protocol that it speaks: a task of two commands, and a second turn.
import { expect, test } from 'bun:test';
import { CONVERSE } from '../../support/upstreams/every-upstream.ts';
import { pageSettings } from './client-page.ts';
import { describeClient, Desk, TASK_MS } from './command-line-clients.ts';

const TASK = `Please do this.
call bash {"command": "echo hello > greeting.txt", "description": "Writes a file"}
call bash {"command": "cat greeting.txt greeting.txt", "description": "Reads it"}
`;

describeClient('opencode', (opencode, running) => {
  test.each([
    ['@ai-sdk/openai-compatible', 'sim/messages'],
    ['@ai-sdk/openai', 'sim/chat'],
    ['@ai-sdk/anthropic', 'sim/responses'],
    ['@ai-sdk/google', 'sim/messages'],
    ['@ai-sdk/openai', 'sim/gemini'],
    ['@ai-sdk/anthropic', CONVERSE],
  ])(
    'completes a task, and continues it in a second turn, over %s with %s',
    async (provider, model) => {
      const gateway = running();
      using desk = new Desk({ DRAGOMAN_KEY: gateway.key, OPENCODE_DISABLE_MODELS_FETCH: '1' });
      const settings = pageSettings('opencode', 'json', { gateway, model });
      const base = provider === '@ai-sdk/google' ? '/v1beta' : '/v1';
      desk.write(
        '.config/opencode/opencode.json',
        settings.replace('@ai-sdk/openai-compatible', provider).replace(/\/v1(?=")/, base),
      );
      expect(await desk.run(opencode, ['run'], TASK)).toContain('bash returned: hello\nhello');
      expect(desk.read('greeting.txt')).toBe('hello\n');
      const again = 'call bash {"command": "wc -c greeting.txt", "description": "Counts"}\n';
      expect(await desk.run(opencode, ['run', '--continue'], again)).toContain(
        'bash returned: 6 greeting.txt',
      );
    },
    TASK_MS,
  );
});
