// Runs the Python suites against a gateway of their own. `DRAGOMAN_PYTHON` names an interpreter with the packages.
import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { runForeign } from './foreign-program.ts';

const python = process.env['DRAGOMAN_PYTHON'];
const SUITES = {
  'the official OpenAI SDK for Python': 'test_openai_sdk.py',
  'the official Anthropic and Google SDKs for Python': 'test_anthropic_google_sdk.py',
} as const;

test.skipIf(!python).each(Object.entries(SUITES))(
  `%s${python ? '' : ' (set DRAGOMAN_PYTHON to an interpreter that can import it)'}`,
  async (_, file) => {
    const { report, code } = await runForeign([python ?? '', file], join(import.meta.dir, '..', 'python'));
    // The report of unittest is the message of this test's failure.
    expect(report).toMatch(/OK( \(skipped=\d+\))?\n$/);
    expect(code).toBe(0);
  },
);
