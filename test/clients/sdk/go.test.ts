// Runs the official Go libraries of OpenAI, Anthropic and Google against a gateway of their own. `DRAGOMAN_GO` names a
// `go` that has the modules of test/clients/go, or may fetch them.
import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { runForeign } from './foreign-program.ts';

const go = process.env['DRAGOMAN_GO'];

test.skipIf(!go)(
  `the official libraries for Go work${go ? '' : ' (set DRAGOMAN_GO to a go that may fetch them)'}`,
  async () => {
    // The libraries take minutes to optimise, and seconds to run.
    const command = [go ?? '', 'test', '-vet=off', '-gcflags=all=-N -l -dwarf=false', '-count=1', '.'];
    const { report, code } = await runForeign(command, join(import.meta.dir, '..', 'go'));
    expect(report).toStartWith('ok ');
    expect(code).toBe(0);
  },
  600_000,
);
