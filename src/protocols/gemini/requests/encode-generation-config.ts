// Encodes `generationConfig`: limits, sampling, response format and thinking. The engine's reasoning policy decides the
// amount of thinking.
import type { JsonObject, MutableJsonObject } from '../../../base/json/index.ts';
import { type CanonicalRequest, type Effort, type Target, TEXTS } from '../../../canonical/index.ts';
import { asObject, isJsonObject } from '../../../base/json/index.ts';
import { camelMembers } from '../camel-members.ts';
import type { EncodeScope } from './encode-scope.ts';
import { mayCombine } from './encode-scope.ts';
import { CONFIG_TABLE } from '../fields.ts';
import type { WireThinkingLevel } from '../wire-types.ts';
import { titledSchema } from '../../members/titled-schema.ts';

const LEVELS: Readonly<Record<Effort, Exclude<WireThinkingLevel, 'THINKING_LEVEL_UNSPECIFIED'>>> = {
  none: 'MINIMAL',
  minimal: 'MINIMAL',
  low: 'LOW',
  medium: 'MEDIUM',
  high: 'HIGH',
  xhigh: 'HIGH',
  max: 'HIGH',
};

/** Encodes the configuration; undefined if it is empty. @param hasFunctions true if the request declares functions */
export function encodeGenerationConfig(
  request: CanonicalRequest,
  hasFunctions: boolean,
  scope: EncodeScope,
): MutableJsonObject | undefined {
  const { report, target } = scope;
  const config: MutableJsonObject = {};
  CONFIG_TABLE.write(config, { request, target, report });
  encodeFormat(config, request, hasFunctions, scope);
  const thinking = encodeThinking(request, scope);
  if (thinking !== undefined) config['thinkingConfig'] = thinking;
  return Object.keys(config).length > 0 ? config : undefined;
}

/**
 * Encodes the response format. JSON Schema is sent unchanged: Google uses the keywords that it supports (API reference,
 * `responseJsonSchema`).
 */
function encodeFormat(
  config: MutableJsonObject,
  request: CanonicalRequest,
  hasFunctions: boolean,
  { report, target }: EncodeScope,
): void {
  const format = request.responseFormat;
  if (format === undefined || format.type === 'text') return;
  if (hasFunctions && !mayCombine(request, target)) {
    report.add(
      'response_format',
      'dropped',
      'models before Gemini 3 do not support a response format together with functions',
    );
    return;
  }
  config['responseMimeType'] = 'application/json';
  if (format.type === 'json_object' || format.schema === undefined) return;
  const { description } = format;
  const schema = titledSchema(request, format.schema, report);
  const described = description !== undefined && schema['description'] === undefined;
  config['responseJsonSchema'] = described ? { ...schema, description } : schema;
  if (description !== undefined && !described)
    report.add('response_format.json_schema.description', 'dropped', TEXTS.ownDescription);
}

/**
 * True if a Gemini client's own `thinkingConfig` already expresses what was decided. Without one, nothing is requested,
 * whatever the gateway's default. A budget of -1 leaves the amount to the model.
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

/** Returns the client's `thinkingConfig`, in one spelling; undefined if absent. */
function ownThinking(request: CanonicalRequest): JsonObject | undefined {
  const config = camelMembers(asObject(camelMembers(request.raw)['generationConfig']))['thinkingConfig'];
  return isJsonObject(config) ? { ...camelMembers(config) } : undefined;
}

/** Encodes thinking. Thoughts are shown unless the client excludes them. Budget and level exclude each other. */
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
    report.add(
      'reasoning.effort',
      'approximated',
      `Gemini does not support the effort ${effort}; high is sent`,
    );
  return { includeThoughts, thinkingLevel: LEVELS[effort] };
}
