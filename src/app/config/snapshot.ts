// One immutable whole of configuration and catalog. A request pins the snapshot under which it was admitted; a
// reload makes a new one and swaps it.
import { TEXTS } from '../../canonical/index.ts';
import type { JsonObject } from '../../base/json/index.ts';
import { buildCatalog } from '../../catalog/index.ts';
import type { Attempt, BuiltIn, Catalog, FindMeasured, PriceBook, Refuse } from '../../catalog/index.ts';
import type { ProviderPreset } from '../../catalog/providers/index.ts';
import type { PromptFile } from '../../engine/state/prompt-template.ts';
import { checkRoutingNames } from './check-routing-names.ts';
import { ConfigError } from './config-error.ts';
import type { Config } from './config.ts';
import { readConfiguredFile } from './configured-file.ts';
import type { Draft } from './draft.ts';
import type { Environment } from './environment.ts';
import { withoutValues } from './load.ts';
import { checkPromptFolder, readPromptFiles, type CheckTemplate } from './prompt-files.ts';
import { referencesOf } from './references.ts';
import { compileNamePatterns } from '../../base/lib/name-patterns.ts';
import type { UnixMs } from '../../base/units.ts';

export interface Snapshot {
  readonly config: Config;
  readonly catalog: Catalog;
  /** Whether requests may name this object of the operator's account at a vendor. */
  readonly mayName: (id: string) => boolean;
  /** The operator's prompt templates, by id. */
  readonly prompts: ReadonlyMap<string, PromptFile>;
  /** Counts up with every configuration that was accepted, from 1. */
  readonly revision: number;
  /** The configuration as people may see it: in the file's own words, secrets masked. Takes some 50 ms. */
  readonly show: () => JsonObject;
}

export interface SnapshotInput {
  readonly config: Config;
  /** Default: there is nothing to see. */
  readonly show?: (() => JsonObject) | undefined;
  readonly presets: readonly ProviderPreset[];
  /** The simulated provider; null when it does not run. */
  readonly sim: BuiltIn | null;
  /** Words for what models may make. Default: any. */
  readonly modalities?: readonly string[] | undefined;
  readonly environment: Environment;
  /** Finds what was measured of an endpoint. Default: nothing was. */
  readonly measured?: FindMeasured | undefined;
  /** Prices of vendors. Default: the data that came with the gateway. */
  readonly prices?: PriceBook | undefined;
  /** Unix milliseconds; the clock by default. */
  readonly now?: (() => UnixMs) | undefined;
  /** Refuses templates that no request could use. Default: only their own form is checked. */
  readonly checkTemplate?: CheckTemplate | undefined;
  /** The draft that the configuration was read from, where it is only tried. */
  readonly draft?: Draft | undefined;
  readonly revision: number;
}

/**
 * Builds a snapshot whole, or not at all.
 * @throws ConfigError for what no schema sees: unknown providers, protocols they do not serve, ids given twice,
 *   aliases in a circle, routing defaults that name nobody, templates that are wrong
 */
export function buildSnapshot(input: SnapshotInput): Snapshot {
  return withoutValues(referencesOf(input.config), () => build(input));
}

function build(input: SnapshotInput): Snapshot {
  const { config, presets, sim, draft } = input;
  const wrong = new Map<string, ConfigError>();
  const note = (error: ConfigError): void => {
    for (const problem of error.problems) wrong.set(problem, error);
  };
  const refuse: Refuse = (path, message) => {
    throw new ConfigError(path, message);
  };
  const attempt: Attempt = (make) => {
    try {
      return make();
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      note(error);
      return undefined;
    }
  };
  const catalog = buildCatalog({
    config,
    presets,
    sim,
    environment: input.environment,
    measured: input.measured,
    prices: input.prices,
    readFile: readConfiguredFile,
    readNamed: (path) => (draft ? draft.readNamed(path) : readConfiguredFile(path)),
    now: input.now ?? Date.now,
    refuse,
    attempt,
  });
  const refused = new Set(Object.keys(config.providers).filter((id) => isAbout(`providers.${id}`, wrong)));
  checkModalities(input, (path, message) => note(new ConfigError(path, message)));
  checkRoutingNames(config, { catalog, providers: knownProviders(input), refused }, (path, message) =>
    note(new ConfigError(path, message)),
  );
  const prompts = attempt(() =>
    config.prompts === null || (draft && !checkPromptFolder(config.prompts, draft))
      ? new Map<string, PromptFile>()
      : readPromptFiles(config.prompts, input.checkTemplate ?? (() => {})),
  );
  const [first] = wrong.values();
  if (first || !prompts) throw new ConfigError(first?.path ?? '', 'is not valid', [...wrong.keys()]);
  const mayName = compileNamePatterns(config.vendorObjects);
  const { revision, show = () => ({}) } = input;
  return Object.freeze({ config, catalog, mayName, prompts, revision, show });
}

/** Words for what models make, which tasks ask for. */
function checkModalities(
  { config: { models }, modalities }: SnapshotInput,
  note: (path: string, message: string) => void,
): void {
  if (!modalities) return;
  for (const [place, { outputModalities = [] }] of models.entries())
    for (const [index, word] of outputModalities.entries())
      if (!modalities.includes(word))
        note(`models[${place}].output_modalities[${index}]`, TEXTS.mustBeOneOf(modalities.join(', ')));
}

/** True where one of the problems is about a key, or something below it. */
function isAbout(key: string, problems: ReadonlyMap<string, ConfigError>): boolean {
  return problems.values().some(({ path }) => path === key || path.startsWith(`${key}.`));
}

/** Every provider that this configuration could switch on: presets, and those that it names. */
export function knownProviders(input: Pick<SnapshotInput, 'config' | 'presets'>): readonly string[] {
  return [...input.presets.map((preset) => preset.id), ...Object.keys(input.config.providers)];
}
