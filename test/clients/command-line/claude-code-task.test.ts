// Claude Code itself, with the settings of its page, over every kind of upstream: a task of two tools, and a second turn.
import { expect, test } from 'bun:test';
import { CONVERSE, UPSTREAMS } from '../../support/upstreams/every-upstream.ts';
import { exportedVariables, pageSettings } from './client-page.ts';
import { describeClient, Desk, TASK_MS } from './command-line-clients.ts';

describeClient('claude-code', (claude, running) => {
  const deskFor = (model: string): Desk => {
    const gateway = running();
    return new Desk({
      ...exportedVariables(pageSettings('claude-code', 'sh', { gateway, model }), gateway.key),
      ANTHROPIC_MODEL: model,
      ANTHROPIC_DEFAULT_HAIKU_MODEL: 'sim/chat',
      // Everything but the gateway is out of reach.
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    });
  };
  const ARGS = ['-p', '--output-format', 'json', '--allowedTools', 'Bash,Read'];

  test.each([...new Set([...UPSTREAMS, 'sim/claude', CONVERSE])])(
    'completes a task, and continues it in a second turn, %s',
    async (model) => {
      using desk = deskFor(model);
      const task = `Please do this.
call Bash {"command": "echo hello > greeting.txt", "description": "Writes a file"}
call Read {"file_path": "${desk.folder}/greeting.txt"}`;
      expect(await desk.run(claude, ARGS, task)).toMatch(/"result":"Read returned: .*hello/);
      expect(desk.read('greeting.txt')).toBe('hello\n');
      const again = 'Go on.\ncall Bash {"command": "wc -c greeting.txt", "description": "Counts"}';
      expect(await desk.run(claude, [...ARGS, '--continue'], again)).toContain('6 greeting.txt');
    },
    TASK_MS,
  );

  test(
    'says that a model does not exist, and that a prompt is too long',
    async () => {
      for (const [model, text] of [
        ['sim/nobody', "There's an issue with the selected model"],
        ['sim/context-overflow', 'Prompt is too long'],
      ] as const) {
        using desk = deskFor(model);
        const failed: unknown = await desk.run(claude, ARGS, 'Hello').catch((error: unknown) => error);
        expect(String(failed)).toContain(text);
      }
    },
    TASK_MS,
  );
});
