// Probes of enforced answer formats. Without enforcement, a model would answer these questions in prose.
import type { JsonObject } from '../../../base/json/index.ts';
import { isJsonObject, parseJson } from '../../../base/json/index.ts';
import { QUESTION_TOKENS } from '../examination.ts';
import { no, unknown, whereVaries, yes, type Probe } from '../probe.ts';
import { isRefused, isUnclear, textOf, wordsOf } from '../read-answer.ts';

const SCHEMA_PROBE = 'json_schema';
const QUESTION = 'Which colour has the sky at noon? Answer in one short sentence of plain English.';
const SHADES: readonly string[] = ['teal-7', 'ochre-9'];
/** Names and values that a model would not guess. */
const SCHEMA: JsonObject = {
  type: 'object',
  properties: { zq_shade: { type: 'string', enum: SHADES }, zq_weight: { type: 'integer' } },
  required: ['zq_shade', 'zq_weight'],
  additionalProperties: false,
};

const jsonSchema: Probe = {
  id: SCHEMA_PROBE,
  title: 'enforces a JSON schema',
  calls: 1,
  tokens: () => QUESTION_TOKENS,
  async run(examination) {
    const answer = await examination.ask({
      text: QUESTION,
      responseFormat: { type: 'json_schema', name: 'shade', schema: SCHEMA, strict: true },
      quirks: { structuredOutput: 'json_schema' },
    });
    if (isRefused(answer)) return no(`rejected; the gateway emulates it: ${wordsOf(answer)}`);
    if (isUnclear(answer)) return unknown(wordsOf(answer));
    return follows(parseJson(textOf(answer)))
      ? yes('the response conforms to the schema', { facts: { quirks: { structuredOutput: 'json_schema' } } })
      : no(`accepted, but not enforced; the gateway emulates it: ${wordsOf(answer)}`);
  },
};

function follows(value: unknown): boolean {
  return (
    isJsonObject(value) &&
    Object.keys(value).length === 2 &&
    SHADES.includes(String(value['zq_shade'])) &&
    Number.isInteger(value['zq_weight'])
  );
}

const jsonObject: Probe = {
  id: 'json_object',
  title: 'enforces JSON without a schema',
  suits: whereVaries('structuredOutput'),
  calls: 1,
  tokens: () => QUESTION_TOKENS,
  async run(examination) {
    const answer = await examination.ask({
      // Servers that enforce JSON may require that word in the prompt (API reference, `response_format`).
      text: `${QUESTION} (JSON is mentioned here only because some servers insist.)`,
      responseFormat: { type: 'json_object' },
      quirks: { structuredOutput: 'json_object' },
    });
    // JSON mode matters only if schemas are not enforced.
    const isBest = examination.outcomes.get(SCHEMA_PROBE) === 'no';
    const found = (structuredOutput: 'json_object' | 'none') =>
      isBest ? { facts: { quirks: { structuredOutput } } } : {};
    if (isRefused(answer)) return no(`rejected; the gateway emulates it: ${wordsOf(answer)}`, found('none'));
    if (isUnclear(answer)) return unknown(wordsOf(answer));
    return isJsonObject(parseJson(textOf(answer)))
      ? yes('the response is a JSON object', found('json_object'))
      : no(`accepted, but not enforced; the gateway emulates it: ${wordsOf(answer)}`, found('none'));
  },
};

export const formatProbes: readonly Probe[] = [jsonSchema, jsonObject];
