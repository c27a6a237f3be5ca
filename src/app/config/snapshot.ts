// Immutable snapshot of configuration and catalog. A request keeps the snapshot with which it was admitted; a reload
// replaces the current one.
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
  /** True: requests may name this object in the operator's vendor account. */
  readonly mayName: (id: string) => boolean;
  /** The operator's prompt templates, by id. */
  readonly prompts: ReadonlyMap<string, PromptFile>;
  /** Incremented with every accepted configuration, from 1. */
  readonly revision: number;
  /** The configuration for display, with secrets masked. Takes about 50 ms. */
  readonly show: () => JsonObject;
}

export interface SnapshotInput {
  readonly config: Config;
  /** Default: nothing is shown. */
  readonly show?: (() => JsonObject) | undefined;
  readonly presets: readonly ProviderPreset[];
  /** The simulated provider. Null: it does not run. */
  readonly sim: BuiltIn | null;
  /** Known output modalities of models. Default: any. */
  readonly modalities?: readonly string[] | undefined;
  readonly environment: Environment;
  /** Finds measured facts of an endpoint. Default: none. */
  readonly measured?: FindMeasured | undefined;
  /** Prices of vendors. Default: the bundled data. */
  readonly prices?: PriceBook | undefined;
  /** Unix milliseconds. Default: the system clock. */
  readonly now?: (() => UnixMs) | undefined;
  /** Refuses templates that no request could use. Default: only their form is checked. */
  readonly checkTemplate?: CheckTemplate | undefined;
  /** The draft being checked. Undefined: it is a real configuration. */
  readonly draft?: Draft | undefined;
  readonly revision: number;
}

/**
 * Builds a complete snapshot.
 * @throws ConfigError for problems beyond the schema: unknown providers, protocols they do not support, duplicate ids,
 * circular aliases, unknown names in routing defaults, invalid templates
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

/** Checks output modalities against the tasks. */
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

/** True when one of the problems concerns a key or something below it. */
function isAbout(key: string, problems: ReadonlyMap<string, ConfigError>): boolean {
  return problems.values().some(({ path }) => path === key || path.startsWith(`${key}.`));
}

/** Every provider that this configuration could enable: presets, and those that it names. */
export function knownProviders(input: Pick<SnapshotInput, 'config' | 'presets'>): readonly string[] {
  return [...input.presets.map((preset) => preset.id), ...Object.keys(input.config.providers)];
}
