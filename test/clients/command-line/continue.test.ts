// The command line of Continue, with the settings of its page, over Chat Completions and Messages: a task of two tools.
import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { CONVERSE } from '../../support/upstreams/every-upstream.ts';
import { pageSettings } from './client-page.ts';
import { describeClient, Desk, TASK_MS } from './command-line-clients.ts';

describeClient('continue', (cn, running) => {
  test.each([
    ['openai', 'sim/messages'],
    ['openai', 'sim/gemini'],
    ['anthropic', 'sim/chat'],
    ['anthropic', 'sim/responses'],
    ['anthropic', 'sim/messages'],
    ['anthropic', CONVERSE],
  ])(
    'completes a task, and continues it in a second turn, as %s with %s',
    async (kind, model) => {
      const gateway = running();
      using desk = new Desk({ CONTINUE_TELEMETRY_ENABLED: '0' });
      const settings = pageSettings('continue', 'yaml', { gateway, model });
      desk.write(
        'config.yaml',
        settings.replace('provider: openai', `provider: ${kind}`).replace('sk-…', gateway.key),
      );
      const args = ['--config', join(desk.home, 'config.yaml'), '--auto', '-p'];
      const task = `Please do this.
call Bash {"command": "echo hello > greeting.txt"}
call Read {"filepath": "${desk.folder}/greeting.txt"}`;
      expect(await desk.run(cn, [...args, task])).toContain('hello');
      expect(desk.read('greeting.txt')).toBe('hello\n');
      const again = 'call Bash {"command": "wc -c greeting.txt"}';
      expect(await desk.run(cn, ['--resume', ...args, again])).toContain('6 greeting.txt');
    },
    TASK_MS,
  );
});
