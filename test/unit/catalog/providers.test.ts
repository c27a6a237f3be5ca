// Every preset is complete, documented and legal; nothing in a preset contradicts the quirk table.
import { quirksSchema } from '../../../src/catalog/schema/index.ts';
import { expect, test } from 'bun:test';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { presets } from '../../../src/catalog/providers/index.ts';
import type { ProviderPreset, ProviderProtocol } from '../../../src/catalog/providers/index.ts';
import { NO_QUIRKS, resolveQuirks } from '../../../src/catalog/providers/provider.ts';

const ROOT = join(import.meta.dir, '../../../src/catalog/providers');
const entries = (preset: ProviderPreset): [string, ProviderProtocol][] => Object.entries(preset.protocols);
/** The address with every setting given. */
const addressOf = (preset: ProviderPreset, entry: ProviderProtocol): string => {
  const settings = Object.fromEntries(Object.keys(preset.settings ?? {}).map((name) => [name, `my-${name}`]));
  const words: Record<string, string> = { ...settings, ...preset.derivePlaceholders?.(settings) };
  return entry.baseUrl.replace(/\{(\w+)\}/g, (whole, name: string) => words[name] ?? whole);
};
const inFile = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

test.each(presets.map((preset) => [preset.id, preset] as const))('%s', (_id, preset) => {
  expect(preset.docs).toMatch(/^https:\/\//);
  expect(preset.protocols[preset.defaultProtocol]).toBeDefined();
  for (const [, entry] of entries(preset)) {
    // A keyed vendor is reached over TLS; a server without key or credential is on this machine.
    const isLocal = preset.keyVariable === null && preset.credential === undefined;
    expect(addressOf(preset, entry)).toMatch(
      isLocal ? /^http:\/\/127\.0\.0\.1:\d+\/v1$/ : /^https:\/\/[^?{]+[^/]$/,
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

test('ids, variables and reasoning formats are unique', () => {
  const ids = presets.map((preset) => preset.id);
  expect(new Set(ids).size).toBe(ids.length);
  const variables = presets
    .filter((preset) => preset.namedOnly !== true)
    .map((preset) => preset.keyVariable)
    .filter((name) => name !== null);
  expect(new Set(variables).size).toBe(variables.length);
  // Except where a host runs the owner's own models, or one account has two doors.
  const shared = new Set(['anthropic-claude-v1', 'google-gemini-v1', 'azure-responses-v1']);
  const formats = presets
    .flatMap((preset) => entries(preset).map(([, entry]) => entry.reasoningFormat))
    .filter((format) => format !== null && !shared.has(format));
  expect(new Set(formats).size).toBe(formats.length);
});

test('only vendors of a protocol and hosts of their models are faithful to it', () => {
  const faithful = presets.flatMap((preset) =>
    entries(preset)
      .filter(([, entry]) => entry.faithful)
      .map(([name]) => `${preset.id} ${name}`),
  );
  expect(faithful.sort()).toEqual([
    'anthropic anthropic-messages',
    'bedrock anthropic-messages',
    'foundry anthropic-messages',
    'google gemini',
    'google gemini-interactions',
    'openai openai-chat',
    'openai openai-responses',
    'vertex anthropic-messages',
    'vertex gemini',
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
