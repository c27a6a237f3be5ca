// Gemini CLI, with the settings of its page, over every kind of upstream: a task of two tools, and a second turn.
import { expect, test } from 'bun:test';
import { UPSTREAMS } from '../../support/upstreams/every-upstream.ts';
import { exportedVariables, pageSettings } from './client-page.ts';
import { describeClient, Desk, TASK_MS } from './command-line-clients.ts';

describeClient('gemini-cli', (gemini, running) => {
  test.each(UPSTREAMS)(
    'completes a task, and continues it in a second turn, %s',
    async (model) => {
      const gateway = running();
      using desk = new Desk(
        exportedVariables(pageSettings('gemini-cli', 'sh', { gateway, model }), gateway.key),
      );
      desk.write('.gemini/settings.json', pageSettings('gemini-cli', 'json', { gateway, model }));
      const args = ['--skip-trust', '--approval-mode', 'yolo', '-m', model];
      const task = `Please do this.
call run_shell_command {"command": "echo hello > greeting.txt", "description": "Writes a file"}
call read_file {"file_path": "${desk.folder}/greeting.txt"}`;
      expect(await desk.run(gemini, [...args, '-p', task])).toContain('read_file returned: hello');
      expect(desk.read('greeting.txt')).toBe('hello\n');
      const again = 'call run_shell_command {"command": "wc -c greeting.txt", "description": "Counts"}';
      expect(await desk.run(gemini, [...args, '--resume', 'latest', '-p', again])).toContain(
        '6 greeting.txt',
      );
    },
    TASK_MS,
  );
});
