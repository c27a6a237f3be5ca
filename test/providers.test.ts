// Every preset is complete, documented and legal; nothing in a preset contradicts the quirk table.
import { expect, test } from 'bun:test';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { quirksSchema } from '../src/config/quirks-schema.ts';
import { presets } from '../src/providers/index.ts';
import type { ProviderPreset, ProviderProtocol } from '../src/providers/index.ts';
import { NO_QUIRKS, resolveQuirks } from '../src/providers/provider.ts';

const ROOT = join(import.meta.dir, '../src/providers');
const entries = (preset: ProviderPreset): [string, ProviderProtocol][] => Object.entries(preset.protocols);
const inFile = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

test.each(presets.map((preset) => [preset.id, preset] as const))('%s', (_id, preset) => {
  expect(preset.docs).toMatch(/^https:\/\//);
  expect(preset.protocols[preset.defaultProtocol]).toBeDefined();
  for (const [, entry] of entries(preset)) {
    // A keyed vendor is reached over TLS; a keyless server is on this machine.
    expect(entry.baseUrl).toMatch(
      preset.keyVariable === null ? /^http:\/\/127\.0\.0\.1:\d+\/v1$/ : /^https:\/\/[^?]+[^/]$/,
    );
    const written = Object.fromEntries(
      Object.entries(entry.quirks).map(([name, value]) => [inFile(name), value]),
    );
    expect(quirksSchema.safeParse(written).error).toBeUndefined();
    // A quirk that repeats the default says nothing.
    for (const [name, value] of Object.entries(entry.quirks)) {
      expect([name, value]).not.toEqual([name, NO_QUIRKS[name as keyof typeof NO_QUIRKS]]);
    }
    // Reasoning that goes back needs a format to be recognised by; an aggregator's comes from the model family.
    const { reasoningReplay } = resolveQuirks(entry.quirks);
    if (reasoningReplay === 'reasoning_content' || reasoningReplay === 'reasoning')
      expect(entry.reasoningFormat).not.toBeNull();
    if (reasoningReplay === 'reasoning_details') expect(entry.reasoningFormat).toBeNull();
  }
});

test("ids, variables and reasoning formats are nobody else's", () => {
  const ids = presets.map((preset) => preset.id);
  expect(new Set(ids).size).toBe(ids.length);
  const variables = presets.map((preset) => preset.keyVariable).filter((name) => name !== null);
  expect(new Set(variables).size).toBe(variables.length);
  const formats = presets
    .flatMap((preset) => entries(preset).map(([, entry]) => entry.reasoningFormat))
    .filter((format) => format !== null);
  expect(new Set(formats).size).toBe(formats.length);
});

test('only the owners of a protocol are faithful to it', () => {
  const faithful = presets.flatMap((preset) =>
    entries(preset)
      .filter(([, entry]) => entry.faithful)
      .map(([name]) => `${preset.id} ${name}`),
  );
  expect(faithful.sort()).toEqual([
    'anthropic anthropic-messages',
    'google gemini',
    'openai openai-chat',
    'openai openai-responses',
  ]);
});

test('every folder is listed, and none imports another', () => {
  const folders = readdirSync(ROOT, { withFileTypes: true }).filter(
    (entry) => entry.isDirectory() && entry.name !== 'sim',
  );
  const listed = readFileSync(join(ROOT, 'index.ts'), 'utf8');
  expect(folders.length).toBe(presets.length);
  for (const folder of folders) {
    expect(listed).toContain(`'./${folder.name}/index.ts'`);
    const imports = readFileSync(join(ROOT, folder.name, 'index.ts'), 'utf8').match(/from '([^']+)'/g);
    expect(imports).toEqual(["from '../provider.ts'"]);
  }
});
