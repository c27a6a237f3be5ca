// The presets that the console offers are those of the catalog, with their variables; what is missing needs more than a key.
import { expect, test } from 'bun:test';
import { PRESETS } from '../../console/providers/presets.ts';
import { presets } from '../../src/catalog/providers/index.ts';

test('presets of the dialog agree with the catalog', () => {
  const known = new Map(presets.map((preset) => [preset.id, preset]));
  for (const { id, name, variable } of PRESETS)
    expect({ id, name, variable }).toEqual({
      id,
      name: known.get(id)?.name ?? '',
      variable: known.get(id)?.keyVariable ?? null,
    });
  const missing = [...known.keys()].filter((id) => !PRESETS.some((preset) => preset.id === id));
  expect(missing.toSorted()).toEqual(
    ['azure', 'azure-deployments', 'bedrock', 'bedrock-mantle', 'foundry', 'vertex'].toSorted(),
  );
});
