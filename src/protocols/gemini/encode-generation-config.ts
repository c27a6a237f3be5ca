// `generationConfig`: limits, sampling, answer format and thinking. How much to think is decided by the engine's
// reasoning policy, never here.
import type {
  CanonicalRequest,
  Effort,
  JsonObject,
  MutableJsonObject,
  Report,
  Target,
} from '../../canonical/index.ts';
import { asObject, isJsonObject } from '../../canonical/index.ts';
import { camelMembers } from './camel-members.ts';
import type { EncodeScope } from './encode-scope.ts';
import { isLevelGeneration } from './encode-scope.ts';
import type { WireThinkingLevel } from './wire-types.ts';

/** API reference, `GenerationConfig` (2026-11). */
export const MAX_TEMPERATURE = 2;
const MAX_STOP_SEQUENCES = 5;
const MAX_SEED = 2_147_483_647;

const LEVELS: Readonly<Record<Effort, Exclude<WireThinkingLevel, 'THINKING_LEVEL_UNSPECIFIED'>>> = {
  none: 'MINIMAL',
  minimal: 'MINIMAL',
  low: 'LOW',
  medium: 'MEDIUM',
  high: 'HIGH',
  xhigh: 'HIGH',
  max: 'HIGH',
};

/**
 * The configuration; undefined when there is nothing to say.
 * @param hasFunctions true when the request declares functions
 */
export function encodeGenerationConfig(
  request: CanonicalRequest,
  hasFunctions: boolean,
  scope: EncodeScope,
): MutableJsonObject | undefined {
  const { report, target } = scope;
  const config: MutableJsonObject = {};
  const set = (name: string, value: MutableJsonObject[string]): void => {
    if (value !== undefined) config[name] = value;
  };
  set('maxOutputTokens', encodeLimit(request.maxOutputTokens, target.maxOutputTokens, report));
  set('temperature', clamp('temperature', request.temperature, MAX_TEMPERATURE, report));
  set('topP', request.topP);
  set('topK', request.topK);
  set('presencePenalty', request.presencePenalty);
  set('frequencyPenalty', request.frequencyPenalty);
  set('seed', encodeSeed(request.seed, report));
  set('stopSequences', encodeStop(request.stop, report));
  if (request.logprobs === true) {
    config['responseLogprobs'] = true;
    if (request.topLogprobs) config['logprobs'] = request.topLogprobs;
  }
  encodeFormat(config, request, hasFunctions, scope);
  set('thinkingConfig', encodeThinking(request, scope));
  return Object.keys(config).length > 0 ? config : undefined;
}

function encodeLimit(limit: number | undefined, most: number | null, report: Report): number | undefined {
  return clamp('max_completion_tokens', limit, most ?? Infinity, report);
}

function clamp(path: string, value: number | undefined, most: number, report: Report): number | undefined {
  if (value === undefined || value <= most) return value;
  report.add(path, 'clamped', `it is at most ${most} for this model`);
  return most;
}

function encodeSeed(seed: number | undefined, report: Report): number | undefined {
  if (seed === undefined || Math.abs(seed) <= MAX_SEED) return seed;
  report.add('seed', 'dropped', 'Gemini takes only seeds of 32 bits');
  return undefined;
}

function encodeStop(stop: readonly string[] | undefined, report: Report): readonly string[] | undefined {
  if (stop === undefined || stop.length <= MAX_STOP_SEQUENCES) return stop;
  report.add('stop', 'dropped', `Gemini takes ${MAX_STOP_SEQUENCES} stop sequences; the rest is left out`);
  return stop.slice(0, MAX_STOP_SEQUENCES);
}

/** JSON Schema goes as it is: Google reads what it knows of it (API reference, `responseJsonSchema`). */
function encodeFormat(
  config: MutableJsonObject,
  request: CanonicalRequest,
  hasFunctions: boolean,
  { report, target }: EncodeScope,
): void {
  const format = request.responseFormat;
  if (format === undefined || format.type === 'text') return;
  if (hasFunctions && !isLevelGeneration(target)) {
    report.add('response_format', 'dropped', 'before Gemini 3, no answer format can stand beside functions');
    return;
  }
  config['responseMimeType'] = 'application/json';
  if (format.type === 'json_object' || format.schema === undefined) return;
  const { schema, description } = format;
  const described = description !== undefined && schema['description'] === undefined;
  config['responseJsonSchema'] = described ? { ...schema, description } : schema;
  if (description !== undefined && !described)
    report.add(
      'response_format.json_schema.description',
      'dropped',
      'the schema has a description of its own',
    );
}

/**
 * True when a Gemini client's own `thinkingConfig` already says what was decided. Silence asks for nothing, whatever the
 * gateway's default, and a budget of -1 leaves the amount to the model.
 */
export function saysReasoning(
  request: CanonicalRequest,
  { reasoning, reasoningStyle }: Pick<Target, 'reasoning' | 'reasoningStyle'>,
): boolean {
  if (request.protocol !== 'gemini') return false;
  const { thinkingBudget: budget, thinkingLevel: level } = ownThinking(request) ?? {};
  if (typeof level === 'string')
    return (
      reasoningStyle === 'effort' &&
      reasoning.mode === 'on' &&
      reasoning.effort !== undefined &&
      reasoning.effort === request.reasoning.effort
    );
  if (typeof budget !== 'number') return true;
  if (reasoningStyle !== 'budget' && reasoningStyle !== 'both') return false;
  if (budget === 0) return reasoning.mode === 'off';
  return reasoning.mode === 'on' && (budget < 0 || reasoning.budgetTokens === budget);
}

/** The client's `thinkingConfig`, in one spelling; undefined without one. */
function ownThinking(request: CanonicalRequest): JsonObject | undefined {
  const config = camelMembers(asObject(camelMembers(request.raw)['generationConfig']))['thinkingConfig'];
  return isJsonObject(config) ? { ...camelMembers(config) } : undefined;
}

/** Thoughts are shown unless the client does not want them; budget and level exclude each other. */
function encodeThinking(request: CanonicalRequest, { report, target }: EncodeScope): JsonObject | undefined {
  if (saysReasoning(request, target)) return ownThinking(request);
  const { reasoning, reasoningStyle } = target;
  if (reasoningStyle === 'none' || reasoning.mode === 'unset') return undefined;
  const byBudget = reasoningStyle === 'budget' || reasoningStyle === 'both';
  if (reasoning.mode === 'off') return byBudget ? { thinkingBudget: 0 } : { thinkingLevel: LEVELS.none };
  const includeThoughts = request.reasoning.exclude !== true;
  if (byBudget && reasoning.budgetTokens !== undefined)
    return { includeThoughts, thinkingBudget: reasoning.budgetTokens };
  const { effort } = reasoning;
  if (reasoningStyle === 'budget' || effort === undefined) return { includeThoughts };
  if (effort === 'xhigh' || effort === 'max')
    report.add('reasoning.effort', 'approximated', `Gemini has no effort ${effort}; high is sent`);
  return { includeThoughts, thinkingLevel: LEVELS[effort] };
}
