// Codex, with the settings of its page, over every kind of upstream: a task of two commands, and a second turn.
import { expect, test } from 'bun:test';
import { UPSTREAMS } from '../../support/upstreams/every-upstream.ts';
import { pageSettings } from './client-page.ts';
import { describeClient, Desk, TASK_MS } from './command-line-clients.ts';

const TASK = `Please do this.
call exec_command {"cmd": "echo hello > greeting.txt"}
call exec_command {"cmd": "cat greeting.txt greeting.txt"}`;
const EXEC = ['exec', '--skip-git-repo-check', '--sandbox', 'danger-full-access'];

describeClient('codex', (codex, running) => {
  test.each(UPSTREAMS)(
    'completes a task, and continues it in a second turn, %s',
    async (model) => {
      const gateway = running();
      using desk = new Desk({ DRAGOMAN_KEY: gateway.key });
      desk.write('.codex/config.toml', pageSettings('codex', 'toml', { gateway, model }));
      expect(await desk.run(codex, [...EXEC, TASK])).toContain('Output:\nhello\nhello\n');
      expect(desk.read('greeting.txt')).toBe('hello\n');
      const again = 'call exec_command {"cmd": "wc -c greeting.txt"}';
      expect(await desk.run(codex, [...EXEC, 'resume', '--last', again])).toContain('6 greeting.txt');
    },
    TASK_MS,
  );

  test(
    'reads the list of models if a command prints its key',
    async () => {
      const gateway = running();
      using desk = new Desk({});
      const settings = pageSettings('codex', 'toml', { gateway, model: 'sim/messages', index: 1 });
      desk.write('.codex/config.toml', settings.replace('sk-…', gateway.key));
      const out = await desk.run(codex, [...EXEC, TASK]);
      expect(out).toContain('Output:\nhello\nhello\n');
      expect(out).not.toContain('Model metadata');
    },
    TASK_MS,
  );
});
