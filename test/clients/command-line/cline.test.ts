// The command line of Cline, with the settings of its page, over Chat Completions: a task of two tools.
import { expect, test } from 'bun:test';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { UPSTREAMS } from '../../support/upstreams/every-upstream.ts';
import { pageSettings } from './client-page.ts';
import { describeClient, Desk, TASK_MS } from './command-line-clients.ts';

describeClient('cline', (cline, running) => {
  test.each(UPSTREAMS)(
    'completes a task, %s',
    async (model) => {
      const gateway = running();
      using desk = new Desk({});
      const [, ...settings] = pageSettings('cline', 'sh', { gateway, model, index: 1 }).trim().split(/\s+/);
      const task = `Please do this.
call run_commands {"commands": ["echo hello > greeting.txt"]}
call read_files {"files": [{"path": "${desk.folder}/greeting.txt"}]}`;
      try {
        await desk.run(
          cline,
          settings.map((word) => (word === '"$DRAGOMAN_KEY"' ? gateway.key : word)),
        );
        const out = await desk.run(cline, ['-P', 'openai-compatible', '-m', model, '-t', '60', task]);
        expect(out).toContain('read_files returned: ');
        expect(desk.read('greeting.txt')).toBe('hello\n');
      } finally {
        endHub(desk);
      }
    },
    TASK_MS,
  );
});

/** Cline leaves a process behind that other windows would share: the one that names the folder of this test. */
function endHub(desk: Desk): void {
  if (!existsSync('/proc')) return;
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    const path = join('/proc', pid, 'cmdline');
    if (existsSync(path) && readFileSync(path, 'utf8').includes(desk.folder))
      process.kill(Number(pid), 'SIGKILL');
  }
}
