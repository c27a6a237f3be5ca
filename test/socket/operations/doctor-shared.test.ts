// Results of `dragoman doctor`, where they are kept and shown: a file of the data directory, or the database that several
// gateways share. Whoever keeps it, all that use it send the same, and the management API tells of it.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { doctorServer, type ChatRequest } from '../../support/doctor-server.ts';
import { ADMIN_KEY, startManaged, type ManagedGateway } from '../../support/management/scene.ts';
import { eventually, freshFolder, runProgram, type Finished } from '../../support/program.ts';
import { freshPostgres, POSTGRES_PROGRAMS } from '../../support/servers/postgres.ts';
import { isWhole } from '../../support/share.ts';
import { startUpstream, type ScriptedUpstream } from '../../support/upstreams/scripted-upstream.ts';

const QUESTION = {
  model: 'lab/m',
  max_tokens: 50,
  messages: [{ role: 'user', content: 'Hi!' }],
  response_format: { type: 'json_schema', json_schema: { name: 'a', schema: { type: 'object' } } },
};
/** Knows only the older form of structured answers. */
const OLD = {
  refuse: ({ response_format: format }: ChatRequest): string | undefined =>
    (format as { type?: string } | undefined)?.type === 'json_schema' ? 'json_object only' : undefined,
};

const databases = [
  // Much of it `doctor.test.ts` tries as well.
  { name: 'in a file', skip: !isWhole, shared: async (): Promise<object> => ({}) },
  {
    name: 'in PostgreSQL',
    skip: POSTGRES_PROGRAMS === null,
    shared: async (): Promise<object> => ({ database_url: await freshPostgres(), secret: 'ab'.repeat(32) }),
  },
];

for (const { name, skip, shared } of databases) {
  describe.skipIf(skip)(`findings ${name}`, () => {
    const isShared = name === 'in PostgreSQL';
    let upstream: ScriptedUpstream;
    let folder: string;
    let remove: () => void;
    let config: Record<string, unknown>;
    let gateways: readonly ManagedGateway[] = [];

    const start = (dataDir: string): Promise<ManagedGateway> =>
      startManaged(config, { dataDir: join(folder, dataDir) });

    beforeAll(async () => {
      ({ folder, remove } = freshFolder());
      upstream = await startUpstream();
      upstream.always(doctorServer(OLD));
      const lab = {
        api_key: 'sk-test-of-the-lab',
        protocols: { 'openai-chat': { base_url: `${upstream.origin}/v1` } },
      };
      config = {
        ...(await shared()),
        providers: { sim: false, lab },
        models: [{ id: 'lab/m', endpoints: [{ provider: 'lab' }] }],
      };
      // Replicas have folders of their own.
      const folders = isShared ? ['one', 'two'] : ['data'];
      gateways = await Promise.all(folders.map(start));
    });
    afterAll(async () => {
      for (const gateway of gateways) await gateway.close();
      await upstream.stop();
      remove();
    });

    function command(...args: readonly string[]): Promise<Finished> {
      const server = { admin_key: ADMIN_KEY };
      const whole = { ...config, server, data_dir: join(folder, isShared ? 'commands' : 'data') };
      writeFileSync(join(folder, 'dragoman.yaml'), JSON.stringify(whole));
      return runProgram([...args, '--config', 'dragoman.yaml'], { folder });
    }

    const findings = async (gateway: ManagedGateway, query = ''): Promise<readonly unknown[]> =>
      (await gateway.manage('GET', `/doctor/findings${query}`)).body['data'] as unknown[];
    const statuses = (): Promise<readonly number[]> =>
      Promise.all(
        gateways.map(async (gateway) => (await gateway.post('/chat/completions', QUESTION)).status),
      );

    test('are used and shown by every gateway, also by one that starts later, until they are deleted', async () => {
      expect(new Set(await statuses())).toEqual(new Set([400]));
      for (const gateway of gateways) expect(await findings(gateway)).toEqual([]);

      const done = await command('doctor');
      expect(done).toMatchObject({ code: 0 });
      await eventually('every gateway has read it', async () =>
        (await statuses()).every((status) => status === 200),
      );
      const shown = {
        object: 'doctor.diagnosis',
        id: 'lab/m:openai-chat',
        provider: 'lab',
        model_id: 'lab/m',
        slug: 'lab',
        base_url: `${upstream.origin}/v1`,
        facts: { quirks: { structured_output: 'json_object' } },
      };
      for (const gateway of gateways) {
        const [found, ...others] = await findings(gateway);
        expect(found).toMatchObject(shown);
        expect(others).toEqual([]);
        expect(await findings(gateway, '?provider=lab&model=m')).toEqual([found]);
        expect(await findings(gateway, '?provider=another')).toEqual([]);
        expect(await findings(gateway, '?model=another')).toEqual([]);
      }
      if (isShared) {
        const later = await start('three');
        expect((await later.post('/chat/completions', QUESTION)).status).toBe(200);
        expect(await findings(later)).toMatchObject([shown]);
        await later.close();
      }
      expect((await command('models')).out).toContain('probed 2');

      const forgotten = await command('doctor', '--forget', 'lab');
      expect(forgotten).toMatchObject({ code: 0, out: 'Deleted the results of 1 endpoint.\n' });
      await eventually('every gateway has forgotten it', async () =>
        (await statuses()).every((status) => status === 400),
      );
      for (const gateway of gateways) expect(await findings(gateway)).toEqual([]);
    });
  });
}
