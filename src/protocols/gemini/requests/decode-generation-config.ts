// Decodes `generationConfig`: limits, sampling, response format and thinking (API reference, `GenerationConfig`,
// 2026-11).
import type { JsonObject } from '../../../base/json/index.ts';
import type {
  CanonicalRequest,
  Effort,
  Problems,
  ReasoningRequest,
  ResponseFormat,
} from '../../../canonical/index.ts';
import { unknownMembers } from '../../../base/json/index.ts';
import { readBoolean, readNumber, readObject, readString } from '../../members/read-member.ts';
import type { Member } from '../../members/read-member.ts';
import { camelMembers } from '../camel-members.ts';
import { decodeSchema } from './decode-schema.ts';
import { addExtra, type ExtraMembers } from './decode-tools.ts';
import type { Setting } from '../../members/field-table.ts';
import { CONFIG_TABLE } from '../fields.ts';
import type { WireThinkingLevel } from '../wire-types.ts';
import { CONFIG_SHAPE, THINKING_SHAPE } from '../member-shapes.ts';

export type DecodedConfig = Pick<CanonicalRequest, Setting | 'responseFormat' | 'reasoning'>;

const PATH = 'generationConfig';

const EFFORTS: Readonly<Record<WireThinkingLevel, Effort | undefined>> = {
  THINKING_LEVEL_UNSPECIFIED: undefined,
  MINIMAL: 'minimal',
  LOW: 'low',
  MEDIUM: 'medium',
  HIGH: 'high',
};

/** Decodes `generationConfig`. @param extra collects members without a canonical form */
export function decodeGenerationConfig(
  value: Member,
  extra: ExtraMembers,
  problems: Problems,
): DecodedConfig {
  const config = camelMembers(readObject(value, PATH, problems) ?? {});
  addExtra(extra, PATH, unknownMembers(config, CONFIG_SHAPE.known));
  CONFIG_TABLE.check(config, problems);
  return {
    ...CONFIG_TABLE.read(config, problems),
    responseFormat: decodeFormat(config, extra, problems),
    reasoning: decodeThinking(config['thinkingConfig'], extra, problems),
  };
}

function decodeFormat(
  config: JsonObject,
  extra: ExtraMembers,
  problems: Problems,
): ResponseFormat | undefined {
  const mimeType = readString(config['responseMimeType'], `${PATH}.responseMimeType`, problems);
  const own = readObject(config['responseSchema'], `${PATH}.responseSchema`, problems);
  const json = readObject(config['responseJsonSchema'], `${PATH}.responseJsonSchema`, problems);
  const schema = json ?? (own && decodeSchema(own, `${PATH}.responseSchema`, problems));
  switch (mimeType) {
    case undefined:
    case 'application/json':
      // Google always enforces the schema (documentation "Structured output", 2026-11). Others require `strict`.
      if (schema) return { type: 'json_schema', name: 'response', schema, strict: true };
      return mimeType && { type: 'json_object' };
    case '':
    case 'text/plain':
      return undefined;
    default:
      // `text/x.enum` (see `portable-format.ts`) and other types: a plain word is not JSON.
      addExtra(extra, PATH, {
        responseMimeType: mimeType,
        responseSchema: own,
        responseJsonSchema: json,
      });
      return undefined;
  }
}

/**
 * Decodes thinking. Thoughts are only shown if requested. Budget 0 disables thinking, and -1 leaves it to the model.
 */
function decodeThinking(value: Member, extra: ExtraMembers, problems: Problems): ReasoningRequest {
  const path = `${PATH}.thinkingConfig`;
  const config = camelMembers(readObject(value, path, problems) ?? {});
  addExtra(extra, path, unknownMembers(config, THINKING_SHAPE.known));
  const shown = readBoolean(config['includeThoughts'], `${path}.includeThoughts`, problems) === true;
  const budget = readNumber(config['thinkingBudget'], `${path}.thinkingBudget`, problems, {
    min: -1,
    integer: true,
  });
  const word = readString(config['thinkingLevel'], `${path}.thinkingLevel`, problems)?.toUpperCase();
  if (word !== undefined && !isLevel(word))
    problems.add(`${path}.thinkingLevel`, 'must be one of MINIMAL, LOW, MEDIUM, HIGH');
  else if (word !== undefined && budget !== undefined)
    problems.add(`${path}.thinkingLevel`, 'cannot be combined with thinkingBudget');
  return {
    enabled: budget === 0 ? false : budget === undefined ? undefined : true,
    effort: word !== undefined && isLevel(word) ? EFFORTS[word] : undefined,
    maxTokens: budget !== undefined && budget > 0 ? budget : undefined,
    exclude: shown ? undefined : true,
    leaveToModel: budget === -1 ? true : undefined,
  };
}

function isLevel(word: string): word is WireThinkingLevel {
  return Object.hasOwn(EFFORTS, word);
}
