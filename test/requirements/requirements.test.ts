// The manifest is complete, points to tests that exist, and agrees with the documentation.
import { describe, expect, test } from 'bun:test';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { REQUEST_FIELDS } from '../../src/protocols/openai-chat/fields.ts';
import { REQUEST_FIELDS as RESPONSES_FIELDS } from '../../src/protocols/openai-responses/fields.ts';
import { CHECKS, CONTRADICTIONS, PAINS, range, REQUIREMENTS, SECTIONS } from './manifest.ts';
import { parseRequirements } from './requirement.ts';

const ROOT = join(import.meta.dir, '../..');
const texts = new Map<string, string | null>();

/** A file of the repository; null when there is none. */
function textOf(file: string): string | null {
  let text = texts.get(file);
  if (text === undefined) {
    const path = join(ROOT, file);
    text = existsSync(path) ? readFileSync(path, 'utf8') : null;
    texts.set(file, text);
  }
  return text;
}

/** Problem with a pointer to a test; null when it points to one. */
function problemWith(pointer: string): string | null {
  const [file = '', ...rest] = pointer.split(': ');
  const text = textOf(file);
  if (text === null) return `${file} does not exist`;
  if (rest.length === 0) return file.startsWith('test/golden/') ? null : `${file} is named without a test`;
  // Titles stand in the source as they are written, quotes escaped or not.
  const title = rest.join(': ');
  return titlesIn(text).some((line) => line.includes(title)) ? null : `${file} has no test "${title}"`;
}

/** Lines of a test file that may hold a title. */
function titlesIn(text: string): readonly string[] {
  return text
    .split('\n')
    .filter((line) => /\b(test|describe)(\.each)?\(|\)\(\s*['"`]|^\s*['"`].*['"`],$/.test(line))
    .map((line) => line.replaceAll("\\'", "'"));
}

describe('the manifest', () => {
  test('has every item once', () => {
    const expected = [
      ...Object.entries(SECTIONS).flatMap(([section, last]) =>
        range(1, last).map((item) => `${section}.${item}`),
      ),
      ...CONTRADICTIONS.map((number) => `C-${String(number).padStart(2, '0')}`),
      ...CHECKS.map((number) => `24.${number}`),
      ...Object.entries(PAINS).flatMap(([group, [first, last]]) =>
        range(first, last).map((number) => `pain.${group}${number}`),
      ),
    ];
    const ids = REQUIREMENTS.map(({ id }) => id);
    expect(ids.filter((id) => !id.startsWith('contract.')).toSorted()).toEqual(expected.toSorted());
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('gives the behaviour and the source of each item', () => {
    const silent = REQUIREMENTS.filter(
      ({ behaviour, source }) => !/^.{12,}\.$/.test(behaviour) || source.length < 8,
    );
    expect(silent.map(({ id }) => id)).toEqual([]);
  });

  test('names a test for every item, or its reason', () => {
    const unproven = REQUIREMENTS.filter(({ tests, later }) => tests.length === 0 && later === undefined);
    expect(unproven.map(({ id }) => id)).toEqual([]);
  });

  test('points to tests that exist', () => {
    const dangling = REQUIREMENTS.flatMap(({ id, tests }) =>
      tests.map((pointer) => ({ id, problem: problemWith(pointer) })),
    ).filter(({ problem }) => problem !== null);
    expect(dangling).toEqual([]);
  });

  test('would notice a pointer to nothing', () => {
    expect(problemWith('test/nowhere.test.ts: a')).toContain('does not exist');
    expect(
      problemWith(`test/requirements/requirements.test.ts: ${['no such', 'title'].join(' ')}`),
    ).toContain('has no test');
    expect(problemWith('test/requirements/requirements.test.ts: has every item once')).toBeNull();
    expect(problemWith('test/unit/protocols/golden.test.ts')).toContain('without a test');
  });
});

test('a line of the manifest in no known form is an error with its number', () => {
  expect(() => parseRequirements('# A part\n[source]\n1.1\n')).toThrow('Line 3 is neither');
  expect(() => parseRequirements('  test/x.test.ts: title\n')).toThrow('Line 1 is neither');
});

describe('request fields', () => {
  test('are each named by a requirement', () => {
    const said = REQUIREMENTS.map(({ behaviour }) => behaviour).join('\n');
    const missing = REQUEST_FIELDS.filter(({ name }) => !new RegExp(`\`${name}(?:[.:][^\`]*)?\``).test(said));
    expect(missing.map(({ name }) => name)).toEqual([]);
  });

  test('of the Responses API are documented as they are handled, each with its note', () => {
    const page = textOf('docs/responses.md') ?? '';
    const rows = [...page.matchAll(/^\| `([a-z_]+)` \| (\w+) \| (.*) \|$/gm)].map(
      ([, name, support, note]) => ({
        name,
        support,
        note,
      }),
    );
    const words = {
      supported: 'yes',
      state: 'state',
      hint: 'hint',
      ignored: 'ignored',
      gateway: 'gateway',
    } as const;
    expect(rows).toEqual(
      RESPONSES_FIELDS.map(({ name, support, note }) => ({ name, support: words[support], note })),
    );
  });

  test('are documented as they are handled, and nothing else is', () => {
    const page = textOf('docs/chat-completions.md') ?? '';
    const rows = [...page.matchAll(/^\| `([a-z_]+)` \| (yes|gateway|passed on|ignored|refused) \|/gm)].map(
      ([, name, support]) => ({ name, support }),
    );
    const words = {
      supported: 'yes',
      gateway: 'gateway',
      passed: 'passed on',
      ignored: 'ignored',
      rejected: 'refused',
    } as const;
    expect(rows).toEqual(REQUEST_FIELDS.map(({ name, support }) => ({ name, support: words[support] })));
  });
});
