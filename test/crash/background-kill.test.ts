// Answers in the background when the process is killed while it makes them: another start makes every one of them, once.
import { expect, test } from 'bun:test';
import { eventually } from '../support/program.ts';
import { endLeases } from '../support/storage/end-leases.ts';
import { at, list, type Json } from '../support/upstreams/json-path.ts';
import { headers, killProgram, killScene } from './kill-scene.ts';

const { serve, folder } = killScene();
const dataDir = `${folder}/data`;

async function ask(origin: string, path: string, body?: object): Promise<Json> {
  const init = body ? { method: 'POST', body: JSON.stringify(body) } : {};
  const response = await fetch(`${origin}/v1${path}`, { headers, ...init });
  return (await response.json()) as Json;
}

test.skipIf(process.platform !== 'linux')(
  'after SIGKILL every background response is produced, and none twice',
  async () => {
    const ids: string[] = [];
    for (const enough of [1, 5, 15]) {
      const gateway = await serve();
      for (let n = 0; n < 8; n += 1) {
        const asked = { model: 'sim/paced-20', input: `count to 30, ${n}`, background: true };
        ids.push(String(at(await ask(gateway.origin, '/responses', asked), 'id')));
      }
      let ended = 0;
      await eventually(
        'some answers are made',
        async () => {
          const all = await Promise.all(ids.map((id) => ask(gateway.origin, `/responses/${id}`)));
          ended = all.filter((answer) => at(answer, 'status') === 'completed').length;
          return ended >= enough;
        },
        60_000,
      );
      await killProgram(gateway);
      endLeases(dataDir);
    }
    const gateway = await serve();
    await eventually(
      'all answers are made',
      async () => {
        const all = await Promise.all(ids.map((id) => ask(gateway.origin, `/responses/${id}`)));
        return all.every((answer) => at(answer, 'status') === 'completed');
      },
      90_000,
    );
    for (const id of ids) {
      const answer = await ask(gateway.origin, `/responses/${id}`);
      expect(list(answer, 'output').length).toBeGreaterThan(0);
      // The try that answered, whatever became of those before.
      const record = await ask(gateway.origin, `/generation?id=${id}`);
      const got = { id: at(record, 'id'), outcome: at(record, 'outcome'), error: at(record, 'error') };
      expect(got).toEqual({ id: id.slice('resp_'.length), outcome: 'ok', error: null });
    }
  },
  180_000,
);
