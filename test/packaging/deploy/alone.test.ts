// The compose file of one gateway alone, without containers: its command runs as a process, in an empty folder and an environment
// of what the image and the file set.
import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { eventually, freshFolder, runProgram, startProgram } from '../../support/program.ts';
import { composeReplicas } from './deployments.ts';

test('the gateway of compose.alone.yaml starts with no variable set, and its health check succeeds', async () => {
  const [replica, ...others] = composeReplicas({}, 'compose.alone.yaml');
  expect(others).toEqual([]);
  if (!replica) throw new Error('compose.alone.yaml has no gateway');
  const { folder, remove } = freshFolder();
  const [program, ...args] = replica.command;
  const environment = {
    ...replica.environment,
    DRAGOMAN_HOST: '127.0.0.1',
    DRAGOMAN_PORT: '0',
    DRAGOMAN_DATA_DIR: join(folder, 'data'),
  };
  const gateway = await startProgram(args, { folder, environment, command: [program] });
  try {
    await eventually('the first key is printed', () => gateway.out().includes('sk-dm-v1-'));
    for (const check of replica.checks) {
      if (!('command' in check)) throw new Error('compose checks by commands');
      const [checker = '', ...words] = check.command;
      const healthy = await runProgram([...words, '--url', gateway.origin], { folder, command: [checker] });
      expect(healthy).toMatchObject({ code: 0, err: '' });
      const silent = [...words, '--url', 'http://127.0.0.1:1'];
      expect((await runProgram(silent, { folder, command: [checker] })).code).toBe(1);
    }
  } finally {
    await gateway.stop('SIGINT');
    remove();
  }
});
