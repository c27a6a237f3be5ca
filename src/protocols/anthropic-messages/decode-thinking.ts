// `thinking` and `output_config` of a Messages request. Owns what the client's words say; what they mean for a model is
// decided by the engine's reasoning policy.
import type { JsonObject, JsonValue } from '../../base/json/index.ts';
import type { ReasoningRequest, ResponseFormat } from '../../canonical/index.ts';
import { EFFORTS } from '../../canonical/index.ts';
import { POSITIVE, readNumber, readObject, readWord, requireObject, requireString } from '../read-member.ts';
import type { DecodeScope } from './decode-scope.ts';

const DISPLAYS = ['summarized', 'omitted'] as const;

export interface DecodedThinking {
  readonly reasoning: ReasoningRequest;
  readonly responseFormat: ResponseFormat | undefined;
  /** `thinking` of a type that is not known here: for an upstream of the same protocol alone. */
  readonly extra: Readonly<Record<string, JsonValue | undefined>>;
}

/** Decodes how much to think, what of it to show, and the form of the answer. */
export function decodeThinking(body: JsonObject, scope: DecodeScope): DecodedThinking {
  const { problems } = scope;
  const config = readObject(body['output_config'], 'output_config', problems) ?? {};
  const effort = readWord(config['effort'], 'output_config.effort', problems, EFFORTS);
  const responseFormat = decodeFormat(config, scope);

  const thinking = readObject(body['thinking'], 'thinking', problems);
  // A request without it asks for no thinking beyond what the model does of itself.
  if (!thinking) return { reasoning: { effort, leaveToModel: true }, responseFormat, extra: {} };
  const display = readWord(thinking['display'], 'thinking.display', problems, DISPLAYS);
  const exclude = display === undefined ? undefined : display === 'omitted';
  const type = requireString(thinking['type'], 'thinking.type', problems);
  switch (type) {
    case 'enabled': {
      const path = 'thinking.budget_tokens';
      if (thinking['budget_tokens'] === undefined) problems.add(path, 'is required');
      const maxTokens = readNumber(thinking['budget_tokens'], path, problems, POSITIVE);
      return { reasoning: { enabled: true, effort, maxTokens, exclude }, responseFormat, extra: {} };
    }
    case 'adaptive':
      return { reasoning: { enabled: true, effort, exclude }, responseFormat, extra: {} };
    case 'disabled':
      return { reasoning: { enabled: false }, responseFormat, extra: {} };
    default:
      return { reasoning: { effort, leaveToModel: true }, responseFormat, extra: { thinking } };
  }
}

/** A schema has no name here; where one is wanted, any will do. */
function decodeFormat(config: JsonObject, scope: DecodeScope): ResponseFormat | undefined {
  const { problems } = scope;
  const path = 'output_config.format';
  const format = readObject(config['format'], path, problems);
  if (!format) return undefined;
  readWord(format['type'] ?? '', `${path}.type`, problems, ['json_schema'] as const);
  const schema = requireObject(format['schema'], `${path}.schema`, problems);
  return schema && { type: 'json_schema', name: 'answer', schema, strict: true };
}
