// The operator's prompt templates: one file each in the folder `prompts`. Read with every snapshot; an invalid file
// refuses the configuration.
import { readdirSync, statSync } from 'node:fs';
import { basename, extname, join } from 'node:path';
import { isJsonObject } from '../../base/json/index.ts';
import { GatewayError } from '../../canonical/index.ts';
import type { JsonObject } from '../../base/json/index.ts';
import { parseTemplate, type PromptFile, type PromptTemplate } from '../../engine/state/prompt-template.ts';
import { ConfigError } from './config-error.ts';
import { readConfiguredFile } from './configured-file.ts';
import type { Draft } from './draft.ts';
import { parseYaml } from './parse-yaml.ts';
import { errorText } from '../../base/lib/errors.ts';

/** Throws a GatewayError for templates that no request could use. */
export type CheckTemplate = (template: PromptTemplate) => void;

const KEY = 'prompts';
const EXTENSIONS: ReadonlySet<string> = new Set(['.yaml', '.yml', '.json']);
const MEMBERS: ReadonlySet<string> = new Set(['name', 'template', 'versions', 'default_version']);
const EXAMPLE = 'template: { instructions: "Answer in {{language}}." }';
const LEGAL_ID = /^[\w.-]{1,64}$/;

/**
 * Reads the templates of a folder by id, which is the file name without extension. Other files are ignored.
 * @throws ConfigError naming every invalid file
 */
export function readPromptFiles(folder: string, check: CheckTemplate): ReadonlyMap<string, PromptFile> {
  const prompts = new Map<string, PromptFile>();
  const wrong: string[] = [];
  for (const name of listOf(folder))
    try {
      const path = join(folder, name);
      const id = basename(name, extname(name));
      if (!LEGAL_ID.test(id))
        throw new ConfigError(
          KEY,
          `${path}: the file name may contain only letters, digits, \`.\`, \`_\` and \`-\``,
        );
      if (prompts.has(id)) throw new ConfigError(KEY, `${path}: another file has the same id ${id}`);
      prompts.set(id, readPromptFile(path, id, check));
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      wrong.push(...error.problems);
    }
  if (wrong.length > 0) throw new ConfigError(KEY, 'is not valid', wrong);
  return prompts;
}

/** Checks the folder of a draft. @returns true when its files may be read @throws ConfigError */
export function checkPromptFolder(folder: string, draft: Draft): boolean {
  try {
    return draft.mayReadFolder(folder);
  } catch (error) {
    throw new ConfigError(KEY, `cannot read the folder ${folder}: ${errorText(error)}`);
  }
}

function listOf(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
      .filter((name) => EXTENSIONS.has(extname(name)))
      .toSorted();
  } catch (error) {
    throw new ConfigError(KEY, `cannot read the folder ${folder}: ${errorText(error)}`);
  }
}

function readPromptFile(path: string, id: string, check: CheckTemplate): PromptFile {
  const refuse = (message: string): ConfigError => new ConfigError(KEY, `${path}: ${message}`);
  try {
    const createdAt = Math.floor(statSync(path).mtimeMs);
    const file = parseYaml(readConfiguredFile(path), '', EXAMPLE);
    for (const member of Object.keys(file))
      if (!MEMBERS.has(member))
        throw refuse(`unknown key ${member}; known keys are ${[...MEMBERS].join(', ')}`);
    const { name, default_version: chosen } = file;
    if (name !== undefined && typeof name !== 'string') throw refuse('name: must be a string');
    const versions = versionsOf(file, refuse).map(([version, template]) => {
      check(parseTemplate(template, `versions.${version}`));
      return { version, createdAt, template };
    });
    const defaultVersion = chosen === undefined ? versions.at(-1)?.version : String(chosen);
    if (defaultVersion === undefined || !versions.some(({ version }) => version === defaultVersion))
      throw refuse(`default_version: version ${defaultVersion ?? ''} not found`);
    return { id, name: name ?? null, createdAt, defaultVersion, versions: versions.toReversed() };
  } catch (error) {
    if (error instanceof ConfigError && error.path === KEY) throw error;
    if (error instanceof ConfigError || GatewayError.is(error)) throw refuse(error.message);
    throw refuse(errorText(error));
  }
}

/** All versions, oldest first: `versions`, or `template` as the only one. */
function versionsOf(
  { template, versions }: Record<string, unknown>,
  refuse: (message: string) => ConfigError,
): readonly (readonly [string, JsonObject])[] {
  if ((template === undefined) === (versions === undefined))
    throw refuse('must contain either template or versions');
  if (template !== undefined) return [['1', objectOf(template, 'template', refuse)]];
  const entries = Object.entries(objectOf(versions, 'versions', refuse));
  if (entries.length === 0) throw refuse('versions: must not be empty');
  return entries.map(([version, each]) => [version, objectOf(each, `versions.${version}`, refuse)]);
}

function objectOf(value: unknown, path: string, refuse: (message: string) => ConfigError): JsonObject {
  if (isJsonObject(value)) return value;
  throw refuse(`${path}: must contain keys and values`);
}
