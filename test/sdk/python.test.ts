// Runs the Python suite against a gateway of its own. `DRAGOMAN_PYTHON` names an interpreter with the `openai` package.
import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { startGateway } from '../harness.ts';

const python = process.env['DRAGOMAN_PYTHON'];

test.skipIf(!python)(
  `the official OpenAI SDK for Python${python ? '' : ' (set DRAGOMAN_PYTHON to an interpreter that can import openai)'}`,
  async () => {
    const gateway = await startGateway({ routing: { retries: 0 } });
    const suite = Bun.spawn([python ?? '', join(import.meta.dir, '..', 'python', 'test_openai_sdk.py')], {
      env: { ...process.env, DRAGOMAN_BASE_URL: gateway.baseURL, DRAGOMAN_KEY: gateway.key },
      stdout: 'pipe',
      stderr: 'pipe',
    });
    const report = await new Response(suite.stderr).text();
    await gateway.close();
    // What unittest has to say is the message of this test's failure.
    expect(report).toEndWith('OK\n');
    expect(await suite.exited).toBe(0);
  },
  60_000,
);
