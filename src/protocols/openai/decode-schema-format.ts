// Decodes the members of a JSON Schema response format. Chat Completions nests them below `json_schema`; in Responses
// they are flat.
import type { JsonObject } from '../../base/json/index.ts';
import { type Problems, type ResponseFormat, TEXTS } from '../../canonical/index.ts';
import { readBoolean, readObject, readString, requireString } from '../members/read-member.ts';

/** OpenAI API reference, "Structured outputs", `name`. */
const FORMAT_NAME = /^[a-zA-Z0-9_-]{1,64}$/;

/** Decodes `name`, `schema`, `strict` and `description`; undefined without a name, which is a problem. */
export function decodeSchemaFormat(
  body: JsonObject,
  path: string,
  problems: Problems,
): ResponseFormat | undefined {
  const name = requireString(body['name'], `${path}.name`, problems);
  if (name !== undefined && !FORMAT_NAME.test(name)) {
    problems.add(`${path}.name`, TEXTS.mustBeToolName);
  }
  const schema = readObject(body['schema'], `${path}.schema`, problems);
  const strict = readBoolean(body['strict'], `${path}.strict`, problems);
  const description = readString(body['description'], `${path}.description`, problems);
  return name === undefined ? undefined : { type: 'json_schema', name, schema, strict, description };
}
