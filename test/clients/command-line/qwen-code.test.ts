// Qwen Code, with the settings of its page, over Chat Completions and Messages: a task of two tools, and a second turn.
import { expect, test } from 'bun:test';
import { CONVERSE } from '../../support/upstreams/every-upstream.ts';
import { exportedVariables, pageSettings } from './client-page.ts';
import { describeClient, Desk, TASK_MS } from './command-line-clients.ts';

describeClient('qwen-code', (qwen, running) => {
  test.each([
    ['openai', 0, 'sim/responses'],
    ['anthropic', 1, 'sim/chat'],
    ['anthropic', 1, 'sim/messages'],
    ['anthropic', 1, 'sim/gemini'],
    ['openai', 0, CONVERSE],
  ])(
    'completes a task, and continues it in a second turn, as %s (block %d) with %s',
    async (kind, index, model) => {
      const gateway = running();
      using desk = new Desk({
        ...exportedVariables(pageSettings('qwen-code', 'sh', { gateway, model, index }), gateway.key),
        // It would start itself once more, with more memory than these tasks need.
        QWEN_CODE_NO_RELAUNCH: 'true',
      });
      const args = ['--auth-type', kind, '--approval-mode', 'yolo'];
      const task = `Please do this.
call run_shell_command {"command": "echo hello > greeting.txt", "description": "Writes a file", "is_background": false}
call read_file {"file_path": "${desk.folder}/greeting.txt"}`;
      expect(await desk.run(qwen, [...args, '-p', task])).toContain('read_file returned: hello');
      expect(desk.read('greeting.txt')).toBe('hello\n');
      // On a line of its own: reminders are put right before what the user says.
      const again =
        'Go on.\ncall run_shell_command {"command": "wc -c greeting.txt", "is_background": false}';
      expect(await desk.run(qwen, [...args, '--continue', '-p', again])).toContain('6 greeting.txt');
    },
    TASK_MS,
  );
});
