// Runs the official Java libraries of OpenAI and Anthropic against a gateway of their own. `DRAGOMAN_JAVA` names a `java`
// (11 or newer, with a compiler), and `DRAGOMAN_JAVA_LIBRARIES` a folder with what test/clients/java/pom.xml depends on.
import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { runForeign } from './foreign-program.ts';

const java = process.env['DRAGOMAN_JAVA'];
const libraries = process.env['DRAGOMAN_JAVA_LIBRARIES'];
const isThere = Boolean(java && libraries);

test.skipIf(!isThere)(
  `the official libraries for Java work${isThere ? '' : ' (set DRAGOMAN_JAVA, and DRAGOMAN_JAVA_LIBRARIES to a folder with them)'}`,
  async () => {
    const command = [java ?? '', '-cp', join(libraries ?? '', '*'), 'OfficialClients.java'];
    const { report, code } = await runForeign(command, join(import.meta.dir, '..', 'java'));
    expect(report).toMatch(/^OK \d+\n$/);
    expect(code).toBe(0);
  },
);
