// Codex, with the settings of its page, over every kind of upstream: a task of two commands, and a second turn.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { TestGateway } from '../../support/harness.ts';
import { startEveryUpstream, UPSTREAMS } from '../../support/upstreams/every-upstream.ts';
import { pageSettings } from './client-page.ts';
import { Desk, installClient, removeClients } from './command-line-clients.ts';

const codex = installClient('codex') ?? '';

const TASK = `Please do this.
call exec_command {"cmd": "echo hello > greeting.txt"}
call exec_command {"cmd": "cat greeting.txt greeting.txt"}`;
const EXEC = ['exec', '--skip-git-repo-check', '--sandbox', 'danger-full-access'];

describe.skipIf(codex === '')('Codex', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startEveryUpstream();
  });
  afterAll(async () => {
    await gateway.close();
    removeClients();
  });

  test.each(UPSTREAMS)(
    'does a task, and goes on with it, %s',
    async (model) => {
      const desk = new Desk({ DRAGOMAN_KEY: gateway.key });
      desk.write('.codex/config.toml', pageSettings('codex', 'toml', { gateway, model }));
      try {
        expect(await desk.run(codex, [...EXEC, TASK])).toContain('Output:\nhello\nhello\n');
        expect(desk.read('greeting.txt')).toBe('hello\n');
        const again = 'call exec_command {"cmd": "wc -c greeting.txt"}';
        expect(await desk.run(codex, [...EXEC, 'resume', '--last', again])).toContain('6 greeting.txt');
      } finally {
        desk.remove();
      }
    },
    400_000,
  );

  test('reads the list of models where its key comes from a command', async () => {
    const desk = new Desk({});
    const settings = pageSettings('codex', 'toml', { gateway, model: 'sim/messages', index: 1 });
    desk.write('.codex/config.toml', settings.replace('sk-…', gateway.key));
    try {
      const out = await desk.run(codex, [...EXEC, TASK]);
      expect(out).toContain('Output:\nhello\nhello\n');
      expect(out).not.toContain('Model metadata');
    } finally {
      desk.remove();
    }
  }, 400_000);
});
