// `dragoman usage` beside a gateway that runs: what was just used, by whom, as a table, JSON and CSV.
import { afterAll, expect, test } from 'bun:test';
import { unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startGateway } from '../../support/harness.ts';
import { freshFolder, runProgram } from '../../support/program.ts';

const { folder, remove } = freshFolder();

const gateway = await startGateway({
  projects: { search: {} },
  keys: [{ name: 'ci', key: 'sk-test', project: 'search' }],
});
for (const [model, user] of [
  ['sim/chat', 'ann'],
  ['sim/chat', 'ann'],
  ['sim/nothing', 'ben'],
]) {
  const answer = await gateway.post('/chat/completions', {
    model,
    user,
    messages: [{ role: 'user', content: 'count to 20' }],
  });
  await answer.text();
}
afterAll(async () => {
  await gateway.close();
  remove();
});

const run = (...words: string[]): ReturnType<typeof runProgram> =>
  runProgram(['usage', '--data-dir', gateway.dataDir, ...words], { folder });

test('prints the latest usage, by model and end user, and for a filter', async () => {
  const { code, out, err } = await run('--by', 'project,model', '--since', '1h');
  expect({ code, err }).toEqual({ code: 0, err: '' });
  const lines = out.trim().split('\n');
  expect(lines.at(-1)).toMatch(/^From .* UTC\. Days are in the time zone UTC\.$/);
  // A model that nobody has: refused, under the name that was asked for.
  expect(lines.some((line) => /^search\s+sim\/nothing\s+1\s+0\s+1\s+0\s/.test(line))).toBe(true);
  expect(lines[0]).toMatch(
    /^PROJECT\s+MODEL\s+REQUESTS\s+FAILED\s+REFUSED\s+CANCELLED\s+INPUT\s+CACHED\s+OUTPUT\s+USD\s+SAVED\s+UNPRICED$/,
  );
  expect(lines.slice(1).some((line) => /^search\s+sim\/chat\s+2\s+0\s+0\s+0\s+/.test(line))).toBe(true);
  const json = await run('--every', 'day', '--model', 'sim/chat', '--json');
  expect(JSON.parse(json.out)).toMatchObject([{ requests: 2, errors: 0, attempts: 2 }]);
  const placed = await run('--by', 'provider', '--since', '1h');
  expect(placed.out).toMatch(/^PROVIDER\s+REQUESTS\s+ATTEMPTS\s+ATTEMPTS FAILED\s+FAILED/);
  const minutes = await run('--every', '5m', '--since', '1h', '--json');
  const sum = (JSON.parse(minutes.out) as { requests: number }[]).reduce((all, row) => all + row.requests, 0);
  expect(sum).toBe(3);
  const users = await run('--by', 'end_user', '--csv');
  expect(users.out.split('\r\n')[0]).toBe(
    'project,end_user,requests,errors,input,output,usd,unpriced_requests',
  );
  expect(users.out).toMatch(/^search,[0-9a-f]{32},2,0,/m);
});

test('shows names of keys, takes them as filters, and accepts names of days', async () => {
  const config = join(folder, 'dragoman.yaml');
  writeFileSync(
    config,
    JSON.stringify({
      projects: { search: {} },
      keys: [{ name: 'ci', key: gateway.key, project: 'search' }],
    }),
  );
  const named = await run('--by', 'key', '--since', 'today');
  expect(named.out.split('\n')[1]).toMatch(/^ci\s+3\s/);
  const ids = await run('--by', 'key', '--since', 'today', '--ids');
  expect(ids.out.split('\n')[1]).toMatch(/^key_[0-9a-f]+\s+3\s/);
  const json = await run('--by', 'key', '--key', 'ci', '--since', 'yesterday', '--json');
  expect(JSON.parse(json.out)).toMatchObject([{ key: expect.stringMatching(/^key_/), requests: 3 }]);
  const before = await run('--since', 'yesterday', '--until', 'today');
  expect(before.out).toContain('No usage in this period.');
  unlinkSync(config);
});

test('an unknown value is refused with the known ones', async () => {
  expect(await run('--by', 'colour')).toMatchObject({
    code: 1,
    err: expect.stringContaining('requested_model, outcome, or end_user'),
  });
  expect(await run('--since', 'tomorrow')).toMatchObject({
    code: 1,
    err: expect.stringContaining('24h, 7d or 4w'),
  });
});
