// Gateway options that every client protocol accepts: routing, fallback, timeouts, and whether token counts are wanted.
// Validates what the request alone determines; `routing/` checks that slugs and models exist.
import { asArray, isJsonObject, type JsonObject } from '../../base/json/index.ts';
import {
  COMPLEXITIES,
  PRIMARY_FACTORS,
  ROUTING_TYPES,
  STREAM_SAFETIES,
  toFallback,
  toNameList,
  toRoutingFactor,
  toRoutingType,
  type GatewayOptions,
  type ModelRouting,
  type NameList,
  type PriceLimit,
  type Problems,
  type Report,
  type RoutingFactor,
  type RoutingType,
  type RoutingWishes,
  type TimeLimits,
  TEXTS,
} from '../../canonical/index.ts';
import { readBoolean, readNumber, readObject, readString, readStrings, readOneOf } from './read-member.ts';
import type { Member } from './read-member.ts';

/** Maximum length of a list of names: more than the providers of one model in any catalog. */
const MOST_NAMES = 100;
const DAY_MS = 86_400_000;

const PROVIDER_MEMBERS: ReadonlySet<string> = new Set([
  'routing',
  'fallback',
  'only',
  'ignore',
  'order',
  'sort',
  'allow_fallbacks',
  'require_parameters',
  'max_price',
  'stream_safety',
  'hedge',
  'timeout_ms',
  'first_token_timeout_ms',
  'idle_timeout_ms',
]);
const SORT_MEMBERS: ReadonlySet<string> = new Set(['by']);
const ROUTING_MEMBERS: ReadonlySet<string> = new Set(['type', 'primary_factor', 'providers']);
const CONFIG_MEMBERS: ReadonlySet<string> = new Set([
  'available_models',
  'preference',
  'task_info',
  'additional_properties',
]);
const TASK_MEMBERS: ReadonlySet<string> = new Set(['task_type', 'complexity', 'additional_properties']);

/** Decodes `provider`, `model_routing_config`, `models` and `usage`. `usage` is also accepted below `reasoning`. */
export function decodeGatewayOptions(body: JsonObject, problems: Problems, report: Report): GatewayOptions {
  const provider = readObject(body['provider'], 'provider', problems);
  const config = readObject(body['model_routing_config'], 'model_routing_config', problems);
  const reasoning = body['reasoning'];
  const nested = typeof reasoning === 'object' && reasoning !== null && 'usage' in reasoning;
  const below = nested ? decodeInclude(reasoning['usage'], 'reasoning.usage', problems) : undefined;
  const models = readFewStrings(body['models'], 'models', problems);
  return {
    routing: provider && decodeWishes(provider, problems, report),
    modelRouting: config && decodeModelRouting(config, problems, report),
    models: models?.length ? models : undefined,
    includeUsage: decodeInclude(body['usage'], 'usage', problems) ?? below,
  };
}

/**
 * Reads the model id from `model`. If it is absent, the first of `models` is used, as in OpenRouter's API. A problem if
 * both are missing.
 */
export function decodeModelId(body: JsonObject, problems: Problems): string {
  const isAbsent = body['model'] === undefined || body['model'] === null;
  const [first] = isAbsent ? asArray(body['models']) : [];
  if (typeof first === 'string' && first !== '') return first;
  const model = readString(body['model'], 'model', problems);
  if (isAbsent || model === '') problems.add('model', 'Parameter model is required');
  return model ?? '';
}

/** Decodes `provider` in the seeds' form (§4), including members of OpenRouter's form. */
function decodeWishes(provider: JsonObject, problems: Problems, report: Report): RoutingWishes {
  reportUnknown(provider, 'provider', PROVIDER_MEMBERS, report);
  const routing = readObject(provider['routing'], 'provider.routing', problems);
  if (routing) {
    reportUnknown(routing, 'provider.routing', ROUTING_MEMBERS, report);
    if (Object.keys(routing).length === 0)
      problems.add('provider.routing.type', `is required: one of ${ROUTING_TYPES.join(', ')}`);
  }
  const factor =
    readFactor(routing?.['primary_factor'], 'provider.routing.primary_factor', problems) ??
    readSort(provider['sort'], problems, report);
  const fallbacks = readBoolean(provider['allow_fallbacks'], 'provider.allow_fallbacks', problems);
  return {
    type: readType(routing?.['type'], problems),
    factor,
    providers: readNames(routing?.['providers'], 'provider.routing.providers', problems),
    prefer: readNames(provider['order'], 'provider.order', problems),
    only: readNames(provider['only'], 'provider.only', problems),
    ignore: readNames(provider['ignore'], 'provider.ignore', problems),
    requireParameters: readBoolean(provider['require_parameters'], 'provider.require_parameters', problems),
    maxPrice: decodeMaxPrice(provider['max_price'], problems, report),
    fallback: decodeFallback(provider['fallback'], problems) ?? fallbacks,
    streamSafety: readOneOf(provider['stream_safety'], 'provider.stream_safety', problems, STREAM_SAFETIES),
    hedge: readBoolean(provider['hedge'], 'provider.hedge', problems),
    limits: decodeLimits(provider, problems),
  };
}

function readType(value: Member, problems: Problems): RoutingType | undefined {
  const word = readOneOf(value, 'provider.routing.type', problems, ROUTING_TYPES);
  return word && toRoutingType(word);
}

function readFactor(value: Member, path: string, problems: Problems): RoutingFactor | undefined {
  const word = readOneOf(value, path, problems, PRIMARY_FACTORS);
  return word && toRoutingFactor(word);
}

/** Accepts a factor, or OpenRouter's newer `{by, partition}`. `partition` is ignored: models are tried in order. */
function readSort(value: Member, problems: Problems, report: Report): RoutingFactor | undefined {
  if (!isJsonObject(value)) return readFactor(value, 'provider.sort', problems);
  reportUnknown(value, 'provider.sort', SORT_MEMBERS, report);
  return readFactor(value['by'], 'provider.sort.by', problems);
}

/** Accepts the strings of the seeds, booleans, one name, or several. */
function decodeFallback(value: Member, problems: Problems): boolean | NameList | undefined {
  const path = 'provider.fallback';
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'boolean' || (typeof value === 'string' && value !== ''))
    return toFallback(value, path);
  if (Array.isArray(value)) return readNames(value, path, problems);
  problems.add(path, 'must be true, false, a provider, a provider/endpoint, a model, or a list of these');
  return undefined;
}

function readNames(value: Member, path: string, problems: Problems): NameList | undefined {
  const names = readFewStrings(value, path, problems);
  if (!names) return undefined;
  if (names.length === 0) problems.add(path, 'must not be empty');
  return toNameList(names, path);
}

function readFewStrings(value: Member, path: string, problems: Problems): readonly string[] | undefined {
  const names = readStrings(value, path, problems);
  if (names && names.length > MOST_NAMES) problems.add(path, `must have at most ${MOST_NAMES} names`);
  return names;
}

function decodeMaxPrice(value: Member, problems: Problems, report: Report): PriceLimit | undefined {
  const path = 'provider.max_price';
  const limit = readObject(value, path, problems);
  if (!limit) return undefined;
  reportUnknown(limit, path, new Set(['prompt', 'completion', 'request']), report);
  const read = (name: string): number | undefined =>
    readNumber(limit[name], `${path}.${name}`, problems, { min: 0 });
  return { prompt: read('prompt'), completion: read('completion'), request: read('request') };
}

function decodeLimits(provider: JsonObject, problems: Problems): TimeLimits | undefined {
  const read = (name: string): number | undefined =>
    readNumber(provider[name], `provider.${name}`, problems, { min: 1, max: DAY_MS, integer: true });
  const totalMs = read('timeout_ms');
  const firstTokenMs = read('first_token_timeout_ms');
  const idleMs = read('idle_timeout_ms');
  return totalMs === undefined && firstTokenMs === undefined && idleMs === undefined
    ? undefined
    : { totalMs, firstTokenMs, idleMs };
}

function decodeModelRouting(config: JsonObject, problems: Problems, report: Report): ModelRouting {
  const path = 'model_routing_config';
  reportUnknown(config, path, CONFIG_MEMBERS, report);
  readObject(config['additional_properties'], `${path}.additional_properties`, problems);
  const task = readObject(config['task_info'], `${path}.task_info`, problems);
  if (task) {
    reportUnknown(task, `${path}.task_info`, TASK_MEMBERS, report);
    const additional = `${path}.task_info.additional_properties`;
    readObject(task['additional_properties'], additional, problems);
  }
  return {
    availableModels: readNames(config['available_models'], `${path}.available_models`, problems)?.names,
    preference: readString(config['preference'], `${path}.preference`, problems) || undefined,
    taskType: readString(task?.['task_type'], `${path}.task_info.task_type`, problems) || undefined,
    complexity: readOneOf(task?.['complexity'], `${path}.task_info.complexity`, problems, COMPLEXITIES),
  };
}

function decodeInclude(value: Member, path: string, problems: Problems): boolean | undefined {
  const usage = readObject(value, path, problems);
  if (!usage) return undefined;
  const include = readBoolean(usage['include'], `${path}.include`, problems);
  if (usage['include'] === undefined || usage['include'] === null)
    problems.add(`${path}.include`, 'is required');
  return include;
}

function reportUnknown(object: JsonObject, path: string, known: ReadonlySet<string>, report: Report): void {
  for (const name in object)
    if (!known.has(name)) report.add(`${path}.${name}`, 'dropped', TEXTS.unknownToGateway);
}
