// Name of a response schema for protocols without a member for it: the schema's title.
import type { JsonObject } from '../../base/json/index.ts';
import type { CanonicalRequest, Report } from '../../canonical/index.ts';
import { sharesMembers } from '../openai/shared-members.ts';

/**
 * Returns the response schema with the client's name as its title. An existing title stays; a different one is
 * reported. Schemas of other clients only have a name that their decoder created.
 */
export function titledSchema(
  { responseFormat: format, protocol }: CanonicalRequest,
  schema: JsonObject,
  report: Report,
): JsonObject {
  if (format?.type !== 'json_schema' || !sharesMembers(protocol, protocol)) return schema;
  const { title } = schema;
  if (title === undefined) return { title: format.name, ...schema };
  if (title !== format.name)
    report.add('response_format.json_schema.name', 'defaulted', 'the title of the schema is sent instead');
  return schema;
}
