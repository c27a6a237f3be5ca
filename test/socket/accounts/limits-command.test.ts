// `dragoman limits` against a gateway that runs: as an operator of the same machine, and as somebody who may not.
import { afterAll, expect, test } from 'bun:test';
import { startGateway } from '../../support/harness.ts';
import { freshFolder, runProgram } from '../../support/program.ts';

const { folder, remove } = freshFolder();

const gateway = await startGateway({
  limits: [{ concurrent: 2000 }],
  projects: { search: { budgets: [{ usd: 500, per: 'month' }] } },
  keys: [
    {
      name: 'ci',
      key: 'sk-test',
      project: 'search',
      limits: [{ requests: 60, per: 'minute', models: ['sim/*'] }],
    },
  ],
});
const answer = await gateway.post('/chat/completions', {
  model: 'sim/chat',
  messages: [{ role: 'user', content: 'count to 20' }],
});
await answer.text();
afterAll(async () => {
  await gateway.close();
  remove();
});

test('prints every limit of every owner, and its usage', async () => {
  const own = ['limits', '--url', gateway.origin, '--data-dir', gateway.dataDir];
  const { code, out, err } = await runProgram(own, { folder });
  expect({ code, err }).toEqual({ code: 0, err: '' });
  const lines = out.trim().split('\n');
  expect(lines[0]).toMatch(/^OWNER\s+LIMIT\s+USED\s+RESERVED\s+LEFT\s+RESETS$/);
  expect(lines[1]).toMatch(/^gateway\s+2000 concurrent requests\s+0\s+0\s+2000\s+/);
  expect(lines[2]).toMatch(
    /^project search\s+\$500\.00 per month\s+\$0\.000\d+\s+\$0\.00\s+\$499\.999\d+\s+\d{4}-/,
  );
  expect(lines[3]).toMatch(/^key ci\s+60 requests per minute for sim\/\*\s+1\s+0\s+59\s+\d{4}-/);
  const json = await runProgram([...own, '--kind', 'key', '--json'], { folder });
  expect(JSON.parse(json.out)).toMatchObject([{ owner: { kind: 'key', name: 'ci' }, limits: [{ used: 1 }] }]);
});

test('the error for another key asks for an admin key', async () => {
  const refused = await runProgram(['limits', '--url', gateway.origin, '--key', 'sk-test'], { folder });
  expect(refused.code).not.toBe(0);
  expect(refused.err).toContain('or an admin key with --key');
});
